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

/* Work that starts more work, as a session does that is closed there, while the process ends. */
static void start_another(void *what)
{
    static char second[] = "2";

    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    if (!background_start(tell, second))
        abort();
    tell(what);
}

static void the_end_waits_for_work_of_work(void **state)
{
    static char first[] = "1";
    char got[3];
    pid_t child;
    int status;

    (void)state;
    assert_int_equal(pipe(told), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS_MAX); /* rather than never */
        exit(background_start(start_another, first) ? 0 : 1);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_end_waits_for_work_of_work)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
