#include "blas/tried.h"

#include <pthread.h>

/* Where one place is expected to take this many times as long as the other, the times of `tessera
 * tune blas` decide alone: the binary logarithm. */
#define CLOSE_LOG2 2.0F

/* Nor are calls tried that are shorter in both places: a program makes many of them, whose results
 * then stay the same to the last bit. */
#define SHORT_LOG2 (-14.3F) /* 50 us */

/* The first try of the other place may lose this part of what calls of the shape have taken; all
 * tries up to the nth together an nth of that part.  Their number is bounded, since results may
 * differ there in their last bits. */
#define LOSS_PART 0.25
enum { TRIES_MAX = 16 };

/* The first call on the device plans, and may load kernels: calls of microseconds are not tried
 * before there were hundreds of them. */
#define SECONDS_FIRST 1e-3

/* A try is some calls in a row, of which the first is not counted: it wakes threads.  The second
 * alone would not say what many take: threads of the CPU's BLAS spin for tens of milliseconds after
 * a call, and meanwhile the device takes up to twice as long.  A try ends after SECONDS_TRY, when
 * they sleep; before that when it has lost its part, or a call takes SLOWER_BY times as long. */
#define SECONDS_TRY 0.03
#define SLOWER_BY   1.6

/* Calls move where their place takes more than this many times as long: noise moves none. */
#define STAYS_WITHIN 1.05

enum { CPU, DEVICE, PLACES };
enum { SHAPES = 1024, RECENT = 3 };

/* The calls of one shape in one place. */
typedef struct known_times {
    uint32_t count;       /* of times that were kept */
    float recent[RECENT]; /* seconds of the last ones */
} known_times;

/* A shape.  Two that fall on one entry of the table replace each other, and begin anew. */
typedef struct shape {
    uint64_t key;   /* 0: none */
    int place;      /* where calls of it run */
    bool called;    /* there, once at least */
    double spent;   /* seconds of all calls but tries */
    double lost;    /* seconds that tries took longer */
    int tries;      /* begun */
    bool trying;    /* the other place */
    double try_for; /* seconds of this try */
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

/* The middle one of the last times; the least of fewer; 0 where there is none. */
static double seconds_of(const known_times *k)
{
    const float *t = k->recent;
    const float low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];

    if (k->count < RECENT)
        return k->count == 0 ? 0 : k->count == 1 ? t[0] : low;
    return t[2] < low ? low : t[2] > high ? high : t[2];
}

/* What a call takes in each place: by calls of its shape there, else as expected. */
static void estimate(const shape *s, const rates_times *expected, double seconds[PLACES])
{
    seconds[CPU] = seconds_of(&s->known[CPU]);
    seconds[DEVICE] = seconds_of(&s->known[DEVICE]);
    if (seconds[CPU] == 0)
        seconds[CPU] = rates_seconds(expected->cpu);
    if (seconds[DEVICE] == 0)
        seconds[DEVICE] = rates_seconds(expected->device);
}

/* Whether a try of that number may lose so much. */
static bool may_lose(const shape *s, double loss, int number)
{
    return (s->lost + loss) * number <= LOSS_PART * s->spent;
}

/* Whether the next call goes to the other place.  The first try may lose what one call does, since
 * it ends early; later ones what a whole try does. */
static bool is_to_try(const shape *s, const double seconds[PLACES])
{
    const int other = 1 - s->place;
    const double first = other == DEVICE && s->known[DEVICE].count == 0 ? SECONDS_FIRST : 0;
    const double slower = seconds[other] - seconds[s->place];
    const double calls =
        s->tries && seconds[other] < SECONDS_TRY ? SECONDS_TRY / seconds[other] : 1;

    if (s->trying)
        return true;
    return s->known[s->place].count + 1 >= RECENT && s->tries < TRIES_MAX &&
           may_lose(s, first + (slower > 0 ? slower * calls : 0), s->tries + 1);
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

/* A call in the place of its shape, of which the first is not counted. */
static void done_here(shape *s, double seconds)
{
    if (s->called)
        keep(&s->known[s->place], seconds);
    s->called = true;
    s->spent += seconds;
}

/* A call in the other place. */
static void done_there(shape *s, double seconds)
{
    const double here = seconds_of(&s->known[s->place]);
    const double loss = seconds > here ? seconds - here : 0;

    if (!s->trying) {
        s->trying = true;
        s->tries++;
        s->try_for = 0;
        return;
    }
    keep(&s->known[1 - s->place], seconds);
    s->lost += loss;
    s->try_for += seconds;
    s->trying = s->try_for < SECONDS_TRY && seconds < SLOWER_BY * here &&
                (s->tries > 1 || may_lose(s, loss, 1));
}

void tried_done(const blas_call *call, bool on_device, uint64_t ns)
{
    shape *s = &shapes[call->tried % SHAPES];
    double here, there;

    pthread_mutex_lock(&lock);
    if (s->key == call->tried) {
        if (on_device == (s->place == DEVICE))
            done_here(s, (double)ns * 1e-9);
        else
            done_there(s, (double)ns * 1e-9);
        here = seconds_of(&s->known[s->place]);
        there = seconds_of(&s->known[1 - s->place]);
        if (there > 0 && here > STAYS_WITHIN * there) {
            s->place = 1 - s->place;
            s->trying = false;
            s->spent = s->lost = 0; /* the other one is known */
        }
    }
    pthread_mutex_unlock(&lock);
}

void tried_failed(const blas_call *call)
{
    shape *s = &shapes[call->tried % SHAPES];

    pthread_mutex_lock(&lock);
    if (s->key == call->tried && s->place == CPU) {
        s->tries += !s->trying && s->tries < TRIES_MAX;
        s->trying = false;
    }
    pthread_mutex_unlock(&lock);
}

void tried_after_fork(void)
{
    pthread_mutex_init(&lock, NULL); /* a thread of the parent may have had it */
}
