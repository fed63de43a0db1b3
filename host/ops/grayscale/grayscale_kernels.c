/* Pictures to grey on a device. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/grayscale/grayscale_problem.h"

/* As grayscale.clh has it. */
typedef struct grayscale_call {
    uint64_t height, width, from, to;
} grayscale_call;

static void define(const tsr_grayscale_problem *p, plan *out)
{
    const luma_weights *w = &grayscale_weights[p->luma];

    plan_define(out, "CHANNELS=%zu", p->channels);
    if (p->type == TSR_U8) {
        plan_define(out, "BYTES=1");
        plan_define(out, "RED=%uu", w->whole[0]);
        plan_define(out, "GREEN=%uu", w->whole[1]);
        plan_define(out, "BLUE=%uu", w->whole[2]);
    } else {
        plan_define(out, "BYTES=0");
        plan_define(out, "RED=%af", (double)w->real[0]);
        plan_define(out, "GREEN=%af", (double)w->real[1]);
        plan_define(out, "BLUE=%af", (double)w->real[2]);
    }
}

static void arguments(const job *j, command *c, bool image)
{
    const tsr_grayscale_problem *p = grayscale_of(j->problem);
    const grayscale_call call = {p->height, p->width, p->offset_in, p->offset_out};

    if (image)
        command_image(c);
    else
        command_operand(c, GRAYSCALE_COLOUR);
    command_operand(c, GRAYSCALE_GREY);
    command_block(c, &call, sizeof(call));
    /* Each element of the picture is loaded once, and of the result stored; what an image gives
     * comes through the texture units. */
    c->bytes = j->problem->op->bytes(j->problem);
    c->traffic.requested = image ? 0 : c->bytes;
}

/* ---- a pixel a work-item -------------------------------------------------------------------- */

static const tunable pixel_tunables[] = {
    {"COLUMNS", "work-items of a work-group along a row", {8, 16, 32, 64}, 32, 8},
    {"ROWS", "and across rows", {1, 2, 4, 8}, 4, 2},
};

static const char *plan_pixels(const job *j, bool image, plan *out)
{
    const tsr_grayscale_problem *p = grayscale_of(j->problem);
    const size_t columns = group_fit(j->device, 0, param(j->params, "COLUMNS"));
    const size_t rows = group_fit(
        j->device, 1,
        size_max(size_min(param(j->params, "ROWS"), j->device->max_work_group / columns), 1));
    command *c;

    if (size_div_up(p->height, rows) > GROUPS_DOWN_MAX)
        return plan_unsupported(
            out, "it takes up to %d work-groups down a picture, and this one has %zu",
            (int)GROUPS_DOWN_MAX, size_div_up(p->height, rows));
    plan_set(out, "COLUMNS", (uint32_t)columns);
    plan_set(out, "ROWS", (uint32_t)rows);
    define(p, out);
    c = plan_launch_2d(out, 0, size_round_up(size_max(p->width, 1), columns),
                       size_round_up(size_max(p->height, 1), rows), columns, rows);
    arguments(j, c, image);
    /* Of a pixel three elements are loaded, not an alpha. */
    if (!image)
        c->traffic = (command_traffic){
            .requested = (double)grayscale_pixels(p) * 4 * (double)tsr_type_size(p->type),
            .busy = (double)grayscale_pixels(p) / ((double)c->global[0] * (double)c->global[1])};
    return NULL;
}

static const char *naive_plan(const job *j, plan *out)
{
    return plan_pixels(j, false, out);
}

const variant grayscale_naive = {.name = "naive",
                                 .idea = "a pixel a work-item, in two dimensions",
                                 .source = "grayscale/grayscale_naive.cl",
                                 .entries = {"grayscale_naive"},
                                 .build = "",
                                 .tunables = pixel_tunables,
                                 .tunable_count = ARRAY_COUNT(pixel_tunables),
                                 .plan = naive_plan};

/* ---- several pixels a work-item ------------------------------------------------------------- */

enum { GROUP_CPU = 16, GROUP_GPU = 256, WORD_BYTES = 4 };

static const tunable line_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 16, 32, 64, 128, 256, 512}, 0, 16},
};

/* So many bytes of grey a work-item, in the order of memory. */
static const char *plan_line(const job *j, size_t bytes, plan *out)
{
    const tsr_grayscale_problem *p = grayscale_of(j->problem);
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);
    const size_t items = size_div_up(grayscale_pixels(p), bytes / tsr_type_size(p->type));

    plan_set(out, "GROUP", (uint32_t)local);
    define(p, out);
    arguments(j, plan_launch_1d(out, 0, size_round_up(size_max(items, 1), local), local), false);
    return NULL;
}

static const char *packed_plan(const job *j, plan *out)
{
    const tsr_grayscale_problem *p = grayscale_of(j->problem);

    if (p->type != TSR_U8)
        return plan_unsupported(out,
                                "it packs four pixels of a byte each in a word, and these are %s",
                                tsr_type_name(p->type));
    return plan_line(j, WORD_BYTES, out);
}

const variant grayscale_packed = {
    .name = "packed",
    .idea = "four pixels of bytes a work-item, loaded and stored as words of 32 bits",
    .source = "grayscale/grayscale_packed.cl",
    .entries = {"grayscale_packed"},
    .build = "",
    .tunables = line_tunables,
    .tunable_count = ARRAY_COUNT(line_tunables),
    .plan = packed_plan};

static const char *vectors_plan(const job *j, plan *out)
{
    return plan_line(j, GRAYSCALE_VECTOR_BYTES, out);
}

const variant grayscale_vectors = {
    .name = "vectors",
    .idea = "vectors of 16 bytes: sixteen pixels of bytes a work-item, or four of floats",
    .source = "grayscale/grayscale_vectors.cl",
    .entries = {"grayscale_vectors"},
    .build = "",
    .tunables = line_tunables,
    .tunable_count = ARRAY_COUNT(line_tunables),
    .plan = vectors_plan};

/* ---- an image ------------------------------------------------------------------------------- */

static const char *image_plan(const job *j, plan *out)
{
    const tsr_grayscale_problem *p = grayscale_of(j->problem);
    const plan_image image = {p->type, p->width * p->channels, p->height};
    const char *why;

    if (grayscale_pixels(p) == 0)
        return "the picture is empty, and an image must not be";
    why = plan_copy_to_image(out, j->device, &image, GRAYSCALE_COLOUR,
                             p->offset_in * tsr_type_size(p->type));
    return why ? why : plan_pixels(j, true, out);
}

const variant grayscale_image = {
    .name = "image2d",
    .idea = "the picture is copied into an image, and the texture units read it by a sampler",
    .unstated = "loads through texture units",
    .source = "grayscale/grayscale_image.cl",
    .entries = {"grayscale_image"},
    .build = "",
    .tunables = pixel_tunables,
    .tunable_count = ARRAY_COUNT(pixel_tunables),
    .plan = image_plan};
