#include "blas/tried.h"

#include <pthread.h>

/* Where one place is expected to take this many times as long as the other, the times of `tessera
 * tune blas` decide alone: the binary logarithm. */
#define CLOSE_LOG2 2.0F

/* Nor are calls tried that are shorter in both places: a program makes many of them, whose results
 * then stay the same to the last bit. */
#define SHORT_LOG2 (-15.6F) /* 20 us */

/* All tries together may lose this part of what calls of the shape have taken in its place. */
#define LOSS_PART 0.25

/* A try begins once what it is expected to lose is half of that, and once calls have taken this
 * many times as long as at the last one: so a try that something disturbed is made again, and their
 * number grows as the logarithm of the time, since results may differ in their last bits. */
enum { LONGER_BY = 3 };

/* The first call on the device plans, and may load kernels: calls of microseconds are not tried
 * before there were hundreds of them. */
#define SECONDS_FIRST 1e-3

/* A try is some calls in a row, of which the first is not counted: it wakes threads.  The second
 * alone would not say what many take: threads of the CPU's BLAS spin for tens of milliseconds after
 * a call, and meanwhile the device takes up to twice as long.  A try ends after SECONDS_TRY, when
 * they sleep; before that when it has lost its part, or a call takes SLOWER_BY times as long: then
 * the device would not be faster without them.  As long after a try the times of the place that it
 * was compared with do not count, for the same reason. */
#define SECONDS_TRY 0.03
#define SLOWER_BY   2.0

/* Calls move where their place takes more than this many times as long: noise moves none.  Without
 * a try they move after SECONDS_TRY of such times. */
#define STAYS_WITHIN 1.05

enum { CPU, DEVICE, PLACES };
enum { SHAPES = 1024, RECENT = 3 };

/* The calls of one shape in one place. */
typedef struct known_times {
    uint32_t count;       /* of times that were kept */
    float recent[RECENT]; /* seconds of the last ones */
} known_times;

/* A shape.  Two that fall on one entry of the table replace each other, and begin anew.  Times are
 * seconds since the shape has its place. */
typedef struct shape {
    uint64_t key;     /* 0: none */
    int place;        /* where calls of it run */
    bool called;      /* there, once at least */
    double spent;     /* by all calls but tries */
    double lost;      /* that tries took longer */
    double try_after; /* so much was spent */
    bool trying;      /* the other place */
    double try_for;   /* of this try */
    double settling;  /* times do not count for so long */
    double slow_for;  /* calls have taken longer than the other place is known to do */
    known_times known[PLACES];
} shape;

static shape shapes[SHAPES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A hash of all that a call's time depends on: never 0. */
static uint64_t key_of(const blas_call *call)
{
    const uint64_t options =
        (uint64_t)call->routine | (uint64_t)(uint8_t)call->type << 8 |
        (uint64_t)(uint8_t)call->side << 16 | (uint64_t)(uint8_t)call->uplo << 24 |
        (uint64_t)(uint8_t)call->transa << 32 | (uint64_t)(uint8_t)call->transb << 40 |
        (uint64_t)(uint8_t)call->diag << 48 |
        (uint64_t)(call->beta.re != 0 || call->beta.im != 0) << 56;
    const uint64_t parts[] = {options,
                              (uint64_t)call->m,
                              (uint64_t)call->n,
                              (uint64_t)call->k,
                              (uint64_t)call->lda,
                              (uint64_t)call->ldb,
                              (uint64_t)call->ldc};
    uint64_t key = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        key = (key ^ parts[i]) * 0x9e3779b97f4a7c15U; /* odd: different parts stay different */
        key ^= key >> 29;
    }
    return key ? key : 1;
}

static float least_of(const known_times *k)
{
    float least = k->recent[0];

    for (uint32_t i = 1; i < k->count && i < RECENT; i++) {
        if (k->recent[i] < least)
            least = k->recent[i];
    }
    return least;
}

/* What a call takes in a place: 0 where that is not known.  Where calls run it is the middle one of
 * the last times; of a try the least, since what else goes on makes times longer, never shorter. */
static double seconds_of(const shape *s, int place)
{
    const known_times *k = &s->known[place];
    const float *t = k->recent;
    const float low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];

    if (k->count == 0)
        return 0;
    if (k->count < RECENT || place != s->place)
        return least_of(k);
    return t[2] < low ? low : t[2] > high ? high : t[2];
}

/* What a call takes in each place: by calls of its shape there, else as expected. */
static void estimate(const shape *s, const rates_times *expected, double seconds[PLACES])
{
    seconds[CPU] = seconds_of(s, CPU);
    seconds[DEVICE] = seconds_of(s, DEVICE);
    if (seconds[CPU] == 0)
        seconds[CPU] = rates_seconds(expected->cpu);
    if (seconds[DEVICE] == 0)
        seconds[DEVICE] = rates_seconds(expected->device);
}

/* Whether the next call goes to the other place.  What a try loses: one call where the other place
 * is not known, since the try ends early; two where it is known to be far slower, for the same
 * reason; else the whole of it. */
static bool is_to_try(const shape *s, const double seconds[PLACES])
{
    const int other = 1 - s->place;
    const bool known = s->known[other].count > 0;
    const double slower = seconds[other] - seconds[s->place];
    double calls = 1, loss = 0;

    if (s->trying)
        return true;
    if (s->known[s->place].count + 1 < RECENT || s->spent < s->try_after)
        return false;
    if (known && seconds[other] > SLOWER_BY * seconds[s->place])
        calls = 2;
    else if (known && seconds[other] < SECONDS_TRY)
        calls = SECONDS_TRY / seconds[other];
    if (other == DEVICE && !known)
        loss += SECONDS_FIRST;
    if (slower > 0)
        loss += slower * calls;
    return s->lost + loss <= LOSS_PART / 2 * s->spent;
}

bool tried_prefer_device(blas_call *call, rates_times *expected)
{
    const bool by_rates = rates_prefer_device(expected);
    const float apart = expected->cpu - expected->device;
    double seconds[PLACES];
    shape *s;
    bool device;

    call->tried = 0;
    if (apart > CLOSE_LOG2 || apart < -CLOSE_LOG2 ||
        (expected->cpu < SHORT_LOG2 && expected->device < SHORT_LOG2))
        return by_rates;
    call->tried = key_of(call);
    s = &shapes[call->tried % SHAPES];
    pthread_mutex_lock(&lock);
    if (s->key != call->tried)
        *s = (shape){.key = call->tried, .place = by_rates ? DEVICE : CPU};
    estimate(s, expected, seconds);
    device = (s->place == DEVICE) != is_to_try(s, seconds);
    pthread_mutex_unlock(&lock);
    expected->cpu = rates_log2(seconds[CPU]);
    expected->device = rates_log2(seconds[DEVICE]);
    return device;
}

static void keep(known_times *k, double seconds)
{
    k->recent[k->count % RECENT] = (float)seconds;
    k->count++;
}

/* The next try is a while away, whatever comes of this one. */
static void count_try(shape *s)
{
    s->try_after = LONGER_BY * s->spent;
}

/* Calls run in the other place from now on, of which the tries and what was lost count anew. */
static void move(shape *s)
{
    const float there = (float)seconds_of(s, 1 - s->place);

    s->place = 1 - s->place;
    s->known[s->place] = (known_times){1, {there}};
    s->trying = false;
    s->spent = s->lost = s->try_after = s->settling = s->slow_for = 0;
}

static bool is_slower_here(const shape *s)
{
    const double there = seconds_of(s, 1 - s->place);

    return there > 0 && seconds_of(s, s->place) > STAYS_WITHIN * there;
}

/* A call in the place of its shape, of which the first is not counted. */
static void done_here(shape *s, double seconds)
{
    s->spent += seconds;
    if (s->settling > 0) {
        s->settling -= seconds;
        return;
    }
    if (s->called)
        keep(&s->known[s->place], seconds);
    s->called = true;
    s->slow_for = is_slower_here(s) ? s->slow_for + seconds : 0;
    if (s->slow_for > SECONDS_TRY)
        move(s);
}

/* A call in the other place. */
static void done_there(shape *s, double seconds)
{
    const double here = seconds_of(s, s->place);

    if (!s->trying) {
        s->trying = true;
        s->try_for = 0;
        s->known[1 - s->place].count = 0;
        count_try(s);
        return;
    }
    keep(&s->known[1 - s->place], seconds);
    s->lost += seconds > here ? seconds - here : 0;
    s->try_for += seconds;
    if (is_slower_here(s)) {
        move(s);
    } else if (s->try_for >= SECONDS_TRY || seconds >= SLOWER_BY * here ||
               s->lost > LOSS_PART * s->spent) {
        s->trying = false;
        s->settling = SECONDS_TRY;
    }
}

void tried_done(const blas_call *call, bool on_device, uint64_t ns)
{
    shape *s = &shapes[call->tried % SHAPES];

    pthread_mutex_lock(&lock);
    if (s->key == call->tried) {
        if (on_device == (s->place == DEVICE))
            done_here(s, (double)ns * 1e-9);
        else
            done_there(s, (double)ns * 1e-9);
    }
    pthread_mutex_unlock(&lock);
}

void tried_failed(const blas_call *call)
{
    shape *s = &shapes[call->tried % SHAPES];

    pthread_mutex_lock(&lock);
    if (s->key == call->tried && s->place == CPU) {
        if (!s->trying)
            count_try(s);
        s->trying = false;
    }
    pthread_mutex_unlock(&lock);
}

void tried_after_fork(void)
{
    pthread_mutex_init(&lock, NULL); /* a thread of the parent may have had it */
}
