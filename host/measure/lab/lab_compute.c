/* Experiments on instructions: how many are under way, of which kind, and which way they go. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "measure/lab/experiments.h"

static const cl_float one = 1;

/* ---- chains --------------------------------------------------------------------------------- */

/* So many rounds add up exactly in a float. */
enum { CHAINS_MAX = 8, CHAINS_ITEMS_MAX = 2048, CHAINS_ROUNDS_MAX = 1 << 20 };

typedef struct chained {
    uint32_t chains, rounds, group;
} chained;

static uint32_t expect_chains(const void *context, size_t item)
{
    const chained *x = context;

    return x->chains * ((uint32_t)(item % x->group) + x->rounds) + x->chains * (x->chains - 1) / 2;
}

static tsr_status measure_chains(lab *l, tsr_error *err)
{
    const size_t units = l->units, group = 32;
    const cl_uint rounds = (cl_uint)l->size;
    cl_mem out = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, units * CHAINS_ITEMS_MAX * 4, &out, err);

    l->size = rounds;
    for (size_t each = group; each <= CHAINS_ITEMS_MAX; each *= 4) {
        for (uint32_t chains = 1; chains <= CHAINS_MAX && !st; chains *= 2) {
            const chained x = {chains, rounds, (uint32_t)group};
            const size_t items = units * each;
            const rig_arg args[] = {{&out, sizeof(out)},
                                    {&rounds, sizeof(rounds)},
                                    {&one, sizeof(one)},
                                    {&one, sizeof(one)}};
            char options[32], series[32];

            snprintf(options, sizeof(options), "-DCHAINS=%u", chains);
            snprintf(series, sizeof(series), "%zu items a unit", each);
            st = lab_measure_kernel(l,
                                    (lab_launch){.entry = "lab_chains",
                                                 .options = options,
                                                 .args = args,
                                                 .arg_count = 4,
                                                 .global = items,
                                                 .local = group,
                                                 .out = out,
                                                 .words = items,
                                                 .expected = expect_chains,
                                                 .context = &x},
                                    (lab_point){.series = series,
                                                .x = lab_number(chains).at,
                                                .amount = 2.0 * chains * rounds * (double)items,
                                                .base = each == group && chains == 1,
                                                .claim = each == group ? chains : 0},
                                    err);
        }
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_chains = {
    .name = "chains",
    .summary = "independent multiply-adds of one work-item against more work-items: ILP and TLP",
    .knob = "chains",
    .counted = "rounds",
    .size_cpu = 1024,
    .size = 16384,
    .size_max = CHAINS_ROUNDS_MAX,
    .group = 32,
    .unit = "GFLOP/s",
    .claim =
        "An instruction waits for the one whose result it needs. Independent instructions of a "
        "work-item, or other warps, fill the cycles between: one warp with two chains does twice "
        "as "
        "much, until the unit is full. Warps are the first means, chains the second.",
    .on_cpu =
        "A core of a CPU runs the work-items of a group one after another, or a vector of them at "
        "once. It looks ahead by itself and finds independent instructions in the next work-items "
        "as well as in one; what helps is that a compiler makes vectors of them.",
    .on_gpu =
        "With few warps the chains count, with many they do not: then each cycle has another warp "
        "that is ready. Where more chains make it slower, they need more registers.",
    .source = "lab/lab_chains.cl",
    .measure = measure_chains,
};

/* ---- subdevices ----------------------------------------------------------------------------- */

/* Wait until the only reference to a queue or a context is ours, at most a second. */
static void wait_for_last_reference(cl_command_queue queue, cl_context context)
{
    enum { POLLS = 10000 };
    static const struct timespec pause = {.tv_nsec = 100000};
    cl_uint holders = 0;

    for (int i = 0; i < POLLS; i++) {
        const cl_int rc = queue ? clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT,
                                                        sizeof(holders), &holders, NULL)
                                : clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT,
                                                   sizeof(holders), &holders, NULL);

        if (rc != CL_SUCCESS || holders <= 1)
            return;
        nanosleep(&pause, NULL);
    }
}

/* Close what measured a part of a device, which may be released then.  Before 4.0 (its issue 1229)
 * PoCL's contexts do not retain a sub-device, so the part must outlive all that holds them: the
 * worker thread, which drops its event, and with it the queue, only after it woke those who wait;
 * and the thread that destroys a session's context in the background.  A queue whose last reference
 * is ours is freed here, and no worker reads its device any more. */
static void close_part(tsr_session *s, rig *r)
{
    cl_command_queue queues[] = {r->timed, r->queue[0], r->queue[1], tsr_session_queue(s)};
    cl_context context = tsr_session_context(s);

    if (clRetainContext(context) != CL_SUCCESS)
        context = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(queues); i++)
        if (queues[i] && clRetainCommandQueue(queues[i]) != CL_SUCCESS)
            queues[i] = NULL;
    rig_close(r);
    tsr_session_close(s);
    for (size_t i = 0; i < ARRAY_COUNT(queues); i++) {
        if (!queues[i])
            continue;
        wait_for_last_reference(queues[i], NULL);
        clReleaseCommandQueue(queues[i]);
    }
    if (context) {
        wait_for_last_reference(NULL, context);
        clReleaseContext(context);
    }
}

/* Measure a launch of lab_chains on a part of the device, in a session of the part's own. */
static tsr_status measure_part(lab *l, cl_device_id id, lab_launch launch, const lab_point *p,
                               tsr_error *err)
{
    const tsr_session *whole = l->rig.session;
    const tsr_session_options how = {.kernel_dir = text_get(&whole->kernel_dir), .no_cache = 1};
    tsr_device device = whole->device;
    tsr_session *s = NULL;
    const cl_uint rounds = (cl_uint)l->size;
    lab part = *l;
    tsr_status st;

    device.id = id;
    part.rig = (rig){0};
    st = tsr_session_open(&device, &how, &s, err);
    st = st ? st : rig_open(s, &part.rig, err);
    st = st ? st : rig_buffer(&part.rig, CL_MEM_WRITE_ONLY, launch.words * 4, &launch.out, err);
    launch.args = (rig_arg[]){{&launch.out, sizeof(launch.out)},
                              {&rounds, sizeof(rounds)},
                              {&one, sizeof(one)},
                              {&one, sizeof(one)}};
    launch.arg_count = 4;
    st = st ? st : lab_measure_kernel(&part, launch, *p, err);
    if (launch.out)
        clReleaseMemObject(launch.out);
    if (s)
        close_part(s, &part.rig);
    l->base = part.base;
    l->ended = part.ended;
    return st;
}

static bool divides_by_counts(const lab *l)
{
    cl_device_partition_property ways[16] = {0};
    size_t bytes = 0;

    if (clGetDeviceInfo(l->rig.session->device.id, CL_DEVICE_PARTITION_PROPERTIES, sizeof(ways),
                        ways, &bytes) != CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof(*ways); i++)
        if (ways[i] == CL_DEVICE_PARTITION_BY_COUNTS)
            return true;
    return false;
}

static tsr_status measure_subdevices(lab *l, tsr_error *err)
{
    const size_t items = lab_full_items(l, LAB_GROUP);
    const chained x = {CHAINS_MAX, (uint32_t)l->size, LAB_GROUP};
    char options[32];
    tsr_status st = TSR_OK;

    if (l->units < 2 || !divides_by_counts(l)) {
        lab_skip(l, "", "",
                 l->units < 2 ? "the device has one compute unit"
                              : "the device cannot be divided by counts of compute units");
        return TSR_OK;
    }
    snprintf(options, sizeof(options), "-DCHAINS=%d", CHAINS_MAX);
    for (size_t units = 1; !st && !l->ended; units = size_min(2 * units, l->units)) {
        const cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS,
                                                       (cl_device_partition_property)units,
                                                       CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        cl_device_id part = NULL;
        cl_int rc = clCreateSubDevices(l->rig.session->device.id, counts, 1, &part, NULL);

        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "clCreateSubDevices(%zu of %zu units)", units,
                            l->units);
        st = measure_part(l, part,
                          (lab_launch){.entry = "lab_chains",
                                       .options = options,
                                       .global = items,
                                       .local = LAB_GROUP,
                                       .words = items,
                                       .expected = expect_chains,
                                       .context = &x},
                          &(lab_point){.series = "multiply-adds",
                                       .x = lab_number(units).at,
                                       .amount = 2.0 * CHAINS_MAX * x.rounds * (double)items,
                                       .base = units == 1,
                                       .claim = (double)units},
                          err);
        clReleaseDevice(part);
        if (units == l->units)
            break;
    }
    return st;
}

const experiment lab_subdevices = {
    .name = "subdevices",
    .summary = "the same work on parts of the device, from one compute unit to all of them",
    .knob = "units",
    .counted = "rounds",
    .size_cpu = 8192,
    .size = 16384,
    .size_max = CHAINS_ROUNDS_MAX,
    .group = LAB_GROUP,
    .unit = "GFLOP/s",
    .claim =
        "Work-groups that need nothing of each other are spread over all compute units: twice the "
        "units, twice the rate, as long as there are many more groups than units and memory is not "
        "what binds.",
    .on_cpu =
        "A unit of a CPU is mostly one hardware thread. Two threads of one core share its "
        "arithmetic, so the second adds little; all cores at work run at a lower clock than one "
        "alone; and what other programs take is missing once all units are wanted.",
    .on_gpu = "Few drivers divide a GPU. What all units share does not grow with them: the clock, "
              "which falls as more of them work, and the way in which groups are handed out.",
    .source = "lab/lab_chains.cl",
    .measure = measure_subdevices,
};

/* ---- integers ------------------------------------------------------------------------------- */

enum { CHECKED_ROUNDS = 1 << 24 };

typedef struct mixed {
    uint32_t floats, integers, rounds;
    uint32_t mask, add;
} mixed;

static uint32_t expect_mixed(const void *context, size_t item)
{
    const mixed *x = context;
    uint32_t sum = 0;

    for (uint32_t c = 0; c < x->integers; c++) {
        uint32_t n = (uint32_t)item + c;

        for (uint32_t i = 0; i < x->rounds; i++)
            n = (n ^ x->mask) + x->add;
        sum += n;
    }
    return sum + x->floats * x->rounds + (x->floats ? x->floats * (x->floats - 1) / 2 : 0);
}

static tsr_status measure_integers(lab *l, tsr_error *err)
{
    static const struct {
        const char *name;
        unsigned floats, integers;
        double claim;
    } mixes[] = {{"float", 8, 0, 0}, {"integer", 0, 4, 1}, {"both", 8, 4, 2}};
    const size_t items = lab_full_items(l, LAB_GROUP);
    /* Each result is computed step by step on the host, too: of many rounds, fewer are checked. */
    const size_t words = size_min(size_min(items, 1024), size_max(1, CHECKED_ROUNDS / l->size));
    const cl_uint rounds = (cl_uint)l->size;
    cl_mem out = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, items * 4, &out, err);

    l->size = rounds;
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes && !st; i++) {
        const mixed x = {mixes[i].floats, mixes[i].integers, rounds, 0x5A5A5A5Au, 0x9E3779B9u};
        const rig_arg args[] = {{&out, sizeof(out)},       {&rounds, sizeof(rounds)},
                                {&one, sizeof(one)},       {&one, sizeof(one)},
                                {&x.mask, sizeof(x.mask)}, {&x.add, sizeof(x.add)}};
        char options[64];

        snprintf(options, sizeof(options), "-DFLOATS=%u -DINTEGERS=%u", x.floats, x.integers);
        st = lab_measure_kernel(
            l,
            (lab_launch){.entry = "lab_integers",
                         .options = options,
                         .args = args,
                         .arg_count = 6,
                         .global = items,
                         .local = LAB_GROUP,
                         .out = out,
                         .words = words,
                         .expected = expect_mixed,
                         .context = &x},
            (lab_point){.series = "instructions",
                        .x = mixes[i].name,
                        .amount = (double)(x.floats + 2 * x.integers) * rounds * (double)items,
                        .base = i == 0,
                        .claim = mixes[i].claim},
            err);
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_integers = {
    .name = "integers",
    .summary = "multiply-adds alone, integer operations alone, and both side by side",
    .knob = "work",
    .counted = "rounds",
    .size_cpu = 512,
    .size = 8192,
    .size_max = CHAINS_ROUNDS_MAX,
    .group = LAB_GROUP,
    .unit = "Gop/s",
    .claim = "Lanes for float and lanes for integers run in the same cycle: as many integer "
             "operations as "
             "multiply-adds are free, and both together do twice as much.",
    .on_cpu =
        "A core of a CPU begins several instructions a cycle, of either kind, and has vectors for "
        "both. Which of them share a place where they wait for each other differs from chip to "
        "chip.",
    .on_gpu =
        "A scheduler issues one instruction a cycle, whatever its kind. Integer lanes are mostly "
        "half as many, so integers alone reach half the rate; side by side both come to what the "
        "scheduler issues, the rate of multiply-adds alone. The integers are not free.",
    .source = "lab/lab_integers.cl",
    .measure = measure_integers,
};

/* ---- divergence ----------------------------------------------------------------------------- */

enum { PATHS_MAX = 32 };

typedef struct diverged {
    lab_affine of[PATHS_MAX]; /* what all steps of a path do to a value */
    uint32_t *path;           /* of each item */
    size_t items;
    cl_mem out;
} diverged;

static uint32_t expect_diverged(const void *context, size_t item)
{
    const diverged *x = context;
    const lab_affine *all = &x->of[x->path[item]];

    return (uint32_t)item * all->mul + all->add;
}

static tsr_status measure_paths(lab *l, diverged *x, bool sorted, uint32_t paths, tsr_error *err)
{
    const cl_uint steps = (cl_uint)l->size, first = 5;
    cl_mem given = NULL;
    char options[32];
    tsr_status st;

    for (size_t i = 0; i < x->items; i++)
        x->path[i] = (uint32_t)(sorted ? i * paths / x->items : i % paths);
    for (uint32_t p = 0; p < paths; p++)
        x->of[p] = lab_affine_power((lab_affine){4 * p + first, 1}, steps);
    snprintf(options, sizeof(options), "-DPATHS=%u", paths);
    st = lab_upload(l, x->path, x->items * 4, &given, err);
    st = st ? st
            : lab_measure_kernel(l,
                                 (lab_launch){.entry = "lab_divergence",
                                              .options = options,
                                              .args = (rig_arg[]){{&given, sizeof(given)},
                                                                  {&x->out, sizeof(x->out)},
                                                                  {&steps, sizeof(steps)},
                                                                  {&first, sizeof(first)}},
                                              .arg_count = 4,
                                              .global = x->items,
                                              .local = LAB_GROUP,
                                              .out = x->out,
                                              .words = x->items,
                                              .expected = expect_diverged,
                                              .context = x},
                                 (lab_point){.series = sorted ? "sorted" : "mixed",
                                             .x = lab_number(paths).at,
                                             .amount = (double)steps * (double)x->items,
                                             .base = !sorted && paths == 1,
                                             .claim = sorted ? 1 : 1.0 / paths},
                                 err);
    if (given)
        clReleaseMemObject(given);
    return st;
}

static tsr_status measure_divergence(lab *l, tsr_error *err)
{
    diverged x = {.items = lab_full_items(l, (size_t)LAB_GROUP * PATHS_MAX)};
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, x.items * 4, &x.out, err);

    x.path = st ? NULL : malloc(x.items * sizeof(*x.path));
    if (!st && !x.path)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu paths", x.items);

    for (int sorted = 0; sorted < 2; sorted++)
        for (uint32_t paths = 1; paths <= PATHS_MAX && !st; paths *= 2)
            st = measure_paths(l, &x, sorted, paths, err);
    if (x.out)
        clReleaseMemObject(x.out);
    free(x.path);
    return st;
}

const experiment lab_divergence = {
    .name = "divergence",
    .summary = "neighbours take 1 to 32 different ways, mixed or sorted by their way",
    .knob = "paths",
    .counted = "steps",
    .size_cpu = 512,
    .size = 4096,
    .group = LAB_GROUP,
    .unit = "Gop/s",
    .claim =
        "A warp walks each way that any of its work-items takes, with the others switched off: two "
        "ways take twice as long, 32 ways 32 times. Sort the input, so that neighbours take the "
        "same "
        "way, and nothing is lost.",
    .on_cpu =
        "A core of a CPU follows one work-item at a time, or a vector of them, and that takes only "
        "its own way: nobody waits for another, so that sorted and mixed ways are alike. Where "
        "there is one way alone, a compiler may make vectors of neighbours.",
    .on_gpu =
        "Where ways are short, what they have in common counts: the loop around them, and reading "
        "which way to go.",
    .source = "lab/lab_divergence.cl",
    .measure = measure_divergence,
};

/* ---- branches ------------------------------------------------------------------------------- */

typedef struct sides {
    lab_affine even, odd;
} sides;

/* The words hold their own numbers. */
static uint32_t expect_side(const void *context, size_t item)
{
    const sides *x = context;
    const lab_affine *all = item % 2 ? &x->odd : &x->even;

    return (uint32_t)item * all->mul + all->add;
}

static tsr_status measure_branches(lab *l, tsr_error *err)
{
    static const char *const kinds[] = {"ternary", "if", "arithmetic"};
    const size_t words = size_round_up(l->size, LAB_GROUP);
    cl_mem in = NULL, out = NULL;
    tsr_status st = lab_numbers(l, words, &in, err);

    l->size = words;
    st = st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, words * 4, &out, err);
    for (size_t steps = 1; steps <= 256; steps *= 4) {
        for (int kind = 0; kind < 3 && !st; kind++) {
            const sides x = {lab_affine_power((lab_affine){1664525u, 1013904223u}, steps),
                             lab_affine_power((lab_affine){22695477u, 1u}, steps)};
            const rig_arg args[] = {{&in, sizeof(in)}, {&out, sizeof(out)}};
            char options[32];

            snprintf(options, sizeof(options), "-DKIND=%d -DSTEPS=%zu", kind, steps);
            st = lab_measure_kernel(l,
                                    (lab_launch){.entry = "lab_branches",
                                                 .options = options,
                                                 .args = args,
                                                 .arg_count = 2,
                                                 .global = words,
                                                 .local = LAB_GROUP,
                                                 .out = out,
                                                 .words = words,
                                                 .expected = expect_side,
                                                 .context = &x},
                                    (lab_point){.series = kinds[kind],
                                                .x = lab_number(steps).at,
                                                .amount = (double)steps * (double)words,
                                                .base = kind == 0,
                                                .claim = kind == 2    ? 1
                                                         : kind == 0  ? 0
                                                         : steps == 1 ? 0.5
                                                                      : 0},
                                    err);
        }
    }
    if (out)
        clReleaseMemObject(out);
    if (in)
        clReleaseMemObject(in);
    return st;
}

const experiment lab_branches = {
    .name = "branches",
    .summary = "a branch, a ternary or arithmetic, where each side takes 1 to 256 steps",
    .knob = "steps",
    .counted = "words",
    .size_cpu = (size_t)1 << 16,
    .size = (size_t)1 << 22,
    .group = LAB_GROUP,
    .unit = "Gop/s",
    .claim =
        "A branch in which neighbours differ is two passes, twice as long; a ternary or arithmetic "
        "on the results of both sides is one. Where the sides are long, do not compute both: let "
        "the warp branch.",
    .on_cpu =
        "On a CPU nobody else walks the other side: a work-item that branches takes one alone. But "
        "a "
        "compiler may do as much for the others, since a result that is not wanted need not be "
        "computed, or as little for the branch; then all three are the same.",
    .on_gpu =
        "A short branch, a ternary and arithmetic are the same here: the compiler makes a choice "
        "of "
        "each. And of a long one each warp walks both sides either way, since it has even and odd "
        "items; the branch gains only where whole warps take one side.",
    .source = "lab/lab_branches.cl",
    .measure = measure_branches,
};

/* ---- registers ------------------------------------------------------------------------------ */

typedef struct registered {
    uint32_t values;
    lab_affine steps; /* of a chain, all rounds */
} registered;

static uint32_t expect_registered(const void *context, size_t item)
{
    const registered *x = context;
    const uint32_t start = x->values * (uint32_t)item + x->values * (x->values - 1) / 2;

    return start * x->steps.mul + x->values * x->steps.add;
}

static tsr_status measure_registers(lab *l, tsr_error *err)
{
    enum { VALUES_MAX = 256, GROUP = 128, CAPPED = 64 };
    const cl_uint rounds = (cl_uint)l->size, mul = 5, add = 1;
    const size_t group = size_min(GROUP, l->group_max);
    const size_t items = lab_full_items(l, group);
    const bool caps = l->rig.facts->nvidia;
    cl_mem out = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, items * 4, &out, err);

    for (int capped = 0; capped < 2 && !st; capped++) {
        if (capped && !caps) {
            lab_skip(l, "64 registers", "", "only NVIDIA's compiler takes a number of registers");
            break;
        }
        for (uint32_t values = 8; values <= VALUES_MAX && !st; values *= 2) {
            const registered x = {values, lab_affine_power((lab_affine){mul, add}, rounds)};
            const rig_arg args[] = {{&out, sizeof(out)},
                                    {&rounds, sizeof(rounds)},
                                    {&mul, sizeof(mul)},
                                    {&add, sizeof(add)}};
            char options[64];

            snprintf(options, sizeof(options), "-DVALUES=%u%s", values,
                     capped ? " -cl-nv-maxrregcount=64" : "");
            st = lab_measure_kernel(
                l,
                (lab_launch){.entry = "lab_registers",
                             .options = options,
                             .args = args,
                             .arg_count = 4,
                             .global = items,
                             .local = group,
                             .out = out,
                             .words = items,
                             .expected = expect_registered,
                             .context = &x},
                (lab_point){.series = capped ? "64 registers" : "as many as it takes",
                            .x = lab_number(values).at,
                            .amount = (double)values * rounds * (double)items,
                            .base = !capped && values == 8},
                err);
        }
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_registers = {
    .name = "registers",
    .summary = "8 to 256 values that a work-item has in registers: warps of a unit, and spilling",
    .knob = "values",
    .counted = "rounds",
    .size_cpu = 256,
    .size = 4096,
    .unit = "Gop/s",
    .claim =
        "A unit gives its registers out to all of its work-items: 32 of each leave room for 64 "
        "warps, 64 for 32, 128 for 16. Beyond 255 of a work-item, or beyond what the compiler "
        "is allowed, values spill to memory and come back for each use.",
    .on_cpu =
        "A core has 16 or 32 registers of its own, and one work-item or a vector of them at a "
        "time: what does not fit lies in the first cache, which costs a load and a store for "
        "each use. Other work-items do not lose by it.",
    .on_gpu =
        "Fewer warps do not matter here, since the chains of a work-item are independent of each "
        "other: what matters is spilling. Where only so many registers are allowed, it begins "
        "with fewer values.",
    .source = "lab/lab_registers.cl",
    .measure = measure_registers,
};
