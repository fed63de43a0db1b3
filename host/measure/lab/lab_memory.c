/* Experiments on global memory. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "measure/lab/experiments.h"

/* Words that hold their own numbers, and sums of them. */
typedef struct summed {
    cl_mem array, sums;
} summed;

static tsr_status make_summed(const lab *l, size_t sums, summed *out, tsr_error *err)
{
    tsr_status st = lab_numbers(l, l->size, &out->array, err);

    return st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, sums * 4, &out->sums, err);
}

static void drop_summed(summed *x)
{
    if (x->sums)
        clReleaseMemObject(x->sums);
    if (x->array)
        clReleaseMemObject(x->array);
}

/* ---- stride --------------------------------------------------------------------------------- */

enum { STRIDE_READS = 16, STRIDE_MAX = 32 };

typedef struct strided {
    uint32_t stride, items;
} strided;

/* The words hold their own numbers. */
static uint32_t expect_read(const void *context, size_t item)
{
    const strided *x = context;
    uint32_t sum = 0;

    for (uint32_t r = 0; r < STRIDE_READS; r++)
        sum += (r * x->items + (uint32_t)item) * x->stride;
    return sum;
}

/* The words between those that are written stay as they were. */
static uint32_t expect_written(const void *context, size_t word)
{
    const strided *x = context;

    return word % x->stride ? 0xFFFFFFFFu : (uint32_t)word / x->stride;
}

static tsr_status measure_stride(lab *l, tsr_error *err)
{
    summed memory = {0};
    tsr_status st;

    l->size = size_round_up(l->size, (size_t)STRIDE_MAX * STRIDE_READS * LAB_GROUP);
    st = make_summed(l, l->size / STRIDE_READS, &memory, err);
    for (int write = 0; write < 2; write++) {
        for (uint32_t stride = 1; stride <= STRIDE_MAX && !st; stride *= 2) {
            const size_t items = l->size / stride / STRIDE_READS;
            const strided x = {stride, (uint32_t)items};
            const rig_arg args[] = {{&memory.array, sizeof(cl_mem)},
                                    {&memory.sums, sizeof(cl_mem)}};
            char options[64];

            snprintf(options, sizeof(options), "-DSTRIDE=%u -DREADS=%d", stride, STRIDE_READS);
            st = lab_measure_kernel(
                l,
                (lab_launch){.entry = write ? "lab_stride_write" : "lab_stride_read",
                             .options = options,
                             .args = args,
                             .arg_count = write ? 1 : 2,
                             .global = items,
                             .local = LAB_GROUP,
                             .out = write ? memory.array : memory.sums,
                             .words = write ? l->size : items,
                             .expected = write ? expect_written : expect_read,
                             .context = &x},
                (lab_point){.series = write ? "write" : "read",
                            .x = lab_number(stride).at,
                            .amount = (double)(items * STRIDE_READS * 4),
                            .base = stride == 1,
                            .claim = 1.0 / stride},
                err);
        }
    }
    drop_summed(&memory);
    return st;
}

const experiment lab_stride = {
    .name = "stride",
    .summary = "neighbouring work-items touch words that lie apart: coalescing",
    .knob = "stride",
    .counted = "words",
    .size_cpu = (size_t)1 << 25,
    .size = (size_t)1 << 28,
    .group = LAB_GROUP,
    .unit = "GB/s",
    .claim =
        "Memory moves in lines of 128 bytes. The 32 work-items of a warp that read 32 words side "
        "by side need one; words that lie 32 apart need 32 lines, and 97% of what moves is thrown "
        "away. So each doubling of the stride halves the useful rate.",
    .on_cpu =
        "A CPU has no warps: each core walks through the work-items of a group one after "
        "another. It too moves whole lines, of 64 bytes or 16 words, so the useful rate falls "
        "until the stride is 16; what else it loses or keeps is the work of its caches and of "
        "its prefetcher, which guesses the next line of a regular walk.",
    .on_gpu =
        "The rate halves only as far as whole sectors are wasted: a line of 128 bytes has four "
        "of 32, and those that nobody asked for stay in memory. From stride 8 on each word "
        "costs one sector, however far apart they lie; what is lost beyond that, the "
        "memory's own bursts and pages lose.",
    .source = "lab/lab_stride.cl",
    .measure = measure_stride,
};

/* ---- structures ----------------------------------------------------------------------------- */

enum { RECORD_READS = 4, FIELDS_MAX = 16 };

typedef struct recorded {
    uint32_t fields, items;
    bool all, arrays;
} recorded;

static uint32_t expect_fields(const void *context, size_t item)
{
    const recorded *x = context;
    const uint32_t records = x->items * RECORD_READS;
    uint32_t sum = 0;

    for (uint32_t r = 0; r < RECORD_READS; r++) {
        const uint32_t record = r * x->items + (uint32_t)item;

        for (uint32_t f = 0; f < (x->all ? x->fields : 1); f++)
            sum += x->arrays ? f * records + record : record * x->fields + f;
    }
    return sum;
}

static tsr_status measure_structures(lab *l, tsr_error *err)
{
    static const char *const names[2][2] = {{"one field, records", "one field, arrays"},
                                            {"all fields, records", "all fields, arrays"}};
    summed memory = {0};
    tsr_status st;

    l->size = size_round_up(l->size, (size_t)FIELDS_MAX * RECORD_READS * LAB_GROUP);
    st = make_summed(l, l->size / RECORD_READS, &memory, err);
    for (uint32_t fields = 1; fields <= FIELDS_MAX && !st; fields *= 2) {
        for (int layout = 0; layout < 4 && !st; layout++) {
            const size_t items = l->size / fields / RECORD_READS;
            const recorded x = {fields, (uint32_t)items, layout >= 2, layout % 2 == 0};
            const rig_arg args[] = {{&memory.array, sizeof(cl_mem)},
                                    {&memory.sums, sizeof(cl_mem)}};
            char options[96];

            snprintf(options, sizeof(options), "-DFIELDS=%u -DREADS=%d -DALL=%d -DARRAYS=%d",
                     fields, RECORD_READS, x.all, x.arrays);
            st = lab_measure_kernel(
                l,
                (lab_launch){.entry = "lab_structures",
                             .options = options,
                             .args = args,
                             .arg_count = 2,
                             .global = items,
                             .local = LAB_GROUP,
                             .out = memory.sums,
                             .words = items,
                             .expected = expect_fields,
                             .context = &x},
                (lab_point){.series = names[x.all][x.arrays],
                            .x = lab_number(fields).at,
                            .amount = (double)(items * RECORD_READS * 4) * (x.all ? fields : 1),
                            .base = !x.all && x.arrays,
                            .claim = layout == 1 ? 1.0 / fields : 0},
                err);
        }
    }
    drop_summed(&memory);
    return st;
}

const experiment lab_structures = {
    .name = "structures",
    .summary = "records of 1 to 16 fields, as an array of structures or a structure of arrays",
    .knob = "fields",
    .counted = "words",
    .size_cpu = (size_t)1 << 24,
    .size = (size_t)1 << 28,
    .group = LAB_GROUP,
    .unit = "GB/s",
    .claim =
        "Reading one field of each record of an array of structures moves the others too, and "
        "throws them away. A structure of arrays puts equal fields side by side, where neighbours "
        "read them in one line.",
    .on_cpu =
        "A CPU moves lines too, so it loses alike where one field is wanted. Where all are, it may "
        "even prefer the records: a core reads one stream of memory in place of many, and its "
        "prefetcher follows only so many.",
    .on_gpu =
        "One field of a record costs no more than a sector of 32 bytes, 8 words, so records of 16 "
        "lose hardly more than records of 8. Where all fields are wanted, the lines of the records "
        "stay in the first cache until their other words are read, and little is lost.",
    .source = "lab/lab_structures.cl",
    .measure = measure_structures,
};

/* ---- latency -------------------------------------------------------------------------------- */

/* A line of 128 bytes for each place of a ring in global memory; a word in the small ones; pixels
 * in a row of an image. */
enum { RING_LINE = 32, RING_SMALL = 1024, RING_IMAGE = 32 };

typedef struct chase {
    const lab *l;
    cl_kernel kernel;
    size_t local;
    cl_mem out;
    uint32_t *next; /* as the device has it */
    cl_uint at, steps;
} chase;

/* One cycle through all places, each as likely to follow as any: S. Sattolo, "An algorithm to
 * generate a random cyclic permutation", 1986. */
static uint32_t *make_ring(size_t places, size_t words)
{
    uint32_t *next = calloc(places, words * sizeof(*next)), *order;
    uint64_t state = 1;

    order = malloc(places * sizeof(*order));
    for (size_t i = 0; order && i < places; i++)
        order[i] = (uint32_t)i;
    for (size_t i = places - 1; next && order && i > 0; i--) {
        const size_t j = random_u64(&state) % i;
        const uint32_t other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    for (size_t i = 0; next && order && i < places; i++)
        next[order[i] * words] = (uint32_t)(order[(i + 1) % places] * words);
    if (!order) {
        free(next);
        next = NULL;
    }
    free(order);
    return next;
}

/* Each run goes on where the one before it ended, so that a large ring is not walked in a cache. */
static tsr_status run_chase(void *state, double *ns, tsr_error *err)
{
    chase *x = state;
    const cl_int rc = clSetKernelArg(x->kernel, 2, sizeof(x->at), &x->at);
    tsr_status st = rc == CL_SUCCESS
                        ? rig_launch(&x->l->rig, x->kernel, x->local, x->local, ns, err)
                        : tsr_fail(err, TSR_ECL, rc, "clSetKernelArg(2)");

    for (cl_uint i = 0; i < x->steps; i++)
        x->at = x->next[x->at];
    return st;
}

static tsr_status check_chase(void *state, tsr_error *err)
{
    chase *x = state;
    cl_uint got = 0;
    double ns;
    tsr_status st = run_chase(state, &ns, err);

    st = st ? st : rig_read(&x->l->rig, x->out, &got, sizeof(got), err);
    if (!st && got != x->at)
        st = tsr_fail(err, TSR_EBOUND, 0, "the walk ended at word %u, not %u", got, x->at);
    return st;
}

/* A ring of `places`, `words` from one to the next; in local memory a group of `local` fills it. */
typedef struct ring {
    const char *series, *entry;
    size_t places, words, local;
    double claim; /* 0: none */
    bool image;   /* of RING_IMAGE pixels a row */
} ring;

static tsr_status make_image(const lab *l, uint32_t *pixels, size_t count, cl_mem *out,
                             tsr_error *err)
{
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = RING_IMAGE,
                                 .image_height = count / RING_IMAGE};
    cl_int rc;

    *out = clCreateImage(l->rig.session->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                         &shape, pixels, &rc);
    return *out ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "clCreateImage(%zu pixels)", count);
}

static tsr_status measure_ring(lab *l, const ring *r, tsr_error *err)
{
    const size_t bytes = r->places * r->words * sizeof(uint32_t);
    chase x = {.l = l,
               .local = r->local,
               .next = make_ring(r->places, r->words),
               .steps = (cl_uint)l->size};
    cl_mem next = NULL;
    char options[32];
    tsr_status st = x.next ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for the ring");

    if (r->image)
        snprintf(options, sizeof(options), "-DWORDS=%d -DIMAGE=%d", RING_SMALL, RING_IMAGE);
    else
        snprintf(options, sizeof(options), "-DWORDS=%d", RING_SMALL);
    st = st         ? st
         : r->image ? make_image(l, x.next, r->places, &next, err)
                    : lab_upload(l, x.next, bytes, &next, err);
    st = st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, sizeof(cl_uint), &x.out, err);
    st = st ? st : lab_kernel(l, options, r->entry, &x.kernel, err);
    st = st ? st
            : rig_args(x.kernel,
                       (rig_arg[]){{&next, sizeof(next)},
                                   {&x.out, sizeof(x.out)},
                                   {&x.at, sizeof(x.at)},
                                   {&x.steps, sizeof(x.steps)}},
                       4, err);
    st = st ? st
            : lab_measure(l,
                          &(lab_point){.series = r->series,
                                       .x = lab_bytes(bytes).at,
                                       .run = run_chase,
                                       .check = check_chase,
                                       .state = &x,
                                       .amount = (double)l->size,
                                       .claim = r->claim},
                          err);
    if (x.out)
        clReleaseMemObject(x.out);
    if (next)
        clReleaseMemObject(next);
    free(x.next);
    return st;
}

/* A multiply-add that waits for the one before it: nothing is loaded. */
enum { REGISTER_MUL = 5, REGISTER_ADD = 7 };

static uint32_t expect_registers(const void *context, size_t item)
{
    const lab_affine all =
        lab_affine_power((lab_affine){REGISTER_MUL, REGISTER_ADD}, *(const cl_uint *)context);

    (void)item;
    return all.mul + all.add; /* from 1 on */
}

static tsr_status measure_registers_latency(lab *l, tsr_error *err)
{
    const cl_uint start = 1, mul = REGISTER_MUL, add = REGISTER_ADD, steps = (cl_uint)l->size;
    cl_mem out = NULL;
    const rig_arg args[] = {{&out, sizeof(out)},
                            {&start, sizeof(start)},
                            {&mul, sizeof(mul)},
                            {&add, sizeof(add)},
                            {&steps, sizeof(steps)}};
    char options[32];
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, sizeof(cl_uint), &out, err);

    snprintf(options, sizeof(options), "-DWORDS=%d", RING_SMALL);
    st = st ? st
            : lab_measure_kernel(l,
                                 (lab_launch){.entry = "lab_latency_registers",
                                              .options = options,
                                              .args = args,
                                              .arg_count = ARRAY_COUNT(args),
                                              .global = 1,
                                              .local = 1,
                                              .out = out,
                                              .words = 1,
                                              .expected = expect_registers,
                                              .context = &steps},
                                 (lab_point){.series = "registers",
                                             .x = lab_bytes(sizeof(cl_uint)).at,
                                             .amount = (double)steps},
                                 err);
    if (out)
        clReleaseMemObject(out);
    return st;
}

/* The lanes of a warp walk through constant memory side by side: on one word, or `apart`. */
enum { LANES_TABLE = 256 };

typedef struct lanes {
    uint32_t apart, steps;
} lanes;

/* By the table of lab_latency.cl. */
static uint32_t expect_lane(const void *context, size_t lane)
{
    const lanes *x = context;
    uint32_t at = (uint32_t)lane * x->apart % LANES_TABLE;

    for (uint32_t i = 0; i < x->steps; i++)
        at = (at * 5 + 1) % LANES_TABLE;
    return at;
}

static tsr_status measure_lanes(lab *l, uint32_t apart, tsr_error *err)
{
    const size_t count = size_min(32, l->group_max);
    const lanes x = {apart, (uint32_t)l->size};
    cl_mem out = NULL;
    const rig_arg args[] = {{&out, sizeof(out)}, {&x.steps, sizeof(x.steps)}};
    char options[64];
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, count * sizeof(cl_uint), &out, err);

    snprintf(options, sizeof(options), "-DWORDS=%d -DAPART=%u -DTABLE=%d", RING_SMALL, apart,
             LANES_TABLE);
    st = st ? st
            : lab_measure_kernel(
                  l,
                  (lab_launch){.entry = "lab_latency_constant_lanes",
                               .options = options,
                               .args = args,
                               .arg_count = ARRAY_COUNT(args),
                               .global = count,
                               .local = count,
                               .out = out,
                               .words = count,
                               .expected = expect_lane,
                               .context = &x},
                  (lab_point){.series = apart ? "constant, apart" : "constant, shared",
                              .x = lab_bytes(LANES_TABLE * sizeof(cl_uint)).at,
                              .amount = (double)x.steps,
                              .claim = apart ? 0 : 20},
                  err);
    if (out)
        clReleaseMemObject(out);
    return st;
}

static tsr_status measure_latency(lab *l, tsr_error *err)
{
    const size_t largest = l->rig.cpu ? (size_t)64 << 20 : (size_t)256 << 20;
    const size_t group = size_min(LAB_GROUP, l->group_max);
    const ring small[] = {{"local", "lab_latency_local", RING_SMALL, 1, group, 30, false},
                          {"constant", "lab_latency_constant", RING_SMALL, 1, 1, 20, false},
                          {"image", "lab_latency_image", RING_SMALL, 1, 1, 0, true}};
    ring global = {"global", "lab_latency_global", 0, RING_LINE, 1, 0, false};
    tsr_status st = measure_registers_latency(l, err);

    for (size_t i = 0; i < ARRAY_COUNT(small) && !st; i++) {
        if (small[i].image && l->rig.facts->image_width < RING_IMAGE)
            lab_skip(l, small[i].series, "", "the device has no images of one channel");
        else
            st = measure_ring(l, &small[i], err);
    }
    st = st ? st : measure_lanes(l, 0, err);
    st = st ? st : measure_lanes(l, 1, err);
    for (size_t bytes = 4096; bytes <= largest && !st && !l->ended; bytes *= 4) {
        global.places = bytes / (RING_LINE * sizeof(uint32_t));
        global.claim = bytes <= (size_t)64 << 10 ? 30 : bytes <= (size_t)16 << 20 ? 200 : 600;
        st = measure_ring(l, &global, err);
    }
    return st;
}

const experiment lab_latency = {
    .name = "latency",
    .summary = "cycles from one load to the next that needs it: registers, memories, caches",
    .knob = "bytes",
    .counted = "steps",
    .size_cpu = 8192,
    .size = 16384,
    .unit = "cycles",
    .claims_values = true,
    .claim =
        "A load from local memory or the first cache takes 20 to 40 cycles, from constant memory "
        "in its cache 20, from the second cache about 200, and from memory about 600. (Some "
        "courses say 5, 30 and 400.) What is in registers takes none; constant memory gives one "
        "word to all lanes of a warp at once.",
    .on_cpu =
        "A CPU waits for each load as well, but its first cache answers within 4 or 5 cycles, and "
        "it has no local or constant memory of its own: both are ordinary memory, in that cache. "
        "So is an image, but a function computes where each pixel lies. Its caches are larger, "
        "too, so a step comes elsewhere. Cycles are those of the clock that the device reports. Of "
        "32 lanes each walks by itself, one after another.",
    .on_gpu =
        "The order is what matters, and it holds: each level is several times as far as the one "
        "before. How far is the chip's own. Registers have no latency of their own, but the "
        "multiply-add has, a few cycles. NVIDIA's driver keeps a table of a program in constant "
        "memory, and a __constant argument in global memory. Lanes that want different words of "
        "constant memory take "
        "turns. Cycles are those of the clock that the device reports, which it may not run at.",
    .source = "lab/lab_latency.cl",
    .measure = measure_latency,
};

/* ---- warps ---------------------------------------------------------------------------------- */

typedef struct walked {
    uint64_t items, words; /* of each item */
} walked;

/* item + (item + items) + (item + 2 items) + ... */
static uint32_t expect_walk(const void *context, size_t item)
{
    const walked *x = context;

    return (uint32_t)(x->words * item + x->items * (x->words * (x->words - 1) / 2));
}

static tsr_status measure_warps(lab *l, tsr_error *err)
{
    const size_t units = l->units, group = 32, most = 4;
    summed memory = {0};
    tsr_status st;

    l->size = size_round_up(l->size, units * 2048 * most);
    st = make_summed(l, units * 2048, &memory, err);
    for (size_t loads = 1; loads <= most; loads *= most) {
        for (size_t each = group; each <= 2048 && !st; each *= 2) {
            const size_t items = units * each;
            const cl_uint rounds = (cl_uint)(l->size / items / loads);
            const walked x = {items, rounds * loads};
            const rig_arg args[] = {{&memory.array, sizeof(cl_mem)},
                                    {&memory.sums, sizeof(cl_mem)},
                                    {&rounds, sizeof(rounds)}};
            char options[32];

            snprintf(options, sizeof(options), "-DLOADS=%zu", loads);
            st = lab_measure_kernel(
                l,
                (lab_launch){.entry = "lab_warps",
                             .options = options,
                             .args = args,
                             .arg_count = 3,
                             .global = items,
                             .local = group,
                             .out = memory.sums,
                             .words = items,
                             .expected = expect_walk,
                             .context = &x},
                (lab_point){.series = loads == 1 ? "one load" : "four loads",
                            .x = lab_number(each).at,
                            .amount = 4.0 * (double)(items * x.words),
                            .base = loads == 1 && each == group,
                            /* Until memory is busy. */
                            .claim = loads == 1 && each <= 512 ? (double)each / (double)group : 0},
                err);
        }
    }
    drop_summed(&memory);
    return st;
}

const experiment lab_warps = {
    .name = "warps",
    .summary = "32 to 2048 work-items a compute unit read memory: latency hiding",
    .knob = "items",
    .counted = "words",
    .size_cpu = (size_t)1 << 22,
    .size = (size_t)1 << 26,
    .group = 32,
    .unit = "GB/s",
    .claim =
        "One warp waits hundreds of cycles for a load. With 64 of them on a unit, another runs "
        "meanwhile, and nothing is idle: twice the warps, twice the rate, until memory can bring "
        "no more.",
    .on_cpu =
        "A core of a CPU runs one work-item after another, and hides latency by itself: it looks "
        "ahead, has many loads under way, and prefetches. So more work-items give it no more to "
        "hide latency with.",
    .on_gpu =
        "The rate grows with the loads under way, wherever they come from: four loads of each "
        "work-item do what four times the warps do. A compiler or a chip that begins the next load "
        "before the last is used makes more of few warps.",
    .source = "lab/lab_warps.cl",
    .measure = measure_warps,
};
