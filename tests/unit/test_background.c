/* Work that only the end of the process waits for: base/background.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/background.h"

enum { SECONDS_MAX = 20 };

static int told[2]; /* a pipe: a byte of each piece of work at its end */

static void tell(void *what)
{
    if (write(told[1], what, 1) != 1)
        abort();
}

/* A piece of work that takes a while. */
static void tell_late(void *what)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    tell(what);
}

/* Work that starts more work, as a session does that is closed there, while the process ends. */
static void start_another(void *what)
{
    static char second[] = "2";

    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    if (!background_start(tell, second))
        abort();
    tell(what);
}

static int work_of_work(void)
{
    static char first[] = "1";

    return background_start(start_another, first) ? 0 : 1;
}

static void start_late(void)
{
    static char second[] = "2";

    if (!background_start(tell_late, second))
        abort();
}

/* A handler that was registered before the first work runs when that is done. */
static int work_of_an_earlier_handler(void)
{
    static char first[] = "1";

    atexit(start_late);
    return background_start(tell, first) ? 0 : 1;
}

/* Both pieces of work are done once a process has ended by exit(). */
static void the_end_waits(void **state)
{
    int (*const *work)(void) = *state;
    char got[3];
    pid_t child;
    int status;

    assert_int_equal(pipe(told), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS_MAX); /* rather than never */
        exit((*work)());
    }
    close(told[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(read(told[0], got, sizeof(got)), 2);
    close(told[0]);
}

int main(void)
{
#define THE_END_WAITS_FOR(what)                                                                    \
    {                                                                                              \
        .name = #what, .test_func = the_end_waits, .initial_state = (int (*[])(void))              \
        {                                                                                          \
            what                                                                                   \
        }                                                                                          \
    }
    const struct CMUnitTest tests[] = {THE_END_WAITS_FOR(work_of_work),
                                       THE_END_WAITS_FOR(work_of_an_earlier_handler)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
