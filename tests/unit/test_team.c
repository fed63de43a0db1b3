/* Threads that share the items of a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/team.h"

enum { ITEMS = 500, THREADS = 4, CALLERS = 3, ROUNDS = 200 };

typedef struct work {
    atomic_uint done[ITEMS];
    atomic_uint at_work[THREADS]; /* threads that have this number at the moment */
    atomic_uint seen, wrong;
} work;

static void do_item(void *context, size_t item, size_t who)
{
    work *w = context;

    atomic_fetch_add(&w->wrong, who >= THREADS || atomic_fetch_add(&w->at_work[who], 1) != 0);
    atomic_fetch_add(&w->done[item], 1);
    atomic_fetch_or(&w->seen, 1u << who);
    if (item % 50 == 0)
        sched_yield();
    atomic_fetch_sub(&w->at_work[who], 1);
}

static bool did_all(const work *w, size_t count)
{
    for (size_t i = 0; i < ITEMS; i++)
        if (w->done[i] != (i < count))
            return false;
    return w->wrong == 0;
}

static void *call_often(void *wrong)
{
    for (size_t r = 0; r < ROUNDS; r++) {
        const size_t count = r * 7 % ITEMS;
        work w = {0};

        team_run(THREADS, count, do_item, &w);
        if (!did_all(&w, count))
            atomic_fetch_add((atomic_uint *)wrong, 1);
    }
    return NULL;
}

/* Each item once, and no number twice at a time, whoever else calls. */
static void each_item_once(void **state)
{
    pthread_t caller[CALLERS];
    atomic_uint wrong = 0;

    (void)state;
    for (size_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&caller[i], NULL, call_often, &wrong), 0);
    for (size_t i = 0; i < CALLERS; i++)
        pthread_join(caller[i], NULL);
    assert_int_equal(wrong, 0);
}

static void wait_for_two(void *context, size_t item, size_t who)
{
    work *w = context;

    do_item(context, item, who);
    for (int i = 0; i < 10000 && w->seen != 3; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Others help where the caller is long at an item. */
static void others_help(void **state)
{
    work w = {0};

    (void)state;
    team_run(2, 2, wait_for_two, &w);
    assert_int_equal(w.seen, 3);
    assert_true(did_all(&w, 2));
}

static void note_processors(void *context, size_t item, size_t who)
{
    static atomic_uint both;

    (void)item;
    atomic_fetch_or(&both, 1u << who);
    for (int i = 0; i < 10000 && both != 3; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (who > 0)
        sched_getaffinity(0, sizeof(cpu_set_t), context);
}

static void *call_bound(void *processors)
{
    cpu_set_t first, all;

    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&first);
    for (size_t i = 0; !CPU_COUNT(&first); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &first);
    sched_setaffinity(0, sizeof(first), &first);
    team_run(2, 2, note_processors, processors);
    return NULL;
}

/* Helpers run on all processors, though who first needed them is bound to one. */
static void helpers_are_not_bound(void **state)
{
    cpu_set_t all, helpers;
    pthread_t caller;

    (void)state;
    CPU_ZERO(&helpers);
    sched_getaffinity(0, sizeof(all), &all);
    assert_int_equal(pthread_create(&caller, NULL, call_bound, &helpers), 0);
    pthread_join(caller, NULL);
    assert_true(CPU_EQUAL(&helpers, &all));
}

static void call_in_turn(void *context, size_t item, size_t who)
{
    work inner = {0};

    do_item(context, item, who);
    team_run(THREADS, ITEMS, do_item, &inner);
    if (!did_all(&inner, ITEMS))
        atomic_fetch_add(&((work *)context)->wrong, 1);
}

static void items_call_in_turn(void **state)
{
    work w = {0};

    (void)state;
    team_run(1, 5, call_in_turn, &w); /* by the caller alone, whose number stays its own */
    assert_true(did_all(&w, 5));
    assert_int_equal(w.seen, 1);
    memset(&w, 0, sizeof(w));
    team_run(THREADS, 20, call_in_turn, &w);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(w.done[i], 1);
    assert_int_equal(w.wrong, 0);
}

/* A child has the caller alone. */
static void children_work_alone(void **state)
{
    int status = -1;
    pid_t child;

    (void)state;
    team_run(THREADS, ITEMS, do_item, &(work){0});
    child = fork();
    if (child == 0) {
        work w = {0};

        alarm(60);
        team_run(THREADS, ITEMS, do_item, &w);
        _exit(did_all(&w, ITEMS) && w.seen == 1 && team_threads() == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_are_not_bound), /* the first to need any */
        cmocka_unit_test(each_item_once), cmocka_unit_test(others_help),
        cmocka_unit_test(items_call_in_turn), cmocka_unit_test(children_work_alone)};

    return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
