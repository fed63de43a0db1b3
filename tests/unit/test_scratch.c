/* Memory that a thread keeps for its next call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scratch.h"

static int lent; /* how often memory was */

/* In the place of the C library's: count, and do it. */
int madvise(void *memory, size_t bytes, int advice)
{
#ifdef MADV_FREE
    lent += advice == MADV_FREE;
#endif
    return (int)syscall(SYS_madvise, memory, bytes, advice);
}

static void what_is_given_back_is_taken_again(void **state)
{
    unsigned char *first = scratch_take(1000), *other;

    (void)state;
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % 64, 0);
    memset(first, 1, 1000);
    other = scratch_take(10); /* the first is in use */
    assert_non_null(other);
    assert_ptr_not_equal(other, first);
    scratch_give(first);
    scratch_give(other); /* the larger one stays */
    assert_ptr_equal(scratch_take(500), first);
    scratch_give(first);
    other = scratch_take(100000);
    assert_non_null(other);
    memset(other, 2, 100000);
    scratch_give(other);
    assert_ptr_equal(scratch_take(1000), other);
    scratch_give(other);
    assert_null(scratch_take(SIZE_MAX - 10));
    scratch_give(NULL);
}

/* Large memory is kept, though the system may have its pages; larger is not. */
static void large_memory_is_lent(void **state)
{
    const size_t large = 2 * (size_t)SCRATCH_KEPT_MAX;
    unsigned char *first = scratch_take(large);

    (void)state;
    assert_non_null(first);
    memset(first, 3, large);
    scratch_give(first);
#ifdef MADV_FREE
    assert_ptr_equal(scratch_take(large), first);
    memset(first, 4, large);
    scratch_give(first);
    assert_int_equal(lent, 2);
    /* A call that takes little of it has nothing to lend. */
    assert_ptr_equal(scratch_take(1000), first);
    scratch_give(first);
    assert_int_equal(lent, 2);
    assert_ptr_equal(scratch_take(large / 2 + 1), first);
    scratch_give(first);
    assert_int_equal(lent, 3);
#endif
}

static void *take(void *mine)
{
    unsigned char *memory = scratch_take(1000);

    assert_ptr_not_equal(memory, mine);
    scratch_give(memory); /* freed with the thread */
    return NULL;
}

static void threads_share_nothing(void **state)
{
    unsigned char *mine = scratch_take(1000);
    pthread_t thread;

    (void)state;
    scratch_give(mine);
    assert_int_equal(pthread_create(&thread, NULL, take, mine), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ptr_equal(scratch_take(1000), mine);
    scratch_give(mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_given_back_is_taken_again),
                                       cmocka_unit_test(large_memory_is_lent),
                                       cmocka_unit_test(threads_share_nothing)};

    return cmocka_run_group_tests_name("scratch memory", tests, NULL, NULL);
}
