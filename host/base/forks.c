#include "base/forks.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"

enum { NEVER = -1 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint forks;
static atomic_int opencl_since = NEVER; /* the number of forks when OpenCL was first used */

static void count(void)
{
    atomic_fetch_add(&forks, 1);
}

static void start(void)
{
    pthread_atfork(NULL, NULL, count);
}

unsigned forks_so_far(void)
{
    pthread_once(&once, start);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

void forks_note_opencl(void)
{
    int never = NEVER;

    atomic_compare_exchange_strong(&opencl_since, &never, (int)forks_so_far());
}

tsr_status forks_check_since(unsigned opened, tsr_error *err)
{
    if (opened == forks_so_far())
        return TSR_OK;
    return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                    "OpenCL was in use before this process was forked: fork first, or use device "
                    "host");
}

tsr_status forks_check_opencl(tsr_error *err)
{
    const int since = atomic_load(&opencl_since);

    return since == NEVER ? TSR_OK : forks_check_since((unsigned)since, err);
}
