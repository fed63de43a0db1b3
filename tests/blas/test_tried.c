/*
 * Calls near break-even (blas/tried.h), with times that are made up: where they run in the end, and
 * what it costs to find out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "blas/tried.h"

/* In the place of blas/rates.c. */
bool rates_prefer_device(const rates_times *expected)
{
    return expected->device < expected->cpu;
}

double rates_seconds(float log2_seconds)
{
    return exp2((double)log2_seconds);
}

float rates_log2(double seconds)
{
    return (float)log2(seconds);
}

/* Seconds of a call in each place: what is expected, and what it takes, the first one longer; and
 * for the time that the other place is in the way after a call there, so many times as long. */
typedef struct times {
    double expected, takes, first, behind;
} times;

/* What came out of calls of one shape. */
typedef struct outcome {
    int on_device, last_on_device; /* of all, and of the last ten */
    int moves;                     /* calls in another place than the one before */
    double spent;                  /* but for the first in each place */
} outcome;

static int failures;

static void check(bool holds, const char *what, int line)
{
    if (holds)
        return;
    printf("line %d: %s\n", line, what);
    failures++;
}

#define CHECK(holds) check(holds, #holds, __LINE__)

/* Make calls whose times vary by `noise` of them. */
static outcome call_often(int count, int64_t size, const times place[2], double noise)
{
    outcome o = {0};
    int seen[2] = {0, 0}, before = -1;
    double now = 0, last[2] = {-1, -1};
    unsigned seed = 1;

    for (int i = 0; i < count; i++) {
        blas_call call = {.routine = BLAS_GEMM, .type = 'd', .m = size, .n = size, .k = size};
        rates_times expected = {rates_log2(place[0].expected), rates_log2(place[1].expected)};
        const int on_device = tried_prefer_device(&call, &expected);
        double seconds = place[on_device].takes;

        if (place[on_device].behind > 0 && last[1 - on_device] >= 0 &&
            now - last[1 - on_device] < 0.02)
            seconds *= place[on_device].behind;
        seed = seed * 1103515245u + 12345u;
        seconds *= 1 + noise * (seed >> 16 & 0x7fff) / 0x7fff;
        if (seen[on_device]++ == 0)
            seconds = place[on_device].first;
        else
            o.spent += seconds;
        now += seconds;
        last[on_device] = now;
        if (call.tried)
            tried_done(&call, on_device, (uint64_t)(seconds * 1e9));
        o.on_device += on_device;
        o.last_on_device += on_device && i >= count - 10;
        o.moves += before >= 0 && on_device != before;
        before = on_device;
    }
    return o;
}

static double between(double low, double high)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 40) / (1 << 24);
}

/* Of so many shapes, how many have calls that take over 1.2 times as long as in the better place
 * once they were made for 0.3 s and 24 times.  A call takes 50 us to 0.1 s on the CPU, and on the
 * device up to 2.5 times as long, or as short; what is expected is off by up to 2; a call on the
 * device takes up to twice as long for 25 ms after one on the CPU; for that part of the time
 * something slows both. */
static int count_worse(int shapes, double slowed)
{
    static int64_t size = 1000;
    int worse = 0;

    for (int i = 0; i < shapes; i++) {
        const double takes[] = {exp(between(log(5e-5), log(0.1))), exp(between(-0.9, 0.9))};
        const double expected[] = {takes[0] * exp2(between(-0.6, 0.6)),
                                   takes[0] * takes[1] * exp2(between(-1, 1))};
        const double behind = between(1, 2);
        const double settled = 0.3 + 24 * takes[0], end = 2 * settled;
        double now = 0, last_cpu = -1, slow_until = 0, spent = 0, best = 0;

        size++;
        while (now < end) {
            blas_call call = {.routine = BLAS_GEMM, .type = 'd', .m = size, .n = size, .k = size};
            rates_times at = {rates_log2(expected[0]), rates_log2(expected[1])};
            const bool on_device = tried_prefer_device(&call, &at);
            const double alone = on_device ? takes[0] * takes[1] : takes[0];
            double seconds = alone * between(1, 1.06);

            if (now > settled) {
                spent += alone;
                best += takes[1] < 1 ? takes[0] * takes[1] : takes[0];
            }
            if (now > slow_until && between(0, 1) < slowed * takes[0] / 0.05)
                slow_until = now + between(0.02, 0.1);
            if (now < slow_until)
                seconds *= between(1.5, 2.5);
            if (on_device && last_cpu >= 0 && now - last_cpu < 0.025)
                seconds *= behind;
            now += seconds;
            if (!on_device)
                last_cpu = now;
            if (call.tried)
                tried_done(&call, on_device, (uint64_t)(seconds * 1e9));
        }
        worse += spent > 1.2 * best;
    }
    return worse;
}

/* How many of 5000 calls are sent to a device that does none of them from call `from` on; before,
 * it takes as long as the CPU. */
static int sent_to_failing(int64_t size, int from, double expected_there)
{
    int sent = 0;

    for (int i = 0; i < 5000; i++) {
        blas_call call = {.routine = BLAS_GEMM, .type = 'd', .m = size, .n = size, .k = size};
        rates_times expected = {rates_log2(1e-3), rates_log2(expected_there)};
        const bool on_device = tried_prefer_device(&call, &expected);
        const bool fails = on_device && i >= from;

        sent += fails;
        if (fails)
            tried_failed(&call);
        else
            tried_done(&call, on_device, 1000000);
    }
    return sent;
}

int main(void)
{
    outcome o;

    /* Beyond a factor of 4 nothing is tried, whatever is true. */
    o = call_often(100, 1, (times[]){{1e-3, 1e-3, 1}, {4.5e-3, 1e-6, 1}}, 0);
    CHECK(o.on_device == 0);
    o = call_often(100, 2, (times[]){{4.5e-3, 1e-6, 1}, {1e-3, 1e-3, 1}}, 0);
    CHECK(o.on_device == 100);

    /* Expected to be faster in the wrong place, either one. */
    o = call_often(40, 3, (times[]){{1e-3, 1e-3, 2e-3}, {1.2e-3, 5e-4, 0.3}}, 0.02);
    CHECK(o.last_on_device >= 9);
    CHECK(o.on_device > 30);
    o = call_often(40, 4, (times[]){{1.6e-3, 1e-3, 2e-3}, {1e-3, 1.5e-3, 0.3}}, 0.02);
    CHECK(o.last_on_device == 0);
    CHECK(o.on_device < 15);

    /* Right at once: what tries lose is a part of what calls took, and they end. */
    o = call_often(30, 5, (times[]){{1e-3, 1e-3, 1e-3}, {1.1e-3, 4e-3, 0.3}}, 0);
    CHECK(o.on_device <= 6);
    CHECK(o.spent <= 1.25 * 30e-3 + 3e-3);
    o = call_often(5000, 6, (times[]){{1e-3, 1e-3, 1e-3}, {1.1e-3, 4e-3, 0.3}}, 0);
    CHECK(o.on_device <= 32);
    CHECK(o.spent <= 5.1);

    /* Short calls are not tried, and those of tenths of a millisecond after a while. */
    o = call_often(10000, 9, (times[]){{1e-5, 1e-5, 1e-5}, {1.1e-5, 1e-6, 2e-3}}, 0);
    CHECK(o.on_device == 0);
    o = call_often(30, 10, (times[]){{1e-4, 1e-4, 1e-4}, {1.1e-4, 5e-5, 2e-3}}, 0);
    CHECK(o.on_device == 0);
    o = call_often(100, 10, (times[]){{1e-4, 1e-4, 1e-4}, {1.1e-4, 5e-5, 2e-3}}, 0);
    CHECK(o.last_on_device >= 9);

    /* As fast in both places but for noise: calls stay where they are. */
    o = call_often(5000, 7, (times[]){{1e-3, 1e-3, 1e-3}, {1e-3, 1e-3, 1e-3}}, 0.04);
    CHECK(o.on_device <= 500 || o.on_device >= 4500);
    CHECK(o.moves <= 32);

    /* The device is slowed as long as the CPU's threads spin after a call. */
    o = call_often(300, 11, (times[]){{1e-3, 1e-3, 1e-3, 0}, {1.1e-3, 8e-4, 2e-3, 1.5}}, 0.02);
    CHECK(o.on_device >= 200);
    o = call_often(300, 12, (times[]){{1e-3, 1e-3, 1e-3, 0}, {1.1e-3, 1.2e-3, 2e-3, 1.5}}, 0.02);
    CHECK(o.on_device <= 60);

    /* Wherever the times lie, and as well where something else slows calls now and then. */
    CHECK(count_worse(1000, 0) == 0);
    CHECK(count_worse(1000, 0.1) <= 10);

    /* The CPU becomes slower, as where other programs have its cores: the device is known. */
    o = call_often(50, 8, (times[]){{1e-3, 1e-3, 1e-3}, {1.1e-3, 1.5e-3, 0.3}}, 0);
    CHECK(o.last_on_device <= 1);
    o = call_often(20, 8, (times[]){{1e-3, 3e-3, 3e-3}, {1.1e-3, 1.5e-3, 1.5e-3}}, 0);
    CHECK(o.last_on_device == 10);

    /* And faster than both were: what is known of it is old, and it is tried again. */
    o = call_often(1000, 8, (times[]){{1e-3, 4e-4, 4e-4}, {1.1e-3, 1.5e-3, 1.5e-3}}, 0);
    CHECK(o.last_on_device <= 3);

    /* Tries of a device that fails are tries: they end.  One that fails in the middle of a try,
     * too. */
    CHECK(sent_to_failing(13, 0, 1.1e-3) > 0);
    CHECK(sent_to_failing(14, 0, 1.1e-3) <= 16);
    CHECK(sent_to_failing(15, 20, 1.1e-3) <= 16);
    /* Where the device is expected to be faster it is asked as long as it may do the next call. */
    CHECK(sent_to_failing(16, 0, 0.5e-3) == 5000);

    printf("%d failures\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
