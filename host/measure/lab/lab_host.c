/* Experiments on what the host does: launches, copies, allocation, queues. */
#include "base/clock.h"
#include "base/fail.h"
#include "measure/lab/experiments.h"

/* ---- launches ------------------------------------------------------------------------------- */

/* How the host enqueues a row of launches. */
typedef enum launch_way {
    LAUNCH_PLAIN,   /* one after another, and one clFinish */
    LAUNCH_FLUSHED, /* clFlush behind each */
    LAUNCH_EVENTS,  /* an event for each, released at once */
    LAUNCH_QUEUES,  /* two queues in turn */
    LAUNCH_WAYS
} launch_way;

typedef struct launches {
    const lab *l;
    cl_kernel kernel;
    cl_mem count;
    launch_way way;
    size_t launches;
} launches;

static tsr_status run_launches(void *state, double *ns, tsr_error *err)
{
    const launches *x = state;
    const cl_command_queue *queue = x->l->rig.queue;
    const size_t one = 1, queues = x->way == LAUNCH_QUEUES ? 2 : 1;
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    for (size_t i = 0; i < x->launches && rc == CL_SUCCESS; i++) {
        cl_event done = NULL;

        rc = clEnqueueNDRangeKernel(queue[i % queues], x->kernel, 1, NULL, &one, &one, 0, NULL,
                                    x->way == LAUNCH_EVENTS ? &done : NULL);
        if (rc == CL_SUCCESS && x->way == LAUNCH_FLUSHED)
            rc = clFlush(queue[0]);
        if (done)
            clReleaseEvent(done);
    }
    /* A queue begins when it is flushed, which is to be before the first is waited for. */
    for (size_t q = 0; q < queues && rc == CL_SUCCESS; q++)
        rc = clFlush(queue[q]);
    for (size_t q = 0; q < queues; q++) {
        const cl_int finished = clFinish(queue[q]);

        rc = rc == CL_SUCCESS ? finished : rc;
    }
    *ns = (double)(clock_ns() - start);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "%zu launches", x->launches);
}

static tsr_status check_launches(void *state, tsr_error *err)
{
    const launches *x = state;
    const rig *r = &x->l->rig;
    cl_uint count = 0;
    double ns;
    cl_int rc =
        clEnqueueWriteBuffer(r->timed, x->count, CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL);
    tsr_status st = rc == CL_SUCCESS ? run_launches(state, &ns, err)
                                     : tsr_fail(err, TSR_ECL, rc, "clEnqueueWriteBuffer");

    st = st ? st : rig_read(r, x->count, &count, sizeof(count), err);
    if (!st && count != x->launches)
        st = tsr_fail(err, TSR_EBOUND, 0, "%zu launches have run %u times", x->launches, count);
    return st;
}

static tsr_status measure_launches(lab *l, tsr_error *err)
{
    static const char *const ways[] = {"one queue", "flushed each", "an event each", "two queues"};
    launches x = {.l = l};
    tsr_status st = lab_kernel(l, "", "lab_launches", &x.kernel, err);

    st = st ? st : rig_buffer(&l->rig, CL_MEM_READ_WRITE, sizeof(cl_uint), &x.count, err);
    st = st ? st : rig_args(x.kernel, (rig_arg[]){{&x.count, sizeof(x.count)}}, 1, err);
    for (x.way = LAUNCH_PLAIN; x.way < LAUNCH_WAYS && !st; x.way++)
        for (x.launches = 1; x.launches <= 256 && !st; x.launches *= 4)
            st = lab_measure(l,
                             &(lab_point){.series = ways[x.way],
                                          .x = lab_number(x.launches).at,
                                          .run = run_launches,
                                          .check = check_launches,
                                          .state = &x,
                                          .amount = (double)x.launches,
                                          .wall = true,
                                          .base = x.way == LAUNCH_PLAIN && x.launches == 1,
                                          .claim = x.way == LAUNCH_PLAIN ? 5 : 0},
                             err);
    if (x.count)
        clReleaseMemObject(x.count);
    return st;
}

const experiment lab_launches = {
    .name = "launches",
    .summary = "launches before the host waits: what a launch and a wait cost",
    .knob = "launches",
    .unit = "us",
    .claims_values = true,
    .claim = "A launch costs about 5 microseconds of the host's time, whatever the kernel does: a "
             "kernel that takes less is bound by its launch, and hundreds of small ones should be "
             "fewer and larger, or one graph that is sent off at once.",
    .on_cpu =
        "Here a launch never leaves the processor: the runtime hands it to its own threads. What "
        "it costs is waking these up, which may take longer than sending it to a GPU, and less "
        "where they are awake already, as in a full queue.",
    .on_gpu =
        "A launch that is waited for costs the way there and back; of launches that follow each "
        "other in a queue only the slowest part counts, the host's or the device's. How long "
        "that is depends on the driver more than on the chip.",
    .source = "lab/lab_launches.cl",
    .measure = measure_launches,
};
