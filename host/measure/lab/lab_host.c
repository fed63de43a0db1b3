/* Experiments on what the host does: launches, copies, allocation, queues.
 *
 * clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "measure/lab/experiments.h"
#include "session/pinned.h"

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

/* ---- transfers ------------------------------------------------------------------------------ */

enum { TRANSFER_MIN = 4 << 10, TRANSFER_MAX = 64 << 20 };

typedef enum transfer_way {
    TO_PAGEABLE,
    TO_PINNED,
    TO_MAPPED, /* the host writes to the buffer where the driver maps it */
    TO_SHARED, /* alike, to shared virtual memory */
    FROM_PAGEABLE,
    FROM_PINNED,
    TRANSFER_WAYS
} transfer_way;

typedef struct moved {
    const lab *l;
    transfer_way way;
    size_t bytes;
    uint32_t *host;   /* pageable, or the pinned memory */
    uint32_t *source; /* of TO_MAPPED and TO_SHARED; to compare with */
    cl_mem device;
    void *shared; /* of TO_SHARED, in place of `device` */
} moved;

static tsr_status run_move(void *state, double *ns, tsr_error *err)
{
    const moved *x = state;
    cl_command_queue queue = x->l->rig.queue[0];
    const uint64_t start = clock_ns();
    void *mapped = NULL;
    cl_int rc;

    if (x->way == TO_MAPPED) {
        mapped = clEnqueueMapBuffer(queue, x->device, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                    x->bytes, 0, NULL, NULL, &rc);
        if (mapped) {
            memcpy(mapped, x->source, x->bytes);
            rc = clEnqueueUnmapMemObject(queue, x->device, mapped, 0, NULL, NULL);
        }
        if (rc == CL_SUCCESS)
            rc = clFinish(queue);
    } else if (x->way == TO_SHARED) {
        rc = clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, x->shared, x->bytes, 0,
                             NULL, NULL);
        if (rc == CL_SUCCESS) {
            memcpy(x->shared, x->source, x->bytes);
            rc = clEnqueueSVMUnmap(queue, x->shared, 0, NULL, NULL);
        }
        if (rc == CL_SUCCESS)
            rc = clFinish(queue);
    } else if (x->way < FROM_PAGEABLE) {
        rc = clEnqueueWriteBuffer(queue, x->device, CL_TRUE, 0, x->bytes, x->host, 0, NULL, NULL);
    } else {
        rc = clEnqueueReadBuffer(queue, x->device, CL_TRUE, 0, x->bytes, x->host, 0, NULL, NULL);
    }
    *ns = (double)(clock_ns() - start);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "moving %zu bytes", x->bytes);
}

/* Of the device's memory, or of what it shares: set each byte to 0xFF, and read all. */
static tsr_status spoil_moved(const moved *x, tsr_error *err)
{
    const cl_uint pattern = 0xFFFFFFFFu;
    cl_int rc;

    if (!x->shared)
        return rig_spoil(&x->l->rig, x->device, x->bytes, err);
    rc = clEnqueueSVMMemFill(x->l->rig.timed, x->shared, &pattern, sizeof(pattern), x->bytes, 0,
                             NULL, NULL);
    return rc ? tsr_fail(err, TSR_ECL, rc, "clEnqueueSVMMemFill(%zu bytes)", x->bytes) : TSR_OK;
}

static tsr_status read_moved(const moved *x, void *to, tsr_error *err)
{
    cl_int rc;

    if (!x->shared)
        return rig_read(&x->l->rig, x->device, to, x->bytes, err);
    rc = clEnqueueSVMMemcpy(x->l->rig.timed, CL_TRUE, to, x->shared, x->bytes, 0, NULL, NULL);
    return rc ? tsr_fail(err, TSR_ECL, rc, "clEnqueueSVMMemcpy(%zu bytes)", x->bytes) : TSR_OK;
}

/* The bytes arrive: those that were sent are read back; those that are fetched were written. */
static tsr_status check_move(void *state, tsr_error *err)
{
    const moved *x = state;
    const rig *r = &x->l->rig;
    const bool from = x->way >= FROM_PAGEABLE;
    uint32_t *back = malloc(x->bytes);
    double ns;
    tsr_status st = back ? spoil_moved(x, err)
                         : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes", x->bytes);

    if (!st) {
        cl_int rc = clFinish(r->timed);

        if (!rc && from)
            rc = clEnqueueWriteBuffer(r->timed, x->device, CL_TRUE, 0, x->bytes, x->source, 0, NULL,
                                      NULL);
        if (rc)
            st = tsr_fail(err, TSR_ECL, rc, "writing %zu bytes to be moved", x->bytes);
    }
    if (!st && from)
        memset(x->host, 0, x->bytes);
    else if (!st)
        memcpy(x->host, x->source, x->bytes);
    st = st ? st : run_move(state, &ns, err);
    if (!st && !from)
        st = read_moved(x, back, err);
    if (!st && memcmp(from ? x->host : back, x->source, x->bytes) != 0)
        st = tsr_fail(err, TSR_EBOUND, 0, "not all of %zu bytes have arrived", x->bytes);
    free(back);
    return st;
}

static bool shares_memory(const lab *l)
{
    cl_device_svm_capabilities shared = 0;

    return query(l->rig.session->device.id, CL_DEVICE_SVM_CAPABILITIES, &shared, sizeof(shared)) &&
           (shared & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
}

static tsr_status measure_size(lab *l, size_t bytes, const pinned *memory, uint32_t *pageable,
                               uint32_t *source, tsr_error *err)
{
    static const char *const ways[] = {"to, pageable", "to, pinned",     "to, mapped",
                                       "to, shared",   "from, pageable", "from, pinned"};
    tsr_status st = TSR_OK;

    for (transfer_way how = TO_PAGEABLE; how < TRANSFER_WAYS && !st && !l->ended; how++) {
        const bool is_pinned = how == TO_PINNED || how == FROM_PINNED;
        moved x = {.l = l,
                   .way = how,
                   .bytes = bytes,
                   .host = is_pinned ? (uint32_t *)(void *)memory->at : pageable,
                   .source = source};

        if (how == TO_SHARED && !shares_memory(l))
            continue;
        if (how == TO_SHARED) {
            x.shared = clSVMAlloc(l->rig.session->context, CL_MEM_READ_WRITE, bytes, 0);
            st = x.shared ? TSR_OK : tsr_fail(err, TSR_ECL, 0, "clSVMAlloc(%zu bytes)", bytes);
        } else {
            st = rig_buffer(&l->rig,
                            CL_MEM_READ_WRITE | (how == TO_MAPPED ? CL_MEM_ALLOC_HOST_PTR : 0),
                            bytes, &x.device, err);
        }
        st = st ? st
                : lab_measure(l,
                              &(lab_point){.series = ways[how],
                                           .x = lab_bytes(bytes).at,
                                           .run = run_move,
                                           .check = check_move,
                                           .state = &x,
                                           .amount = (double)bytes,
                                           .wall = true,
                                           .base = how == TO_PAGEABLE || how == FROM_PAGEABLE,
                                           .claim = is_pinned ? 2 : 0},
                              err);
        if (x.shared)
            clSVMFree(l->rig.session->context, x.shared);
        if (x.device)
            clReleaseMemObject(x.device);
    }
    return st;
}

static tsr_status measure_transfers(lab *l, tsr_error *err)
{
    const size_t most = l->rig.cpu ? TRANSFER_MAX / 4 : TRANSFER_MAX;
    uint32_t *pageable = malloc(most), *source = malloc(most);
    pinned memory = {0};
    tsr_status st = pageable && source
                        ? pinned_take(l->rig.session, most, &memory, err)
                        : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes", most);

    for (size_t i = 0; !st && i < most / 4; i++)
        source[i] = (uint32_t)i * 2654435761u;
    if (!st && !shares_memory(l))
        lab_skip(l, "to, shared", "", "the device has no shared virtual memory");
    for (size_t bytes = TRANSFER_MIN; bytes <= most && !st; bytes *= 4)
        st = measure_size(l, bytes, &memory, pageable, source, err);
    pinned_drop(l->rig.session, &memory);
    free(source);
    free(pageable);
    return st;
}

const experiment lab_transfers = {
    .name = "transfers",
    .summary =
        "copies of 4 KiB to 64 MiB, from pageable, pinned, mapped and shared memory, and back",
    .knob = "bytes",
    .unit = "GB/s",
    .claim =
        "A device copies from pinned memory by itself; what is pageable the driver copies to "
        "pinned "
        "memory first. So pinned memory is about twice as fast. For small transfers that matters "
        "less: there the cost of a call counts.",
    .on_cpu =
        "A CPU device works in the host's memory, so a copy is a copy within it, by the same "
        "cores, "
        "and pinned memory is memory like any other. What is mapped or shared needs no copy; here "
        "the host's own writing is what is timed.",
    .on_gpu =
        "Below some hundred kilobytes the call costs more than the copy. How much faster pinned "
        "memory is beyond that depends on the host: on the link to the device, and on how fast one "
        "core of it copies.",
    .measure = measure_transfers,
};

/* ---- allocation ----------------------------------------------------------------------------- */

typedef struct allocated {
    const lab *l;
    bool is_pinned;
    size_t bytes;
    bool check; /* read back what was written */
} allocated;

/* Allocate, write the last word, so that it is really there, and release. */
static tsr_status allocate_buffer(const allocated *x, tsr_error *err)
{
    const rig *r = &x->l->rig;
    const cl_uint word = 0x600DF00Du;
    cl_mem buffer = NULL;
    cl_uint got = 0;
    tsr_status st = rig_buffer(r, CL_MEM_READ_WRITE, x->bytes, &buffer, err);
    cl_int rc;

    if (st)
        return st;
    rc = clEnqueueWriteBuffer(r->queue[0], buffer, CL_TRUE, x->bytes - sizeof(word), sizeof(word),
                              &word, 0, NULL, NULL);
    if (rc)
        st = tsr_fail(err, TSR_ECL, rc, "writing to a buffer of %zu bytes", x->bytes);
    if (!st && x->check &&
        (clEnqueueReadBuffer(r->queue[0], buffer, CL_TRUE, x->bytes - sizeof(word), sizeof(word),
                             &got, 0, NULL, NULL) != CL_SUCCESS ||
         got != word))
        st = tsr_fail(err, TSR_EBOUND, 0, "a buffer of %zu bytes does not keep its last word",
                      x->bytes);
    clReleaseMemObject(buffer);
    return st;
}

/* The device copies from the last byte, and to the first. */
static tsr_status check_pinned(const allocated *x, pinned *memory, tsr_error *err)
{
    const rig *r = &x->l->rig;
    cl_mem buffer = NULL;
    tsr_status st = rig_buffer(r, CL_MEM_READ_WRITE, 1, &buffer, err);
    cl_int rc;

    if (st)
        return st;
    memory->at[0] = 0;
    rc = clEnqueueWriteBuffer(r->queue[0], buffer, CL_TRUE, 0, 1, memory->at + x->bytes - 1, 0,
                              NULL, NULL);
    rc = rc ? rc
            : clEnqueueReadBuffer(r->queue[0], buffer, CL_TRUE, 0, 1, memory->at, 0, NULL, NULL);
    if (rc)
        st = tsr_fail(err, TSR_ECL, rc, "copying from and to %zu pinned bytes", x->bytes);
    if (!st && memory->at[0] != 0x5A)
        st = tsr_fail(err, TSR_EBOUND, 0, "of %zu pinned bytes the last is not what was written",
                      x->bytes);
    clReleaseMemObject(buffer);
    return st;
}

static tsr_status allocate_pinned(const allocated *x, tsr_error *err)
{
    pinned memory = {0};
    tsr_status st = pinned_take(x->l->rig.session, x->bytes, &memory, err);

    if (!st)
        memory.at[x->bytes - 1] = 0x5A;
    if (!st && x->check)
        st = check_pinned(x, &memory, err);
    pinned_drop(x->l->rig.session, &memory);
    return st;
}

static tsr_status run_allocation(void *state, double *ns, tsr_error *err)
{
    const allocated *x = state;
    const uint64_t start = clock_ns();
    const tsr_status st = x->is_pinned ? allocate_pinned(x, err) : allocate_buffer(x, err);

    *ns = (double)(clock_ns() - start);
    return st;
}

static tsr_status check_allocation(void *state, tsr_error *err)
{
    allocated x = *(const allocated *)state;
    double ns;

    x.check = true;
    return run_allocation(&x, &ns, err);
}

static tsr_status measure_allocation(lab *l, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        for (size_t bytes = TRANSFER_MIN; bytes <= TRANSFER_MAX && !st; bytes *= 16) {
            allocated x = {.l = l, .is_pinned = is_pinned, .bytes = bytes};

            st = lab_measure(l,
                             &(lab_point){.series = is_pinned ? "pinned" : "buffer",
                                          .x = lab_bytes(bytes).at,
                                          .run = run_allocation,
                                          .check = check_allocation,
                                          .state = &x,
                                          .amount = 1,
                                          .wall = true,
                                          .base = !is_pinned && bytes == TRANSFER_MIN},
                             err);
        }
    }
    return st;
}

const experiment lab_allocation = {
    .name = "allocation",
    .summary =
        "a buffer, or pinned memory, of 4 KiB to 64 MiB (a CPU: 16): made, touched, released",
    .knob = "bytes",
    .unit = "us",
    .claim =
        "Allocation is expensive, pinned memory most of all: each page has to be found and nailed "
        "down. Allocate once, and use it again and again; for a short program, the memory can take "
        "longer than the computing.",
    .on_cpu =
        "A buffer of a CPU device is memory of the process. What a large one costs is that the "
        "system finds each page when it is first touched, and here only one is; pinned memory is "
        "the same memory, mapped and unmapped besides.",
    .on_gpu =
        "A driver that keeps released memory for the next buffer hides the cost of all but the "
        "first. Pinning costs by the page, so it grows with the bytes.",
    .measure = measure_allocation,
};

/* ---- queues --------------------------------------------------------------------------------- */

enum { QUEUES_MAX = 8 };

typedef struct queued {
    const lab *l;
    cl_kernel kernel[QUEUES_MAX];
    cl_mem in[QUEUES_MAX], out[QUEUES_MAX]; /* a block of rows for each queue */
    cl_command_queue queue[QUEUES_MAX];
    size_t queues, rows, columns;
    pinned matrix, result;
} queued;

static size_t first_row(const queued *x, size_t block)
{
    return x->rows * block / x->queues;
}

/* Of each block: copy in, multiply, copy out, in a queue of its own. */
static tsr_status run_queues(void *state, double *ns, tsr_error *err)
{
    const queued *x = state;
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    for (size_t q = 0; q < x->queues && rc == CL_SUCCESS; q++) {
        const size_t first = first_row(x, q), rows = first_row(x, q + 1) - first;

        rc = clEnqueueWriteBuffer(x->queue[q], x->in[q], CL_FALSE, 0, rows * x->columns * 4,
                                  x->matrix.at + first * x->columns * 4, 0, NULL, NULL);
        if (rc == CL_SUCCESS)
            rc = clEnqueueNDRangeKernel(x->queue[q], x->kernel[q], 1, NULL, &rows, NULL, 0, NULL,
                                        NULL);
        if (rc == CL_SUCCESS)
            rc = clEnqueueReadBuffer(x->queue[q], x->out[q], CL_FALSE, 0, rows * 4,
                                     x->result.at + first * 4, 0, NULL, NULL);
        if (rc == CL_SUCCESS)
            rc = clFlush(x->queue[q]);
    }
    for (size_t q = 0; q < x->queues; q++) {
        const cl_int finished = clFinish(x->queue[q]);

        rc = rc == CL_SUCCESS ? finished : rc;
    }
    *ns = (double)(clock_ns() - start);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "%zu queues", x->queues);
}

static tsr_status check_queues(void *state, tsr_error *err)
{
    const queued *x = state;
    const uint32_t *matrix = (const uint32_t *)(const void *)x->matrix.at;
    const uint32_t *result = (const uint32_t *)(const void *)x->result.at;
    double ns;
    tsr_status st;

    memset(x->result.at, 0xFF, x->rows * 4);
    st = run_queues(state, &ns, err);
    for (size_t row = 0; row < x->rows && !st; row++) {
        uint32_t sum = 0;

        for (size_t i = 0; i < x->columns; i++)
            sum += matrix[row * x->columns + i] * (uint32_t)i;
        if (result[row] != sum)
            st = tsr_fail(err, TSR_EBOUND, 0, "row %zu is 0x%08x, not 0x%08x", row, result[row],
                          sum);
    }
    return st;
}

/* Buffers and kernels of one block each: a kernel has one set of arguments. */
static tsr_status open_blocks(queued *x, cl_program built, tsr_error *err)
{
    const cl_uint columns = (cl_uint)x->columns;
    tsr_status st = TSR_OK;
    cl_int rc;

    for (size_t q = 0; q < x->queues && !st; q++) {
        const size_t rows = first_row(x, q + 1) - first_row(x, q);

        st = rig_buffer(&x->l->rig, CL_MEM_READ_ONLY, rows * x->columns * 4, &x->in[q], err);
        st = st ? st : rig_buffer(&x->l->rig, CL_MEM_WRITE_ONLY, rows * 4, &x->out[q], err);
        if (st)
            break;
        x->kernel[q] = clCreateKernel(built, "lab_queues", &rc);
        if (!x->kernel[q])
            return tsr_fail(err, TSR_ECL, rc, "clCreateKernel(lab_queues)");
        st = rig_args(x->kernel[q],
                      (rig_arg[]){{&x->in[q], sizeof(x->in[q])},
                                  {&x->out[q], sizeof(x->out[q])},
                                  {&columns, sizeof(columns)}},
                      3, err);
    }
    return st;
}

static void close_blocks(queued *x)
{
    for (size_t q = 0; q < QUEUES_MAX; q++) {
        if (x->kernel[q])
            clReleaseKernel(x->kernel[q]);
        if (x->out[q])
            clReleaseMemObject(x->out[q]);
        if (x->in[q])
            clReleaseMemObject(x->in[q]);
        x->kernel[q] = NULL;
        x->in[q] = x->out[q] = NULL;
    }
}

static tsr_status measure_queues(lab *l, tsr_error *err)
{
    /* As the course measured, row by row: what more than one queue makes of its time. */
    static const double claims[QUEUES_MAX + 1] = {0, 0, 1.07, 0.34, 0.35, 0, 0, 0.34, 0};
    const size_t side = size_max(l->size, QUEUES_MAX);
    queued x = {.l = l, .rows = side, .columns = side};
    cl_kernel kernel;
    cl_program built = NULL;
    size_t bytes = 0;
    tsr_status st = size_mul(side, side, &bytes) && size_mul(bytes, sizeof(uint32_t), &bytes)
                        ? lab_kernel(l, "", "lab_queues", &kernel, err)
                        : tsr_fail(err, TSR_ENAME, 0,
                                   "size %zu is too large: a matrix of %zu x %zu words has too "
                                   "many bytes",
                                   side, side, side);

    l->size = side;
    if (!st) {
        const cl_int rc = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(built), &built, NULL);

        if (rc)
            st = tsr_fail(err, TSR_ECL, rc, "clGetKernelInfo(CL_KERNEL_PROGRAM)");
    }
    for (size_t q = 0; q < QUEUES_MAX && !st; q++)
        st = rig_queue(l->rig.session, &x.queue[q], err);
    st = st ? st : pinned_take(l->rig.session, bytes, &x.matrix, err);
    st = st ? st : pinned_take(l->rig.session, side * 4, &x.result, err);
    for (size_t i = 0; i < side * side && !st; i++)
        ((uint32_t *)(void *)x.matrix.at)[i] = (uint32_t)i * 2654435761u;
    for (x.queues = 1; x.queues <= QUEUES_MAX && !st && !l->ended; x.queues++) {
        st = open_blocks(&x, built, err);
        st = st ? st
                : lab_measure(l,
                              &(lab_point){.series = "row blocks",
                                           .x = lab_number(x.queues).at,
                                           .run = run_queues,
                                           .check = check_queues,
                                           .state = &x,
                                           .amount = 1,
                                           .wall = true,
                                           .base = x.queues == 1,
                                           .claim = claims[x.queues]},
                              err);
        close_blocks(&x);
    }
    pinned_drop(l->rig.session, &x.result);
    pinned_drop(l->rig.session, &x.matrix);
    for (size_t q = 0; q < QUEUES_MAX; q++)
        if (x.queue[q])
            clReleaseCommandQueue(x.queue[q]);
    return st;
}

const experiment lab_queues = {
    .name = "queues",
    .summary = "a matrix in host memory times a vector, in blocks of rows over 1 to 8 queues",
    .knob = "queues",
    .counted = "rows and columns",
    .size_cpu = 1000,
    .size = 4000,
    .unit = "us",
    .claim =
        "While one queue copies, another computes. A course measured a matrix of 1000 x 1000: two "
        "queues were slower by 7%, three took a third of the time of one, and more than three were "
        "no better.",
    .on_cpu = "Copying and computing are done by the same cores here. What more queues gain is "
              "that another "
              "core works meanwhile: a copy is the work of one, and so is a kernel with few "
              "groups. Beyond "
              "the number of cores each more is only more to keep track of.",
    .on_gpu =
        "Copying the matrix takes many times as long as multiplying it, and one link brings no "
        "more "
        "for being asked by several queues: what can be hidden is the computing and the waiting, "
        "not the copying. In the course's first figure, what it cost to begin was much of the "
        "time.",
    .source = "lab/lab_queues.cl",
    .measure = measure_queues,
};

/* ---- creation ------------------------------------------------------------------------------- */

typedef struct creation {
    const lab *l;
    size_t queues;
    bool fresh; /* in a context of their own, made for them */
    bool check; /* use each */
} creation;

/* Write a byte by a queue, and read it back. */
static tsr_status use_queue(cl_context context, cl_command_queue queue, tsr_error *err)
{
    const unsigned char wrote = 0x5A;
    unsigned char got = 0;
    cl_int rc;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1, NULL, &rc);

    if (!buffer)
        return tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(1 byte)");
    rc = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &wrote, 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        rc = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &got, 0, NULL, NULL);
    clReleaseMemObject(buffer);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "a copy by a queue that was just made");
    return got == wrote
               ? TSR_OK
               : tsr_fail(err, TSR_EBOUND, 0, "a queue brought 0x%02x, not 0x%02x", got, wrote);
}

static tsr_status run_creation(void *state, double *ns, tsr_error *err)
{
    const creation *x = state;
    const tsr_session *s = x->l->rig.session;
    cl_command_queue queue[QUEUES_MAX] = {NULL};
    cl_context context = s->context;
    tsr_status st = TSR_OK;
    cl_int rc = CL_SUCCESS;
    uint64_t start;

    if (x->fresh) {
        context = clCreateContext(NULL, 1, &s->device.id, NULL, NULL, &rc);
        if (!context)
            return tsr_fail(err, TSR_ECL, rc, "clCreateContext");
    }
    start = clock_ns();
    for (size_t q = 0; q < x->queues && rc == CL_SUCCESS; q++)
        queue[q] = clCreateCommandQueue(context, s->device.id, 0, &rc);
    *ns = (double)(clock_ns() - start);
    if (rc != CL_SUCCESS)
        st = tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue");
    for (size_t q = 0; q < x->queues && !st && x->check; q++)
        st = use_queue(context, queue[q], err);
    for (size_t q = 0; q < x->queues; q++)
        if (queue[q])
            clReleaseCommandQueue(queue[q]);
    if (x->fresh)
        clReleaseContext(context);
    return st;
}

static tsr_status check_creation(void *state, tsr_error *err)
{
    creation x = *(const creation *)state;
    double ns;

    x.check = true;
    return run_creation(&x, &ns, err);
}

static tsr_status measure_creation(lab *l, tsr_error *err)
{
    static const double claims[QUEUES_MAX + 1] = {0, 0, 1.24, 1.35, 0, 0, 0, 0, 1.94};
    tsr_status st = TSR_OK;

    for (int fresh = 0; fresh < 2; fresh++) {
        for (size_t queues = 1; queues <= QUEUES_MAX && !st && !l->ended; queues++) {
            creation x = {.l = l, .queues = queues, .fresh = fresh};

            st = lab_measure(l,
                             &(lab_point){.series = fresh ? "a new context" : "a context in use",
                                          .x = lab_number(queues).at,
                                          .run = run_creation,
                                          .check = check_creation,
                                          .state = &x,
                                          .amount = 1,
                                          .wall = true,
                                          .base = queues == 1,
                                          .claim = claims[queues]},
                             err);
        }
    }
    return st;
}

const experiment lab_creation = {
    .name = "creation",
    .summary = "1 to 8 queues are made, in a context that has run commands and in a new one",
    .knob = "queues",
    .unit = "us",
    .claim =
        "Queues are not free, and the first costs most: a course measured 17 microseconds for one, "
        "21 for two, 23 for three and 33 for eight. So make them once, and keep them.",
    .on_cpu =
        "A queue of a CPU device is a list of commands; the threads that work them off are there "
        "already. So the eighth costs what the first does, unless the first of a context sets up "
        "what all share.",
    .on_gpu =
        "A queue is memory for commands that the device reads, and in some drivers a thread. Where "
        "contexts are new, one of the first pays for what several share (with NVIDIA's OpenCL the "
        "second); in a context in use that is paid for.",
    .measure = measure_creation,
};
