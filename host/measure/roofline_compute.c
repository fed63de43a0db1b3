/* Arithmetic in registers, and local memory: launches whose every result the host computes too. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "measure/roofline_rig.h"

enum {
    STARTS = 4,      /* work-items i and i + STARTS compute the same */
    WIDTH_MAX = 16,  /* lanes of a vector */
    CHAINS_MAX = 16, /* of a work-item */
    LOCAL_DEPTH = 8  /* vectors of a row of local memory */
};

/* A kernel that repeats its work `steps` times, and how its results are judged. */
typedef struct repeated {
    const rig *rig;
    cl_kernel kernel;
    cl_mem out;
    size_t global, local;
    size_t item_bytes; /* that a work-item writes */
    size_t unit;       /* steps are a multiple of this */
    size_t steps_most;
    size_t checked_most; /* steps whose result is exact; 0: all are */
    double work;         /* operations or bytes of a step of a work-item */
    /* Set the arguments but for `out`, which is argument 0, for so many steps. */
    tsr_status (*prepare)(struct repeated *x, size_t steps, tsr_error *err);
    /* What work-item `item` writes. */
    void (*expect)(const struct repeated *x, size_t item, size_t steps, void *item_out);
    size_t kinds; /* work-items i and i + kinds write the same */
    /* For prepare and expect: */
    unsigned width, chains, rows, pitch, kind;
    bool is_double, fused, self;
    double factor, term;
    uint32_t seed;
} repeated;

static tsr_status run_repeated(void *state, double *ns, tsr_error *err)
{
    const repeated *x = state;

    return rig_launch(x->rig, x->kernel, x->global, x->local, ns, err);
}

/* Compare what the work-items wrote with what the host computes. */
static tsr_status judge(const repeated *x, const unsigned char *got, size_t steps, tsr_error *err)
{
    unsigned char *expected = malloc(x->kinds * x->item_bytes);
    size_t wrong = 0;

    if (!expected)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory to check a limit");
    for (size_t k = 0; k < x->kinds; k++)
        x->expect(x, k, steps, expected + k * x->item_bytes);
    for (size_t i = 0; i < x->global; i++)
        wrong += memcmp(got + i * x->item_bytes, expected + i % x->kinds * x->item_bytes,
                        x->item_bytes) != 0;
    free(expected);
    if (wrong)
        return tsr_fail(err, TSR_EBOUND, 0, "%zu of %zu work-items gave a wrong result", wrong,
                        x->global);
    return TSR_OK;
}

/* Run once with so many steps and check every work-item's result. */
static tsr_status check_repeated(repeated *x, size_t steps, tsr_error *err)
{
    const size_t bytes = x->global * x->item_bytes;
    unsigned char *got = malloc(bytes);
    tsr_status st = TSR_OK;

    if (!got)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory to check a limit");
    st = rig_spoil(x->rig, x->out, bytes, err);
    st = st ? st : x->prepare(x, steps, err);
    st = st ? st : rig_launch(x->rig, x->kernel, x->global, x->local, NULL, err);
    st = st ? st : rig_read(x->rig, x->out, got, bytes, err);
    st = st ? st : judge(x, got, steps, err);
    free(got);
    return st;
}

/* The number of steps that takes about a sample's time. */
static tsr_status find_steps(repeated *x, size_t *out, tsr_error *err)
{
    size_t steps = x->unit;
    tsr_status st;
    double ns = 0;

    for (;;) {
        st = x->prepare(x, steps, err);
        st = st ? st : rig_launch(x->rig, x->kernel, x->global, x->local, NULL, err);
        st = st ? st : rig_launch(x->rig, x->kernel, x->global, x->local, &ns, err);
        if (st || ns >= x->rig->sample_ns / 8 || steps >= x->steps_most / 4)
            break;
        steps *= 4;
    }
    if (st)
        return st;
    if (ns > 0)
        steps = (size_t)((double)steps * x->rig->sample_ns / ns);
    steps = size_min(size_max(steps, x->unit), x->steps_most);
    *out = steps / x->unit * x->unit;
    return TSR_OK;
}

/* Verify, then time.  The buffer is made and released here. */
static tsr_status measure_repeated(repeated *x, limit l, const char *how, limit_result *out,
                                   tsr_error *err)
{
    way w = {.run = run_repeated, .state = x, .how = how};
    size_t steps = 0, checked;
    tsr_status st = rig_buffer(x->rig, CL_MEM_READ_WRITE, x->global * x->item_bytes, &x->out, err);

    if (st)
        return st;
    st = find_steps(x, &steps, err);
    checked = x->checked_most ? size_min(steps, x->checked_most) : steps;
    st = st ? st : check_repeated(x, checked, err);
    st = st ? st : x->prepare(x, steps, err);
    w.amount = x->work * (double)steps * (double)x->global;
    st = st ? st : rig_sample(x->rig, &w, l, out, err);
    clReleaseMemObject(x->out);
    x->out = NULL;
    return st;
}

/* ---- how a device is filled ---------------------------------------------------------------- */

/* Vector lanes that the device's units are made for; 1 where lanes are work-items. */
static unsigned native_width(const rig *r, cl_device_info what)
{
    cl_uint width = 1;

    if (!r->cpu)
        return 1;
    query(r->session->device.id, what, &width, sizeof(width));
    if (width != 2 && width != 4 && width != 8 && width != 16)
        width = 1;
    return width;
}

/* Work-items: on a CPU single ones, many enough to even out; else full work-groups, several times
 * as many as the compute units hold at once. */
static void fill_device(repeated *x)
{
    const rig *r = x->rig;

    if (r->cpu) {
        x->local = 1;
        x->global = r->facts->compute_units * 128;
    } else {
        x->local = size_min(256, r->facts->max_work_group);
        x->global = r->facts->compute_units * 8192 / x->local * x->local;
    }
}

/* ---- multiply-adds ------------------------------------------------------------------------- */

static tsr_status prepare_multiply_add(repeated *x, size_t steps, tsr_error *err)
{
    const cl_uint n = (cl_uint)steps;
    /* A chain tends to 1.5 (0 where it adds itself) and 1/e of the way is left at the end: every
     * step changes the bits, and each number of steps gives others. */
    const double n_real = (double)steps;
    const double factor = x->self ? -1 / n_real : 1 - 1 / n_real, term = 1.5 / n_real;
    const float factor_f = (float)factor, term_f = (float)term;

    x->factor = x->is_double ? factor : factor_f;
    x->term = x->is_double ? term : term_f;
    if (x->is_double)
        return rig_args(x->kernel,
                        (rig_arg[]){{&x->out, sizeof(cl_mem)},
                                    {&n, sizeof(n)},
                                    {&factor, sizeof(factor)},
                                    {&term, sizeof(term)}},
                        4, err);
    return rig_args(x->kernel,
                    (rig_arg[]){{&x->out, sizeof(cl_mem)},
                                {&n, sizeof(n)},
                                {&factor_f, sizeof(factor_f)},
                                {&term_f, sizeof(term_f)}},
                    4, err);
}

static uint32_t chain_float(const repeated *x, double start, size_t steps)
{
    const float factor = (float)x->factor, term = (float)x->term;
    float value = (float)start;
    uint32_t bits;

    for (size_t s = 0; s < steps; s++) {
        if (x->fused) {
            value = fmaf(value, factor, x->self ? value : term);
        } else {
            volatile float product = value * factor; /* rounded, never contracted */

            value = product + (x->self ? value : term);
        }
    }
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint64_t chain_double(const repeated *x, double start, size_t steps)
{
    double value = start;
    uint64_t bits;

    for (size_t s = 0; s < steps; s++) {
        if (x->fused) {
            value = fma(value, x->factor, x->self ? value : x->term);
        } else {
            volatile double product = value * x->factor; /* rounded, never contracted */

            value = product + (x->self ? value : x->term);
        }
    }
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void expect_multiply_add(const repeated *x, size_t item, size_t steps, void *item_out)
{
    for (unsigned lane = 0; lane < x->width; lane++) {
        uint64_t sum = 0;
        uint32_t sum_32;

        for (unsigned c = 0; c < x->chains; c++) {
            double start = 1 + (double)item / 4 + c / 64.0 + lane / 1024.0;

            sum += x->is_double ? chain_double(x, start, steps) : chain_float(x, start, steps);
        }
        sum_32 = (uint32_t)sum;
        if (x->is_double)
            memcpy((char *)item_out + lane * sizeof(sum), &sum, sizeof(sum));
        else
            memcpy((char *)item_out + lane * sizeof(sum_32), &sum_32, sizeof(sum_32));
    }
}

static bool has_fma(const rig *r, bool is_double)
{
    cl_device_fp_config config = 0;

    query(r->session->device.id,
          is_double ? CL_DEVICE_DOUBLE_FP_CONFIG : CL_DEVICE_SINGLE_FP_CONFIG, &config,
          sizeof(config));
    return (config & CL_FP_FMA) != 0;
}

static tsr_status measure_multiply_add(repeated *x, limit l, limit_result *out, tsr_error *err)
{
    const bool cpu = x->rig->cpu;
    char options[160], how[64];
    tsr_status st;

    x->chains = cpu ? 12 : 8;
    x->item_bytes = x->width * (x->is_double ? sizeof(uint64_t) : sizeof(uint32_t));
    x->work = 2.0 * x->chains * x->width;
    snprintf(options, sizeof(options),
             "-DELEMENT=%s -DDOUBLE=%d -DWIDTH=%u -DCHAINS=%u -DUNROLL=%d -DFUSED=%d -DSELF=%d",
             x->is_double ? "double" : "float", x->is_double, x->width, x->chains, cpu ? 4 : 16,
             x->fused, x->self);
    snprintf(how, sizeof(how), "%u chains of %s x %u%s%s", x->chains,
             x->is_double ? "double" : "float", x->width, x->fused ? "" : ", not fused",
             x->self ? ", adding themselves" : "");
    st = rig_kernel(x->rig, "roofline/roofline_fma.cl", options, "roofline_fma", &x->kernel, err);
    return st ? st : measure_repeated(x, l, how, out, err);
}

tsr_status limit_multiply_add(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    const bool is_double = l == LIMIT_FP64;
    repeated x = {.rig = r,
                  .prepare = prepare_multiply_add,
                  .expect = expect_multiply_add,
                  .kinds = STARTS,
                  .is_double = is_double,
                  .fused = has_fma(r, is_double),
                  .unit = 16,
                  .steps_most = (size_t)1 << 20};
    tsr_status st;

    if (is_double && !r->facts->fp64) {
        snprintf(out->why_not, sizeof(out->why_not), "the device has no fp64");
        return TSR_OK;
    }
    fill_device(&x);
    x.width = native_width(r, is_double ? CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE
                                        : CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    st = measure_multiply_add(&x, l, out, err);
    if (st || r->cpu)
        return st;
    x.self = true;
    return rig_way_ended(measure_multiply_add(&x, l, out, err), out);
}

/* ---- integers ------------------------------------------------------------------------------ */

static const uint32_t minmax_advance = 0x9E3779B9u;

static tsr_status prepare_minmax(repeated *x, size_t steps, tsr_error *err)
{
    const cl_uint n = (cl_uint)steps;

    return rig_args(x->kernel,
                    (rig_arg[]){{&x->out, sizeof(cl_mem)},
                                {&n, sizeof(n)},
                                {&minmax_advance, sizeof(minmax_advance)}},
                    3, err);
}

static void sort_few(uint32_t *x, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        uint32_t key = x[i];
        unsigned j = i;

        for (; j > 0 && x[j - 1] > key; j--)
            x[j] = x[j - 1];
        x[j] = key;
    }
}

static void expect_minmax(const repeated *x, size_t item, size_t steps, void *item_out)
{
    for (unsigned lane = 0; lane < x->width; lane++) {
        uint32_t key[CHAINS_MAX] = {0}, sum = 0;

        for (unsigned c = 0; c < x->chains; c++)
            key[c] = ((uint32_t)item * 64 + c * 256 + lane) * 2654435761u;
        for (size_t s = 0; s < steps; s++) {
            sort_few(key, x->chains);
            key[0] += minmax_advance;
        }
        for (unsigned c = 0; c < x->chains; c++)
            sum += key[c] * (c + 1);
        memcpy((char *)item_out + lane * sizeof(sum), &sum, sizeof(sum));
    }
}

tsr_status limit_integer(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    repeated x = {.rig = r,
                  .prepare = prepare_minmax,
                  .expect = expect_minmax,
                  .kinds = STARTS,
                  .chains = r->cpu ? 12 : 16,
                  .unit = 4,
                  .steps_most = (size_t)1 << 18};
    char options[96], how[64];
    tsr_status st;

    fill_device(&x);
    x.width = native_width(r, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT);
    x.item_bytes = x.width * sizeof(uint32_t);
    /* CHAINS rounds, in turn of CHAINS / 2 and CHAINS / 2 - 1 pairs, two operations each. */
    x.work = (double)x.chains * (x.chains - 1) * x.width;
    snprintf(options, sizeof(options), "-DELEMENT=uint -DWIDTH=%u -DCHAINS=%u", x.width, x.chains);
    snprintf(how, sizeof(how), "network over %u registers of uint x %u", x.chains, x.width);
    st = rig_kernel(r, "roofline/roofline_minmax.cl", options, "roofline_minmax", &x.kernel, err);
    return st ? st : measure_repeated(&x, l, how, out, err);
}

/* ---- matrix instructions ------------------------------------------------------------------- */

typedef struct tensor_shape {
    limit limit;
    unsigned kind; /* of its kernel */
    unsigned m, n, k;
    unsigned capability; /* of the first chips that have it */
    const char *name;
    bool sparse; /* half of A is zero by its format; k counts what is stored */
} tensor_shape;

/* roofline_tensor.cl: instructions of a warp. */
static const tensor_shape tensor_shapes[] = {
    {LIMIT_TENSOR_TF32, 0, 16, 8, 8, 80, "mma.sync tf32 m16n8k8"},
    {LIMIT_TENSOR_BF16, 1, 16, 8, 16, 80, "mma.sync bf16 m16n8k16"},
    {LIMIT_TENSOR_F64, 2, 8, 8, 4, 80, "mma.sync f64 m8n8k4"},
    {LIMIT_TENSOR_F64, 3, 16, 8, 16, 90, "mma.sync f64 m16n8k16"},
    {LIMIT_TENSOR_F16, 4, 16, 8, 16, 80, "mma.sync f16 m16n8k16"},
    {LIMIT_TENSOR_INT8, 5, 16, 8, 32, 80, "mma.sync s8 m16n8k32"},
};

/* roofline_wgmma.cl: instructions of a warp group; k is a step's, of four of them. */
static const tensor_shape wgmma_shapes[] = {
    {LIMIT_TENSOR_TF32, 0, 64, 128, 32, 90, "wgmma tf32 m64n128k8"},
    {LIMIT_TENSOR_BF16, 1, 64, 128, 64, 90, "wgmma bf16 m64n128k16"},
    {LIMIT_TENSOR_F16, 2, 64, 128, 64, 90, "wgmma f16 m64n128k16"},
    {LIMIT_TENSOR_FP8, 3, 64, 128, 128, 90, "wgmma e4m3 m64n128k32"},
    {LIMIT_TENSOR_INT8, 4, 64, 128, 128, 90, "wgmma s8 m64n128k32"},
    {LIMIT_SPARSE_BF16, 1, 64, 128, 64, 90, "wgmma.sp bf16 m64n128k32", .sparse = true},
    {LIMIT_SPARSE_FP8, 3, 64, 128, 128, 90, "wgmma.sp e4m3 m64n128k64", .sparse = true},
    {LIMIT_SPARSE_INT8, 4, 64, 128, 128, 90, "wgmma.sp s8 m64n128k64", .sparse = true},
};

static tsr_status prepare_tensor(repeated *x, size_t steps, tsr_error *err)
{
    const cl_uint n = (cl_uint)steps;

    return rig_args(x->kernel, (rig_arg[]){{&x->out, sizeof(cl_mem)}, {&n, sizeof(n)}}, 2, err);
}

/* The sum of a lane's accumulators; where they lie in C, roofline_tensor.cl says. */
static void expect_tensor(const repeated *x, size_t item, size_t steps, void *item_out)
{
    const tensor_shape *shape = &tensor_shapes[x->kind];
    const size_t group = item / 4, within = item % 4;
    uint64_t sum = 0;

    for (size_t row = group; row < shape->m; row += 8)
        for (size_t column = 2 * within; column < 2 * within + 2; column++)
            for (size_t chain = 0; chain < x->chains; chain++)
                sum += chain + (uint64_t)steps * shape->k * (1 + row / 4) * (1 + column % 2);
    memcpy(item_out, &sum, sizeof(sum));
}

static tsr_status measure_tensor(const rig *r, unsigned which, limit_result *out, tsr_error *err)
{
    const tensor_shape *shape = &tensor_shapes[which];
    repeated x = {.rig = r,
                  .prepare = prepare_tensor,
                  .expect = expect_tensor,
                  .kinds = 32,
                  .kind = which,
                  .chains = 8,
                  .unit = 16,
                  .steps_most = ((size_t)1 << 20) / shape->k, /* roofline_tensor.cl: exact sums */
                  .item_bytes = sizeof(uint64_t)};
    char options[64];
    tsr_status st;

    fill_device(&x);
    x.work = 2.0 * shape->m * shape->n * shape->k * x.chains / 32;
    snprintf(options, sizeof(options), "-DKIND=%u -DCHAINS=%u", shape->kind, x.chains);
    st = rig_kernel(r, "roofline/roofline_tensor.cl", options, "roofline_tensor", &x.kernel, err);
    return st ? st : measure_repeated(&x, shape->limit, shape->name, out, err);
}

/* A warp w of the group holds rows 16 w and on, each item as in mma.sync's 16 x 8 elements. */
static void expect_wgmma(const repeated *x, size_t item, size_t steps, void *item_out)
{
    const tensor_shape *shape = &wgmma_shapes[x->kind];
    const size_t row = item / 32 * 16 + item % 32 / 4;
    /* Columns in pairs of an even and an odd one, so of 1 and 2; rows of 2^(row / 4 % 4). */
    const uint64_t columns = shape->n / 8 * (1 + 2);
    const uint64_t rows = (1u << row / 4 % 4) + (1u << (row + 8) / 4 % 4);
    const uint64_t sum = (uint64_t)steps * shape->k * columns * rows;

    memcpy(item_out, &sum, sizeof(sum));
}

static tsr_status measure_wgmma(const rig *r, unsigned which, limit_result *out, tsr_error *err)
{
    const tensor_shape *shape = &wgmma_shapes[which];
    repeated x = {.rig = r,
                  .prepare = prepare_tensor,
                  .expect = expect_wgmma,
                  .kinds = 128,
                  .kind = which,
                  .unit = 1,
                  /* roofline_wgmma.cl: exact sums. */
                  .steps_most = (size_t)1 << 10,
                  .checked_most =
                      shape->limit == LIMIT_TENSOR_FP8 || shape->limit == LIMIT_SPARSE_FP8 ? 1 << 5
                                                                                           : 0,
                  .item_bytes = sizeof(uint64_t)};
    char options[64];
    tsr_status st;

    fill_device(&x);
    x.local = x.kinds;
    x.work = (shape->sparse ? 4.0 : 2.0) * shape->m * shape->n * shape->k / (double)x.local;
    snprintf(options, sizeof(options), "-DKIND=%u -DSPARSE=%d", shape->kind, shape->sparse);
    st = rig_kernel(r, "roofline/roofline_wgmma.cl", options, "roofline_wgmma", &x.kernel, err);
    return st ? st : measure_repeated(&x, shape->limit, shape->name, out, err);
}

/* The first compute capability with an instruction for it. */
static unsigned first_capability(limit l)
{
    unsigned first = UINT_MAX;

    for (unsigned i = 0; i < sizeof(tensor_shapes) / sizeof(tensor_shapes[0]); i++)
        if (tensor_shapes[i].limit == l && tensor_shapes[i].capability < first)
            first = tensor_shapes[i].capability;
    for (unsigned i = 0; i < sizeof(wgmma_shapes) / sizeof(wgmma_shapes[0]); i++)
        if (wgmma_shapes[i].limit == l && wgmma_shapes[i].capability < first)
            first = wgmma_shapes[i].capability;
    return first;
}

tsr_status limit_tensor(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    const device_facts *d = r->facts;
    const unsigned first = first_capability(l);
    tsr_status st = session_probe(r->session, 1u << FEATURE_PTX | 1u << FEATURE_WGMMA, err);

    if (st)
        return st;
    if (d->feature[FEATURE_PTX] != FEATURE_YES) {
        snprintf(out->why_not, sizeof(out->why_not), "no %s: %s", feature_name(FEATURE_PTX),
                 d->feature_why[FEATURE_PTX]);
        return TSR_OK;
    }
    if (d->nv_capability < first) {
        snprintf(out->why_not, sizeof(out->why_not),
                 "compute capability %u.%u; its instructions come with %u.%u",
                 d->nv_capability / 10, d->nv_capability % 10, first / 10, first % 10);
        return TSR_OK;
    }
    for (unsigned i = 0; i < sizeof(tensor_shapes) / sizeof(tensor_shapes[0]) && !st; i++)
        if (tensor_shapes[i].limit == l && d->nv_capability >= tensor_shapes[i].capability)
            st = rig_way_ended(measure_tensor(r, i, out, err), out);
    for (unsigned i = 0; i < sizeof(wgmma_shapes) / sizeof(wgmma_shapes[0]) && !st; i++)
        if (wgmma_shapes[i].limit == l && d->feature[FEATURE_WGMMA] == FEATURE_YES)
            st = rig_way_ended(measure_wgmma(r, i, out, err), out);
    if (!st && !(out->value > 0))
        snprintf(out->why_not, sizeof(out->why_not), "no %s: %s", feature_name(FEATURE_WGMMA),
                 d->feature_why[FEATURE_WGMMA]);
    return st;
}

/* ---- local memory -------------------------------------------------------------------------- */

static tsr_status prepare_local(repeated *x, size_t steps, tsr_error *err)
{
    const cl_uint rounds = (cl_uint)steps;

    return rig_args(x->kernel,
                    (rig_arg[]){{&x->out, sizeof(cl_mem)},
                                {&rounds, sizeof(rounds)},
                                {&x->seed, sizeof(x->seed)}},
                    3, err);
}

/* Every item has seen the whole tile steps / rows times. */
static void expect_local(const repeated *x, size_t item, size_t steps, void *item_out)
{
    (void)item;
    for (uint32_t lane = 0; lane < x->width; lane++) {
        uint32_t sum = 0;

        for (uint32_t d = 0; d < LOCAL_DEPTH; d++)
            for (uint32_t row = 0; row < x->rows; row++)
                sum += x->seed + (row + d * x->pitch) * x->width + lane;
        sum *= (uint32_t)(steps / x->rows);
        memcpy((char *)item_out + lane * sizeof(sum), &sum, sizeof(sum));
    }
}

tsr_status limit_local_memory(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    /* A CPU's local memory is fast in its first cache.  Elsewhere a row for each work-item of a
     * group, so that neighbours read next to each other. A CPU core's reads follow each other, and
     * a pitch of 2^11 bytes puts them all into one bank of its cache: half the rate. */
    const unsigned rows = r->cpu ? 64 : 256;
    repeated x = {.rig = r,
                  .prepare = prepare_local,
                  .expect = expect_local,
                  .kinds = 1,
                  .rows = rows,
                  .pitch = r->cpu ? rows + 1 : rows,
                  .seed = 0x1234567,
                  .unit = rows,
                  .steps_most = (size_t)1 << 24};
    char options[96], how[64];
    tsr_status st;
    size_t tile;

    fill_device(&x);
    x.width =
        r->cpu ? (unsigned)size_max(native_width(r, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT), 4) : 4;
    x.item_bytes = x.width * sizeof(uint32_t);
    tile = x.pitch * LOCAL_DEPTH * x.item_bytes;
    if (tile > r->facts->local_memory) {
        snprintf(out->why_not, sizeof(out->why_not), "it takes %zu bytes, the device has %zu", tile,
                 r->facts->local_memory);
        return TSR_OK;
    }
    x.work = (double)(LOCAL_DEPTH * x.item_bytes);
    snprintf(options, sizeof(options), "-DELEMENT=uint -DWIDTH=%u -DROWS=%u -DPITCH=%u -DDEPTH=%d",
             x.width, rows, x.pitch, LOCAL_DEPTH);
    snprintf(how, sizeof(how), "uint x %u, %zu KiB a work-group", x.width, tile / 1024);
    st = rig_kernel(r, "roofline/roofline_local.cl", options, "roofline_local", &x.kernel, err);
    return st ? st : measure_repeated(&x, l, how, out, err);
}
