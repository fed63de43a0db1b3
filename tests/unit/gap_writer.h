/* Another thread's work on an array, at the moment when it does harm: whenever a kernel is
 * launched, or C code in its place, what is no element of the result is counted up.  For a program
 * that is one file. */
#ifndef UNIT_GAP_WRITER_H
#define UNIT_GAP_WRITER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include <CL/cl.h>

static struct gap_writer {
    float *array;
    size_t count;
    const bool *element; /* of the result */
    unsigned launches;
} gap_writer;

static void gap_writer_strike(void)
{
    for (size_t i = 0; i < gap_writer.count; i++)
        gap_writer.array[i] += !gap_writer.element[i];
    gap_writer.launches++;
}

/* In the place of the loader's. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint dims, const size_t *offset,
                                                       const size_t *global, const size_t *local,
                                                       cl_uint n_wait, const cl_event *wait,
                                                       cl_event *done)
{
    cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    void *found = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");

    memcpy(&next, &found, sizeof(next));
    gap_writer_strike();
    return next(queue, kernel, dims, offset, global, local, n_wait, wait, done);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue,
                                                      void(CL_CALLBACK *run)(void *), void *args,
                                                      size_t bytes, cl_uint buffers,
                                                      const cl_mem *buffer, const void **places,
                                                      cl_uint n_wait, const cl_event *wait,
                                                      cl_event *done)
{
    cl_int (*next)(cl_command_queue, void(CL_CALLBACK *)(void *), void *, size_t, cl_uint,
                   const cl_mem *, const void **, cl_uint, const cl_event *, cl_event *);
    void *found = dlsym(RTLD_NEXT, "clEnqueueNativeKernel");

    memcpy(&next, &found, sizeof(next));
    gap_writer_strike();
    return next(queue, run, args, bytes, buffers, buffer, places, n_wait, wait, done);
}

/* Stop, and fail unless each element is the expected one, and what is none was counted up alone. */
static void gap_writer_check(const float *expected, int beta)
{
    const size_t count = gap_writer.count;

    gap_writer.count = 0;
    assert_true(gap_writer.launches > 0);
    for (size_t i = 0; i < count; i++) {
        const bool is_result = gap_writer.element[i];
        const float wanted = expected[i] + (float)(is_result ? 0 : gap_writer.launches);

        if (gap_writer.array[i] != wanted)
            fail_msg("beta %d: element %zu is %g, and should be %g%s", beta, i,
                     (double)gap_writer.array[i], (double)wanted,
                     is_result ? "" : ", which is not the result's");
    }
}

#endif
