/* Experiments on what takes the place of many launches: waits of all groups within one, recorded
 * commands, lists of work, and launches by the device. */
#include <CL/cl_ext.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "measure/lab/experiments.h"

static tsr_status write_words(const lab *l, cl_mem to, const cl_uint *words, size_t count,
                              tsr_error *err)
{
    const cl_int rc = clEnqueueWriteBuffer(l->rig.queue[0], to, CL_TRUE, 0, count * sizeof(*words),
                                           words, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "clEnqueueWriteBuffer(%zu words)", count);
}

static tsr_status finished(const lab *l, cl_int rc, uint64_t start, double *ns, const char *what,
                           tsr_error *err)
{
    const cl_int done = clFinish(l->rig.queue[0]);

    *ns = (double)(clock_ns() - start);
    rc = rc == CL_SUCCESS ? done : rc;
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "%s", what);
}

/* ---- grid ---------------------------------------------------------------------------------- */

enum { GRID_GROUP = 128, GRID_GROUPS_MAX = 1024 };

typedef struct gridded {
    const lab *l;
    bool persistent;
    cl_kernel kernel;
    cl_mem number, arrived, out;
    size_t groups, local;
    cl_uint rounds;
} gridded;

static tsr_status run_grid(void *state, double *ns, tsr_error *err)
{
    const gridded *x = state;
    const cl_command_queue queue = x->l->rig.queue[0];
    const size_t global = x->groups * x->local;
    const cl_uint none = 0;
    tsr_status st = x->persistent ? write_words(x->l, x->arrived, &none, 1, err) : TSR_OK;
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    if (st)
        return st;
    if (x->persistent)
        rc = clEnqueueNDRangeKernel(queue, x->kernel, 1, NULL, &global, &x->local, 0, NULL, NULL);
    for (cl_uint i = 0; i < x->rounds && !x->persistent && rc == CL_SUCCESS; i++) {
        rc = clSetKernelArg(x->kernel, 2, sizeof(i), &i);
        if (rc == CL_SUCCESS)
            rc = clEnqueueNDRangeKernel(queue, x->kernel, 1, NULL, &global, &x->local, 0, NULL,
                                        NULL);
    }
    return finished(x->l, rc, start, ns, "rounds of all groups", err);
}

static tsr_status check_grid(void *state, tsr_error *err)
{
    const gridded *x = state;
    cl_uint got[GRID_GROUPS_MAX];
    double ns;
    tsr_status st = rig_spoil(&x->l->rig, x->out, x->groups * sizeof(*got), err);
    const cl_int rc = st ? CL_SUCCESS : clFinish(x->l->rig.timed); /* not the queue of the rounds */

    if (rc)
        st = tsr_fail(err, TSR_ECL, rc, "clFinish");
    st = st ? st : run_grid(state, &ns, err);
    st = st ? st : rig_read(&x->l->rig, x->out, got, x->groups * sizeof(*got), err);
    for (size_t g = 0; g < x->groups && !st; g++) {
        const cl_uint expected = (cl_uint)((g + x->rounds) % x->groups) + x->rounds;

        if (got[g] != expected)
            st = tsr_fail(err, TSR_EBOUND, 0, "group %zu has %u after %u rounds, not %u", g, got[g],
                          x->rounds, expected);
    }
    return st;
}

static tsr_status measure_rounds(lab *l, gridded *x, const char *series, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (x->rounds = 1; x->rounds <= 256 && !st; x->rounds *= 4) {
        if (x->persistent)
            st = rig_args(x->kernel,
                          (rig_arg[]){{&x->number, sizeof(cl_mem)},
                                      {&x->arrived, sizeof(cl_mem)},
                                      {&x->out, sizeof(cl_mem)},
                                      {&x->rounds, sizeof(x->rounds)}},
                          4, err);
        else
            st = rig_args(x->kernel,
                          (rig_arg[]){{&x->number, sizeof(cl_mem)}, {&x->out, sizeof(cl_mem)}}, 2,
                          err);
        st = st ? st
                : lab_measure(l,
                              &(lab_point){.series = series,
                                           .x = lab_number(x->rounds).at,
                                           .run = run_grid,
                                           .check = check_grid,
                                           .state = x,
                                           .amount = (double)x->rounds,
                                           .wall = true,
                                           .base = !x->persistent && x->rounds == 1},
                              err);
    }
    return st;
}

static tsr_status measure_grid(lab *l, tsr_error *err)
{
    gridded x = {.l = l,
                 .groups = size_min(l->units, GRID_GROUPS_MAX),
                 .local = size_min(GRID_GROUP, l->group_max)};
    tsr_status st = lab_kernel(l, "", "lab_grid_step", &x.kernel, err);

    st =
        st ? st
           : rig_buffer(&l->rig, CL_MEM_READ_WRITE, 2 * x.groups * sizeof(cl_uint), &x.number, err);
    st = st ? st : rig_buffer(&l->rig, CL_MEM_READ_WRITE, sizeof(cl_uint), &x.arrived, err);
    st = st ? st : rig_buffer(&l->rig, CL_MEM_READ_WRITE, x.groups * sizeof(cl_uint), &x.out, err);
    st = st ? st : measure_rounds(l, &x, "a launch a round", err);
    if (!st && !(l->rig.facts->nvidia && l->rig.facts->kind == DEVICE_GPU)) {
        lab_skip(l, "one launch", "",
                 "nothing says that this device runs a group on each unit at once: they could wait "
                 "for ever");
    } else if (!st) {
        x.persistent = true;
        st = lab_kernel(l, "", "lab_grid_persistent", &x.kernel, err);
        st = st ? st : measure_rounds(l, &x, "one launch", err);
    }
    if (x.number)
        clReleaseMemObject(x.number);
    if (x.arrived)
        clReleaseMemObject(x.arrived);
    if (x.out)
        clReleaseMemObject(x.out);
    return st;
}

const experiment lab_grid = {
    .name = "grid",
    .summary =
        "all groups wait for each other: a launch for each round, or a barrier in one launch",
    .knob = "rounds",
    .unit = "us",
    .claim = "All blocks of a kernel can wait for each other by grid.sync(), without the cost of "
             "another "
             "launch: for iterations whose steps are short. All of them have to fit on the device "
             "at once.",
    .on_cpu = "OpenCL promises nothing about groups that wait for each other, and a CPU's runtime "
              "gives its threads one group after another: there is only one launch a round.",
    .on_gpu =
        "A round costs an atomic operation of each group on one word in the second cache, and "
        "some more until the last has seen it: about a microsecond, where a launch costs "
        "several.",
    .source = "lab/lab_grid.cl",
    .measure = measure_grid,
};

/* ---- graphs -------------------------------------------------------------------------------- */

enum { GRAPH_ITEMS = 64, GRAPH_STEPS_MAX = 256 };

/* The functions of cl_khr_command_buffer. */
typedef struct recorder {
    clCreateCommandBufferKHR_fn create;
    clFinalizeCommandBufferKHR_fn finalize;
    clCommandNDRangeKernelKHR_fn launch;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
} recorder;

typedef enum graph_way { GRAPH_LAUNCHES, GRAPH_RECORDED, GRAPH_LIST, GRAPH_WAYS } graph_way;

typedef struct graphed {
    const lab *l;
    graph_way way;
    recorder record;
    cl_command_buffer_khr recorded;
    cl_kernel step, list;
    cl_mem value, done, numbers;
    size_t items;
    cl_uint count;
} graphed;

static bool find_recorder(const lab *l, recorder *out)
{
    static const char *const names[] = {"clCreateCommandBufferKHR", "clFinalizeCommandBufferKHR",
                                        "clCommandNDRangeKernelKHR", "clEnqueueCommandBufferKHR",
                                        "clReleaseCommandBufferKHR"};
    void *const places[] = {&out->create, &out->finalize, &out->launch, &out->enqueue,
                            &out->release};
    cl_device_id id = l->rig.session->device.id;
    cl_platform_id platform = NULL;
    bool found = query_has_extension(id, "cl_khr_command_buffer") &&
                 query(id, CL_DEVICE_PLATFORM, &platform, sizeof(platform));

    for (size_t i = 0; i < ARRAY_COUNT(names) && found; i++) {
        void *function = clGetExtensionFunctionAddressForPlatform(platform, names[i]);

        found = function != NULL;
        memcpy(places[i], &function, sizeof(function)); /* C converts no object to a function */
    }
    return found;
}

/* Each step waits for the one before. */
static tsr_status record_steps(graphed *x, tsr_error *err)
{
    cl_command_queue queue = x->l->rig.queue[0];
    cl_sync_point_khr last = 0;
    cl_int rc;

    x->recorded = x->record.create(1, &queue, NULL, &rc);
    for (cl_uint i = 0; i < x->count && rc == CL_SUCCESS; i++) {
        cl_sync_point_khr now = 0;

        rc = x->record.launch(x->recorded, NULL, NULL, x->step, 1, NULL, &x->items, &x->items,
                              i > 0, i ? &last : NULL, &now, NULL);
        last = now;
    }
    if (rc == CL_SUCCESS)
        rc = x->record.finalize(x->recorded);
    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "recording %u launches", x->count);
}

static tsr_status run_graph(void *state, double *ns, tsr_error *err)
{
    const graphed *x = state;
    const cl_command_queue queue = x->l->rig.queue[0];
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    if (x->way == GRAPH_RECORDED)
        rc = x->record.enqueue(0, NULL, x->recorded, 0, NULL, NULL);
    else if (x->way == GRAPH_LIST)
        rc = clEnqueueNDRangeKernel(queue, x->list, 1, NULL, &x->items, &x->items, 0, NULL, NULL);
    for (cl_uint i = 0; i < x->count && x->way == GRAPH_LAUNCHES && rc == CL_SUCCESS; i++)
        rc = clEnqueueNDRangeKernel(queue, x->step, 1, NULL, &x->items, &x->items, 0, NULL, NULL);
    return finished(x->l, rc, start, ns, "steps of a graph", err);
}

static tsr_status check_graph(void *state, tsr_error *err)
{
    const graphed *x = state;
    cl_uint value[GRAPH_ITEMS] = {0}, expected = 0;
    double ns;
    tsr_status st = write_words(x->l, x->value, value, x->items, err);

    for (cl_uint i = 0; i < x->count; i++)
        expected = expected * 5 + i + 1;
    st = st ? st : write_words(x->l, x->done, value, x->items, err);
    st = st ? st : run_graph(state, &ns, err);
    st = st ? st : rig_read(&x->l->rig, x->value, value, x->items * sizeof(*value), err);
    for (size_t i = 0; i < x->items && !st; i++)
        if (value[i] != expected)
            st = tsr_fail(err, TSR_EBOUND, 0, "value %zu is 0x%08x after %u steps, not 0x%08x", i,
                          value[i], x->count, expected);
    return st;
}

static tsr_status measure_graph(lab *l, graphed *x, tsr_error *err)
{
    static const char *const ways[] = {"launches", "command buffer", "work list"};
    const rig_arg args[] = {{&x->value, sizeof(cl_mem)},
                            {&x->done, sizeof(cl_mem)},
                            {&x->numbers, sizeof(cl_mem)},
                            {&x->count, sizeof(x->count)}};
    tsr_status st = rig_args(x->step, args, 3, err);

    st = st ? st : rig_args(x->list, args, 4, err);
    if (!st && x->way == GRAPH_RECORDED)
        st = record_steps(x, err);
    st = st ? st
            : lab_measure(l,
                          &(lab_point){.series = ways[x->way],
                                       .x = lab_number(x->count).at,
                                       .run = run_graph,
                                       .check = check_graph,
                                       .state = x,
                                       .amount = (double)x->count,
                                       .wall = true,
                                       .base = x->way == GRAPH_LAUNCHES && x->count == 1,
                                       .claim = x->way == GRAPH_LAUNCHES   ? 5
                                                : x->way == GRAPH_RECORDED ? 1
                                                                           : 0},
                          err);
    if (x->recorded)
        x->record.release(x->recorded);
    x->recorded = NULL;
    return st;
}

static tsr_status measure_graphs(lab *l, tsr_error *err)
{
    cl_uint numbers[GRAPH_STEPS_MAX];
    graphed x = {.l = l, .items = size_min(GRAPH_ITEMS, l->group_max)};
    tsr_status st = lab_kernel(l, "-DSTEPS=256", "lab_graphs_step", &x.step, err);

    for (cl_uint i = 0; i < GRAPH_STEPS_MAX; i++)
        numbers[i] = i + 1;
    st = st ? st : lab_kernel(l, "-DSTEPS=256", "lab_graphs_list", &x.list, err);
    st = st ? st
            : rig_buffer(&l->rig, CL_MEM_READ_WRITE, GRAPH_ITEMS * sizeof(cl_uint), &x.value, err);
    st = st ? st
            : rig_buffer(&l->rig, CL_MEM_READ_WRITE, GRAPH_ITEMS * sizeof(cl_uint), &x.done, err);
    st = st ? st : lab_upload(l, numbers, sizeof(numbers), &x.numbers, err);
    for (; x.way < GRAPH_WAYS && !st; x.way++) {
        if (x.way == GRAPH_RECORDED && !find_recorder(l, &x.record)) {
            lab_skip(l, "command buffer", "", "the device has no cl_khr_command_buffer");
            continue;
        }
        for (x.count = 1; x.count <= GRAPH_STEPS_MAX && !st; x.count *= 4)
            st = measure_graph(l, &x, err);
    }
    if (x.value)
        clReleaseMemObject(x.value);
    if (x.done)
        clReleaseMemObject(x.done);
    if (x.numbers)
        clReleaseMemObject(x.numbers);
    return st;
}

const experiment lab_graphs = {
    .name = "graphs",
    .summary =
        "1 to 256 short steps: launches, recorded commands, and one launch with a list of work",
    .knob = "steps",
    .unit = "us",
    .claims_values = true,
    .claim =
        "CUDA graphs record a sequence of launches once and send it off as one: 5 microseconds a "
        "launch become about 1. The GPU does not get faster by it; what disappears is the "
        "host's part.",
    .on_cpu =
        "A runtime on the CPU has no driver to cross, so recording saves little: it hands each "
        "step to its threads all the same. A list of work in one launch saves waking these "
        "up.",
    .on_gpu =
        "OpenCL's graphs are command buffers (cl_khr_command_buffer), which few drivers have. "
        "Without them a launch that takes its steps from a list does the same for what one "
        "group can do, and with a barrier of all groups (grid) for more.",
    .source = "lab/lab_graphs.cl",
    .measure = measure_graphs,
};

/* ---- children ------------------------------------------------------------------------------ */

typedef struct born {
    const lab *l;
    bool by_device;
    cl_kernel kernel;
    cl_mem count, failed;
    cl_uint children;
} born;

static tsr_status run_children(void *state, double *ns, tsr_error *err)
{
    const born *x = state;
    const cl_command_queue queue = x->l->rig.queue[0];
    const cl_uint launches = x->by_device ? 1 : x->children;
    const size_t one = 1;
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    for (cl_uint i = 0; i < launches && rc == CL_SUCCESS; i++)
        rc = clEnqueueNDRangeKernel(queue, x->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    return finished(x->l, rc, start, ns, "children", err);
}

static tsr_status check_children(void *state, tsr_error *err)
{
    const born *x = state;
    const cl_uint none = 0;
    cl_uint count = 0, failed = 0;
    double ns;
    tsr_status st = write_words(x->l, x->count, &none, 1, err);

    st = st ? st : write_words(x->l, x->failed, &none, 1, err);
    st = st ? st : run_children(state, &ns, err);
    st = st ? st : rig_read(&x->l->rig, x->count, &count, sizeof(count), err);
    st = st ? st : rig_read(&x->l->rig, x->failed, &failed, sizeof(failed), err);
    if (!st && (count != x->children || failed))
        st = tsr_fail(err, TSR_EBOUND, 0, "%u launches have run %u times, and %u were refused",
                      x->children, count, failed);
    return st;
}

static tsr_status measure_births(lab *l, born *x, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (x->children = 1; x->children <= 256 && !st; x->children *= 4) {
        const rig_arg args[] = {{&x->count, sizeof(cl_mem)},
                                {&x->failed, sizeof(cl_mem)},
                                {&x->children, sizeof(x->children)}};

        st = rig_args(x->kernel, args, x->by_device ? 3 : 1, err);
        st = st ? st
                : lab_measure(l,
                              &(lab_point){.series = x->by_device ? "by the device" : "by the host",
                                           .x = lab_number(x->children).at,
                                           .run = run_children,
                                           .check = check_children,
                                           .state = x,
                                           .amount = (double)x->children,
                                           .wall = true,
                                           .base = !x->by_device && x->children == 1},
                              err);
    }
    return st;
}

cl_command_queue lab_device_queue(const lab *l)
{
    static const cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT,
        0};
    cl_device_id id = l->rig.session->device.id;
    cl_device_device_enqueue_capabilities can = 0;
    cl_int rc;

    if (!query(id, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, &can, sizeof(can)))
        can = 0;
    if (!can && !(l->rig.facts->nvidia && l->rig.facts->kind == DEVICE_GPU))
        return NULL;
    return clCreateCommandQueueWithProperties(l->rig.session->context, id, properties, &rc);
}

static tsr_status measure_children(lab *l, tsr_error *err)
{
    born x = {.l = l};
    cl_command_queue on_device = NULL;
    tsr_error why = {0};
    tsr_status st = lab_kernel(l, "", "lab_children_plain", &x.kernel, err);

    st = st ? st : rig_buffer(&l->rig, CL_MEM_READ_WRITE, sizeof(cl_uint), &x.count, err);
    st = st ? st : rig_buffer(&l->rig, CL_MEM_READ_WRITE, sizeof(cl_uint), &x.failed, err);
    st = st ? st : measure_births(l, &x, err);
    on_device = st ? NULL : lab_device_queue(l);
    x.by_device = true;
    if (!st && !on_device)
        lab_skip(l, "by the device", "", "the device has no queues of its own");
    else if (!st &&
             lab_kernel(l, "-DENQUEUE -cl-std=CL3.0", "lab_children_enqueue", &x.kernel, &why))
        lab_skip(l, "by the device", "", why.message);
    else if (!st)
        st = measure_births(l, &x, err);
    if (on_device)
        clReleaseCommandQueue(on_device);
    if (x.count)
        clReleaseMemObject(x.count);
    if (x.failed)
        clReleaseMemObject(x.failed);
    return st;
}

const experiment lab_children = {
    .name = "children",
    .summary = "1 to 256 launches, by the host or by a kernel: device-side enqueue",
    .knob = "children",
    .unit = "us",
    .claim =
        "Dynamic parallelism lets a kernel launch kernels, where only the device knows what is "
        "to be done next: recursion, adaptive meshes. A launch by the device is not free, and "
        "seldom pays.",
    .on_cpu =
        "Runtimes on CPUs offer no queues on the device: the first rows show what a launch by "
        "the host costs there.",
    .on_gpu =
        "A launch by the device goes through the same front end as one of the host's, and has "
        "to be written to memory first: it costs more than one of many that the host "
        "enqueues. What it saves is the way to the host and back.",
    .source = "lab/lab_children.cl",
    .measure = measure_children,
};
