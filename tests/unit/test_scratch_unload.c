/* A library that is unloaded while a thread lives that has called it frees what the thread keeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 24 << 20 }; /* so much malloc() gives back to the system when it is freed */

typedef struct rig {
    void *(*take)(size_t);
    void (*give)(void *);
    pthread_barrier_t met;
    unsigned char *memory;
} rig;

static void *keep_and_wait(void *context)
{
    rig *r = context;

    r->memory = r->take(BYTES);
    if (r->memory)
        memset(r->memory, 1, BYTES);
    r->give(r->memory);
    pthread_barrier_wait(&r->met); /* kept */
    pthread_barrier_wait(&r->met); /* unloaded */
    return NULL;
}

/* Whether the system has the page, mapped and with content. */
static bool has_content(void *page)
{
    unsigned char in_core = 0;

    return mincore(page, 1, &in_core) == 0 && (in_core & 1);
}

static void what_a_living_thread_keeps_is_freed(void **state)
{
    void *library = dlopen(SCRATCH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    rig r = {0};
    pthread_t thread;
    unsigned char *page;

    (void)state;
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)&r.take = dlsym(library, "scratch_take");
    *(void **)&r.give = dlsym(library, "scratch_give");
    assert_non_null(r.take);
    assert_non_null(r.give);
    assert_int_equal(pthread_barrier_init(&r.met, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, keep_and_wait, &r), 0);
    pthread_barrier_wait(&r.met);
    assert_non_null(r.memory);
    page = r.memory + BYTES / 2 - ((uintptr_t)r.memory + BYTES / 2) % 4096;
    assert_true(has_content(page));
    assert_int_equal(dlclose(library), 0);
    /* Sanitizers keep what is freed for a while, and find by themselves what is not. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(TESSERA_SANITIZED)
    assert_false(has_content(page));
#endif
    pthread_barrier_wait(&r.met);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&r.met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_living_thread_keeps_is_freed)};

    return cmocka_run_group_tests_name("scratch memory of an unloaded library", tests, NULL, NULL);
}
