#include "peer_check.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 16, VENDOR_NVIDIA = 0x10DE, SAMPLES = 4096 };

/* Products with more multiplications than this are sampled. */
#define WORK_MAX 4e8

const peer_list *peer_load(const char *path, char *why, size_t why_size)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const peer_list *(*module)(void) = NULL;
    void *symbol = handle ? dlsym(handle, "peer_module") : NULL;
    const peer_list *list;

    if (!symbol) {
        snprintf(why, why_size, "%s", dlerror());
        return NULL;
    }
    /* ISO C has no conversion from an object's address to a function's. */
    memcpy(&module, &symbol, sizeof(module));
    list = module();
    if (!list || list->abi != PEER_ABI || list->count == 0) {
        snprintf(why, why_size, "%s is no module of ABI %d", path, PEER_ABI);
        return NULL;
    }
    return list;
}

/* ---- device -------------------------------------------------------------- */

/* The first device of a type with `part` in its name. */
static cl_device_id find_device(cl_device_type type, const char *part, char *name, size_t size)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_device_id devices[DEVICES_MAX];
    cl_uint n_platforms = 0, n_devices = 0;

    if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < n_platforms && i < PLATFORMS_MAX; i++) {
        if (clGetDeviceIDs(platforms[i], type, DEVICES_MAX, devices, &n_devices) != CL_SUCCESS)
            continue;
        for (cl_uint j = 0; j < n_devices && j < DEVICES_MAX; j++)
            if (clGetDeviceInfo(devices[j], CL_DEVICE_NAME, size, name, NULL) == CL_SUCCESS &&
                (!part || strstr(name, part)))
                return devices[j];
    }
    return NULL;
}

int peer_device_open(const char *part, peer_device *out, char *why, size_t why_size)
{
    peer_device d = {0};
    cl_uint vendor = 0;
    cl_int rc = CL_SUCCESS;

    d.device = find_device(CL_DEVICE_TYPE_GPU, part, d.name, sizeof(d.name));
    if (!d.device)
        d.device = find_device(CL_DEVICE_TYPE_ALL, part, d.name, sizeof(d.name));
    if (!d.device) {
        snprintf(why, why_size, "no OpenCL device%s%s", part ? " with the name " : "",
                 part ? part : "");
        return -1;
    }
    clGetDeviceInfo(d.device, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL);
    d.nvidia = vendor == VENDOR_NVIDIA;
    d.context = clCreateContext(NULL, 1, &d.device, NULL, NULL, &rc);
    if (d.context)
        d.queue = clCreateCommandQueue(d.context, d.device, 0, &rc);
    if (!d.queue) {
        snprintf(why, why_size, "%s: no context and queue, OpenCL error %d", d.name, rc);
        peer_device_close(&d);
        return -1;
    }
    *out = d;
    return 0;
}

void peer_device_close(peer_device *d)
{
    if (d->queue)
        clReleaseCommandQueue(d->queue);
    if (d->context)
        clReleaseContext(d->context);
    memset(d, 0, sizeof(*d));
}

/* ---- inputs -------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea and Flood, 2014); as a function of x alone it is also the hash. */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static size_t type_size(int type)
{
    return type == 0 || type == 2 || type == 3 ? 4 : 8;
}

static int is_real(int type)
{
    return type == 0 || type == 1;
}

static void store_real(void *array, int type, size_t i, double value)
{
    if (type == 0)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

static double load_real(const void *array, int type, size_t i)
{
    return type == 0 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void fill(void *array, int type, size_t n, uint64_t seed, int few)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = mix(seed * 0x100000001b3u + i);

        if (few)
            bits = bits % 7;
        if (is_real(type))
            store_real(array, type, i, few ? (double)bits - 3.5 : (double)(int64_t)bits * 0x1p-63);
        else if (type_size(type) == 4)
            ((uint32_t *)array)[i] = (uint32_t)bits - (few ? 3u : 0u);
        else
            ((uint64_t *)array)[i] = bits - (few ? 3u : 0u);
    }
}

/* Elements of each operand. */
static void count_elements(const peer_problem *p, size_t count[3])
{
    switch (p->op) {
    case PEER_MATMUL:
        count[0] = p->m * p->k;
        count[1] = p->k * p->n;
        count[2] = p->m * p->n;
        break;
    case PEER_MATVEC:
        count[0] = p->m * p->n;
        count[1] = p->trans_a ? p->m : p->n;
        count[2] = p->trans_a ? p->n : p->m;
        break;
    case PEER_SORT:
        count[0] = p->n;
        count[1] = p->argsort ? p->n : 0;
        count[2] = p->value_bytes ? p->n : 0;
        break;
    }
}

/* Values by which their keys are known again. */
static void fill_positions(void *values, size_t bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes == sizeof(uint32_t))
            ((uint32_t *)values)[i] = (uint32_t)i;
        else
            ((uint64_t *)values)[i] = i;
    }
}

static int fill_inputs(peer_trial *t, uint64_t seed, int few)
{
    peer_problem *p = &t->problem;
    size_t count[3] = {0};

    count_elements(p, count);
    for (size_t i = 0; i < 3; i++) {
        const int index = p->op == PEER_SORT && i == 1, values = p->op == PEER_SORT && i == 2;
        const size_t bytes = count[i] * (index    ? sizeof(int64_t)
                                         : values ? p->value_bytes
                                                  : type_size(p->type));

        p->bytes[i] = bytes;
        if (bytes == 0)
            continue;
        p->operand[i] = t->input[i] = malloc(bytes);
        if (!t->input[i])
            return -1;
        if (index)
            memset(t->input[i], 0xEE, bytes);
        else if (values)
            fill_positions(t->input[i], p->value_bytes, count[i]);
        else
            fill(t->input[i], p->type, count[i], seed + i, few);
    }
    if (p->op != PEER_SORT && t->input[2] && p->beta == 0)
        memset(t->input[2], 0xFF, p->bytes[2]);
    return 0;
}

int peer_trial_make(const peer_problem *p, const peer_device *d, uint64_t seed, int few,
                    peer_trial *out)
{
    peer_trial t = {.problem = *p};

    t.problem.cl_context = d->context;
    t.problem.cl_device = d->device;
    t.problem.cl_queue = d->queue;
    /* Never 0 bytes: malloc may answer that with NULL. */
    if (fill_inputs(&t, seed, few) == 0) {
        t.out = malloc(t.problem.bytes[p->op == PEER_SORT ? 0 : 2] + 1);
        t.out2 = malloc(t.problem.bytes[1] + t.problem.bytes[2] + 1);
    }
    if (!t.out || !t.out2) {
        peer_trial_free(&t);
        return -1;
    }
    *out = t;
    return 0;
}

void peer_trial_free(peer_trial *t)
{
    for (size_t i = 0; i < 3; i++)
        free(t->input[i]);
    free(t->out);
    free(t->out2);
    memset(t, 0, sizeof(*t));
}

/* ---- products ------------------------------------------------------------ */

/* Element (i, j) of op(A) op(B), and of |op(A)| |op(B)|; a vector is a matrix of one column. */
static void dot(const peer_trial *t, size_t i, size_t j, long double *sum, long double *size)
{
    const peer_problem *p = &t->problem;
    const int matvec = p->op == PEER_MATVEC;
    const size_t columns_a = matvec ? p->n : p->trans_a ? p->m : p->k;
    const size_t columns_b = matvec ? 1 : p->trans_b ? p->k : p->n;
    const size_t k = !matvec ? p->k : p->trans_a ? p->m : p->n;

    *sum = *size = 0;
    for (size_t l = 0; l < k; l++) {
        const size_t at_a = p->trans_a ? l * columns_a + i : i * columns_a + l;
        const size_t at_b = !matvec && p->trans_b ? j * columns_b + l : l * columns_b + j;
        const long double term = (long double)load_real(t->input[0], p->type, at_a) *
                                 (long double)load_real(t->input[1], p->type, at_b);

        *sum += term;
        *size += fabsl(term);
    }
}

/* |got - exact| <= gamma_(k+2) (|alpha| |A| |B| + |beta| |C|), and for TF32 two roundings to 11
 * bits before.  Returns error over bound. */
static double judge(const peer_trial *t, size_t i, size_t j, size_t columns)
{
    const peer_problem *p = &t->problem;
    const size_t k = p->op == PEER_MATMUL ? p->k : p->trans_a ? p->m : p->n;
    const double unit = p->type == 0 ? 0x1p-24 : 0x1p-53;
    const double rounding = strcmp(p->precision, "tf32") == 0 ? 0x1p-10 : 0;
    const double got = load_real(t->out, p->type, i * columns + j);
    const double c = p->beta == 0 ? 0 : load_real(t->input[2], p->type, i * columns + j);
    long double sum, size, exact, bound;

    dot(t, i, j, &sum, &size);
    exact = (long double)p->alpha * sum + (long double)p->beta * (long double)c;
    bound = ((long double)(k + 2) * (long double)unit + (long double)rounding) *
                (fabsl((long double)p->alpha) * size + fabsl((long double)(p->beta * c))) +
            (p->type == 0 ? 0x1p-126L : 0x1p-1022L);
    return isnan(got) ? INFINITY : (double)(fabsl((long double)got - exact) / bound);
}

static int check_product(const peer_trial *t, double *worst, char *detail, size_t detail_size)
{
    const peer_problem *p = &t->problem;
    const int matvec = p->op == PEER_MATVEC;
    const size_t columns = matvec ? 1 : p->n;
    const size_t elements = t->problem.bytes[2] / type_size(p->type);
    const double depth = matvec ? (double)(p->trans_a ? p->m : p->n) : (double)p->k;
    const int sampled = (double)elements * depth > WORK_MAX;

    *worst = 0;
    for (size_t s = 0; s < (sampled ? SAMPLES : elements); s++) {
        const size_t at = sampled ? mix(s) % elements : s;
        const double error = judge(t, at / columns, at % columns, columns);

        if (error > *worst)
            *worst = error;
        if (!(error <= 1)) {
            snprintf(detail, detail_size, "element (%zu, %zu) is %.9g, its error %.3g of the bound",
                     at / columns, at % columns, load_real(t->out, p->type, at), error);
            return 1;
        }
    }
    return 0;
}

/* ---- sorts --------------------------------------------------------------- */

/* Whether key a of an array is below key b of another. */
static int below(int type, const void *array_a, size_t a, const void *array_b, size_t b)
{
    switch (type) {
    case 0:
    case 1:
        return load_real(array_a, type, a) < load_real(array_b, type, b);
    case 2:
        return ((const int32_t *)array_a)[a] < ((const int32_t *)array_b)[b];
    case 3:
        return ((const uint32_t *)array_a)[a] < ((const uint32_t *)array_b)[b];
    case 4:
        return ((const int64_t *)array_a)[a] < ((const int64_t *)array_b)[b];
    default:
        return ((const uint64_t *)array_a)[a] < ((const uint64_t *)array_b)[b];
    }
}

static uint64_t hash_of(const void *array, size_t bytes, size_t i)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)array + i * bytes, bytes);
    return mix(bits);
}

/* Where key i of the result was, counted from the start of its part: its position, or its value. */
static size_t origin(const peer_trial *t, size_t i)
{
    if (!t->problem.argsort && t->problem.value_bytes == sizeof(uint32_t))
        return ((const uint32_t *)t->out2)[i];
    return (size_t)((const int64_t *)t->out2)[i];
}

/* The positions of keys begin to end - 1, which count from begin. */
static int check_positions(const peer_trial *t, size_t begin, size_t end, char *detail,
                           size_t detail_size)
{
    const size_t bytes = type_size(t->problem.type);
    const char *before = (const char *)t->input[0] + begin * bytes;
    unsigned char *seen = calloc(end - begin + 1, 1);
    int wrong = !seen;

    detail[0] = 0;
    for (size_t i = begin; i < end && !wrong; i++) {
        const size_t from = origin(t, i);
        const char *key = (const char *)t->out + i * bytes;

        if (from >= end - begin || seen[from]++ || memcmp(key, before + from * bytes, bytes) != 0) {
            snprintf(detail, detail_size,
                     "position or value %zu is %zu: not there, there twice, or of another key", i,
                     from);
            wrong = 1;
        } else if (i > begin && origin(t, i - 1) > from && memcmp(key - bytes, key, bytes) == 0) {
            snprintf(detail, detail_size, "equal keys %zu and %zu are not in the input's order",
                     i - 1, i);
            wrong = 1;
        }
    }
    free(seen);
    return wrong;
}

/* Keys begin to end - 1, a sequence of their own. */
static int check_part(const peer_trial *t, size_t begin, size_t end, char *detail,
                      size_t detail_size)
{
    const peer_problem *p = &t->problem;
    const size_t bytes = type_size(p->type);
    uint64_t before = 0, after = 0;

    for (size_t i = begin; i < end; i++) {
        before += hash_of(t->input[0], bytes, i);
        after += hash_of(t->out, bytes, i);
        if (i > begin && (p->descending ? below(p->type, t->out, i - 1, t->out, i)
                                        : below(p->type, t->out, i, t->out, i - 1))) {
            snprintf(detail, detail_size, "keys %zu and %zu are out of order", i - 1, i);
            return 1;
        }
    }
    if (before != after) {
        snprintf(detail, detail_size, "keys %zu to %zu are not those of the input", begin, end);
        return 1;
    }
    return p->argsort || p->value_bytes ? check_positions(t, begin, end, detail, detail_size) : 0;
}

static int check_sort(const peer_trial *t, char *detail, size_t detail_size)
{
    const peer_problem *p = &t->problem;
    int wrong = 0;

    if (!p->segments)
        return check_part(t, 0, p->n, detail, detail_size);
    for (size_t i = 0; i < p->segments && !wrong; i++)
        wrong = check_part(t, (size_t)p->segment_offsets[i], (size_t)p->segment_offsets[i + 1],
                           detail, detail_size);
    return wrong;
}

int peer_trial_check(const peer_trial *t, double *worst, char *detail, size_t detail_size)
{
    *worst = 0;
    if (t->problem.op == PEER_SORT)
        return check_sort(t, detail, detail_size);
    return check_product(t, worst, detail, detail_size);
}

double peer_trial_work(const peer_trial *t, const char **unit)
{
    const peer_problem *p = &t->problem;

    switch (p->op) {
    case PEER_MATMUL:
        *unit = "GFLOP/s";
        return 2.0 * (double)p->m * (double)p->n * (double)p->k;
    case PEER_MATVEC:
        *unit = "GB/s of A";
        return (double)p->bytes[0];
    default:
        *unit = "Gkeys/s";
        return (double)p->n;
    }
}
