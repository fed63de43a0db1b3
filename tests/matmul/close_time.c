/* The time that tsr_session_close takes after a first call with every cache empty, in milliseconds:
 *
 *     close_time DEVICE MOST
 *
 * Fails where it is above MOST: a driver that is asked for binaries may compile for as long again
 * as the call took, and takes long to destroy a context.  The processor's time of this thread, so
 * that other work on the machine disturbs little.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tessera/tessera.h"

enum { SIDE = 64, BYTES = SIDE * SIDE * sizeof(float) };

static double thread_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s, (void)type, (void)f;
    return remove(path);
}

/* A product on buffers by a kernel, complete when it returns. */
static tsr_status call(tsr_session *s, tsr_error *err)
{
    const tsr_matmul_problem p = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1};
    const tsr_run kernel = {.variant = "cpu-block"};
    cl_mem b[3] = {NULL};
    tsr_status st;

    for (int i = 0; i < 3; i++)
        b[i] = clCreateBuffer(tsr_session_context(s), CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    st = tsr_matmul_enqueue(s, &p, b[0], b[1], b[2], &kernel, NULL, err);
    clFinish(tsr_session_queue(s));
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(b[i]);
    return st;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/tessera-close-XXXXXX";
    tsr_devices *list = NULL;
    const tsr_device *device;
    tsr_session *s = NULL;
    tsr_error err = {0};
    double start, ms;
    size_t n = 0;
    tsr_status st;

    if (argc != 3 || !mkdtemp(folder))
        return 2;
    setenv("TESSERA_CACHE_DIR", folder, 1);
    setenv("POCL_CACHE_DIR", folder, 1);
    st = tsr_devices_find(&list, &err);
    st = st ? st : tsr_devices_select(list, argv[1], &device, 1, &n, &err);
    st = st ? st : tsr_session_open(device, NULL, &s, &err);
    st = st ? st : call(s, &err);
    start = thread_ms();
    tsr_session_close(s);
    ms = thread_ms() - start;
    tsr_devices_close(list);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (st) {
        fprintf(stderr, "close_time: %s\n", err.message);
        return 1;
    }
    printf("closing a session took %.1f ms\n", ms);
    return ms > atof(argv[2]);
}
