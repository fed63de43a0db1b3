/* The brightness of each pixel: the operation, and its variants in C. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "base/team.h"
#include "ops/grayscale/grayscale_problem.h"
#include "ops/grayscale/grayscale_simd.h"
#include "stream/engine.h"

const luma_weights grayscale_weights[] = {
    [TSR_LUMA_BT601] = {{19595, 38470, 7471}, {0.299f, 0.587f, 0.114f}},
    [TSR_LUMA_BT709] = {{13933, 46871, 4732}, {0.2126f, 0.7152f, 0.0722f}},
    /* OpenCV rounds to 32768ths: 9798, 19235 and 3735. */
    [TSR_LUMA_OPENCV] = {{19596, 38470, 7470}, {0.299f, 0.587f, 0.114f}},
};

/* ---- in C ----------------------------------------------------------------------------------- */

static tsr_status run_loop(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_grayscale_problem *p = grayscale_of(q);
    const luma_weights *w = &grayscale_weights[p->luma];

    (void)err;
    for (size_t i = 0; i < grayscale_pixels(p); i++) {
        const size_t from = p->offset_in + i * p->channels, to = p->offset_out + i;

        if (p->type == TSR_U8) {
            const uint8_t *pixel = (const uint8_t *)operands[GRAYSCALE_COLOUR] + from;

            ((uint8_t *)operands[GRAYSCALE_GREY])[to] =
                (uint8_t)((w->whole[0] * pixel[0] + w->whole[1] * pixel[1] +
                           w->whole[2] * pixel[2] + 32768) >>
                          16);
        } else {
            const float *pixel = (const float *)operands[GRAYSCALE_COLOUR] + from;

            ((float *)operands[GRAYSCALE_GREY])[to] =
                fmaf(w->real[2], pixel[2], fmaf(w->real[1], pixel[1], w->real[0] * pixel[0]));
        }
    }
    return TSR_OK;
}

static const variant grayscale_loop = {
    .name = "loop", .idea = "the plain loop", .plan = plan_in_c, .host = run_loop};

static grayscale_bytes_loop *const bytes_loops[] = {ISA_EACH(grayscale_bytes)};
static grayscale_reals_loop *const reals_loops[] = {ISA_EACH(grayscale_reals)};

/* Pixels of a block; a picture of PARALLEL_BLOCKS is worth several threads. */
enum { BLOCK = 1 << 14, PARALLEL_BLOCKS = 4 };

/* What the threads share. */
typedef struct conversion {
    const tsr_grayscale_problem *p;
    void *const *operands;
} conversion;

static void convert_block(void *context, size_t block, size_t who)
{
    const conversion *c = context;
    const tsr_grayscale_problem *p = c->p;
    const luma_weights *w = &grayscale_weights[p->luma];
    const isa best = isa_best();
    const size_t at = block * BLOCK, n = size_min(BLOCK, grayscale_pixels(p) - at);
    const size_t from = p->offset_in + at * p->channels, to = p->offset_out + at;

    (void)who;
    if (p->type == TSR_U8)
        bytes_loops[best]((const uint8_t *)c->operands[GRAYSCALE_COLOUR] + from, n, p->channels,
                          w->whole, (uint8_t *)c->operands[GRAYSCALE_GREY] + to,
                          grayscale_pixels(p) * (p->channels + 1) >= PAST_CACHES_MIN);
    else
        /* AVX-512's shuffles of floats three or four apart take longer than those of AVX2. */
        reals_loops[best > ISA_AVX2 ? ISA_AVX2 : best](
            (const float *)c->operands[GRAYSCALE_COLOUR] + from, n, p->channels, w->real,
            (float *)c->operands[GRAYSCALE_GREY] + to);
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    conversion c = {grayscale_of(q), operands};
    const size_t blocks = size_div_up(grayscale_pixels(c.p), BLOCK);

    (void)err;
    team_run(blocks >= PARALLEL_BLOCKS ? team_threads() : 1, blocks, convert_block, &c);
    return TSR_OK;
}

static const variant grayscale_simd = {.name = "simd",
                                       .idea = "vectors, and the cores share blocks of pixels",
                                       .plan = plan_in_c,
                                       .host = run_simd,
                                       .serves_cpus = true};

static const variant *const variants[] = {&grayscale_loop,   &grayscale_simd,    &grayscale_naive,
                                          &grayscale_packed, &grayscale_vectors, &grayscale_image};

/* ---- the operation -------------------------------------------------------------------------- */

static tsr_status check(const problem *q, tsr_error *err)
{
    const tsr_grayscale_problem *p = grayscale_of(q);
    size_t pixels, elements, bytes;
    view colour, grey;

    if (p->type != TSR_U8 && p->type != TSR_F32)
        return tsr_fail(err, TSR_EINVAL, 0, "grayscale: elements are uint8 or float32, not %s",
                        tsr_type_name(p->type));
    if (p->channels != 3 && p->channels != 4)
        return tsr_fail(err, TSR_EINVAL, 0, "grayscale: a pixel has 3 or 4 channels, not %zu",
                        p->channels);
    if (p->luma > TSR_LUMA_OPENCV)
        return tsr_fail(err, TSR_EINVAL, 0, "grayscale: weights %zu do not exist", p->luma);
    if (!size_mul(p->height, p->width, &pixels) || !size_mul(pixels, p->channels, &elements))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "grayscale: %zux%zu pixels of %zu channels exceed "
                        "%zu elements",
                        p->height, p->width, p->channels, SIZE_MAX);
    colour = grayscale_colour(p);
    grey = grayscale_grey(p);
    if (!view_extent(&colour, &bytes) || !view_extent(&grey, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "grayscale: %zux%zu pixels (offsets %zu and %zu) exceed %zu bytes",
                        p->height, p->width, p->offset_in, p->offset_out, SIZE_MAX);
    return TSR_OK;
}

static size_t operands(const problem *q, operand out[OPERANDS_MAX])
{
    const view colour = grayscale_colour(grayscale_of(q)), grey = grayscale_grey(grayscale_of(q));

    out[GRAYSCALE_COLOUR] = view_operand("colour", &colour, ACCESS_READ);
    out[GRAYSCALE_GREY] = view_operand("grey", &grey, ACCESS_WRITE);
    out[GRAYSCALE_GREY].whole = true;
    return 2;
}

static double work(const problem *p)
{
    return (double)grayscale_pixels(grayscale_of(p));
}

static double traffic(const problem *q)
{
    const tsr_grayscale_problem *p = grayscale_of(q);

    return (double)tsr_type_size(p->type) * (double)grayscale_pixels(p) * ((double)p->channels + 1);
}

static void describe(const problem *q, text *out)
{
    const tsr_grayscale_problem *p = grayscale_of(q);

    text_format(out, "%zux%zu pixels of %zu %s, %s", p->height, p->width, p->channels,
                tsr_type_name(p->type), grayscale_luma_name(q));
    if (p->offset_in || p->offset_out)
        text_format(out, " offsets %zu %zu", p->offset_in, p->offset_out);
}

static size_t prefer(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX])
{
    static const char *const on_host[] = {"simd", "loop"};
    static const char *const on_device[] = {"vectors", "packed", "naive"};
    const tsr_grayscale_problem *q = grayscale_of(p);
    /* Where pictures of bytes begin elsewhere than vectors do, words are faster than bytes. */
    const bool vectors =
        q->type == TSR_U8 && (q->offset_in | q->offset_out) % GRAYSCALE_VECTOR_BYTES == 0;
    const size_t count = ARRAY_COUNT(on_device) - !vectors;

    if (d->kind == DEVICE_HOST) {
        memcpy(out, on_host, sizeof(on_host));
        return ARRAY_COUNT(on_host);
    }
    memcpy(out, on_device + !vectors, count * sizeof(*on_device));
    return count;
}

/* Time is spent on memory in either case. */
static const char *prefer_c(const problem *p, const device_facts *d)
{
    (void)p, (void)d;
    return "simd";
}

/* ---- streaming ------------------------------------------------------------------------------ */

/* Pieces of PIXELS pixels: of whole rows, or where none fits pictures of one row. */
enum { PIXELS };

static void pixels_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_grayscale_problem *q = grayscale_of(p->problem);
    const size_t at = i * p->cut[PIXELS], n = size_min(p->cut[PIXELS], grayscale_pixels(q) - at);
    const size_t size = tsr_type_size(q->type), pixel = q->channels * size;
    tsr_grayscale_problem *one;

    *out = (piece){.problem = *p->problem};
    one = grayscale_in(&out->problem);
    one->height = n % q->width ? 1 : n / q->width;
    one->width = n / one->height;
    one->offset_in = one->offset_out = 0;
    out->slice[GRAYSCALE_COLOUR] = (slice){
        .slot = i,
        .rows = host_bytes((const char *)host[GRAYSCALE_COLOUR] + q->offset_in * size + at * pixel,
                           n * pixel),
        .blocks = 1,
        .in = true};
    out->slice[GRAYSCALE_GREY] =
        (slice){.slot = i,
                .rows = host_bytes((const char *)host[GRAYSCALE_GREY] + (q->offset_out + at) * size,
                                   n * size),
                .blocks = 1,
                .out = true};
}

static const partition_kind in_pixels = {.name = "pixels", .piece = pixels_piece};

static tsr_status cut(const problem *p, const selection *sel, const stream_budget *budget,
                      partition *out, tsr_error *err)
{
    const tsr_grayscale_problem *q = grayscale_of(p);
    const size_t n = grayscale_pixels(q), size = tsr_type_size(q->type);
    const size_t pixel = q->channels * size, both = pixel + size;
    const bool holds = stream_holds(budget, p);
    size_t slot, each;

    (void)sel;
    if (n == 0 || (holds && n * pixel < STREAMED_MIN))
        return TSR_OK;
    slot = budget->all / PARTITION_SLOTS_MAX;
    if (slot < both && (holds || !budget->limited))
        return TSR_OK;
    if (slot < both)
        return stream_refuse(err, "grayscale", budget, PARTITION_SLOTS_MAX * both,
                             "%d pixels in colour and grey", (int)PARTITION_SLOTS_MAX);
    each = stream_piece_bytes(n * both, size_min(slot, budget->each)) / both;
    each = size_min(size_max(each, 1), n);
    if (each >= q->width)
        each -= each % q->width;
    *out = (partition){
        .kind = &in_pixels,
        .pieces = size_div_up(n, each),
        .cut = {[PIXELS] = each},
        .slots = {{PARTITION_SLOTS_MAX, each * pixel, 0}, {PARTITION_SLOTS_MAX, each * size, 0}}};
    partition_add_shape(out, 0);
    if (n % each)
        partition_add_shape(out, out->pieces - 1);
    return TSR_OK;
}

const operation operation_grayscale = {
    .name = "grayscale",
    .idea = "grey := wr red + wg green + wb blue of each pixel",
    .unit = WORK_BYTES,
    .exact = true,
    .types = 1u << TSR_U8 | 1u << TSR_F32,
    .default_type = TSR_U8,
    .result = GRAYSCALE_GREY,
    .command = &grayscale_command,
    .variants = variants,
    .variant_count = ARRAY_COUNT(variants),
    .check = check,
    .operands = operands,
    .partition = cut,
    .work = work,
    .bytes = traffic,
    .describe = describe,
    .prefer = prefer,
    .prefer_c = prefer_c,
    .fill = grayscale_fill,
    .sweep = grayscale_sweep,
    .verify = grayscale_verify,
};
