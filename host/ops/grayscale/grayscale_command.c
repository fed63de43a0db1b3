#include <stddef.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/posing.h"
#include "ops/grayscale/grayscale_problem.h"

static const field_choice lumas[] = {
    {"bt601", TSR_LUMA_BT601}, {"bt709", TSR_LUMA_BT709}, {"opencv", TSR_LUMA_OPENCV}, {NULL, 0}};

static const field fields[] = {
    {.name = "type",
     .kind = FIELD_TYPE,
     .offset = offsetof(tsr_grayscale_problem, type),
     .in_class = CLASS_EXACT},
    {.name = "height",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_grayscale_problem, height),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "width",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_grayscale_problem, width),
     .extent = true,
     .in_class = CLASS_POWER_OF_4},
    {.name = "channels", .kind = FIELD_COUNT, .offset = offsetof(tsr_grayscale_problem, channels)},
    {.name = "weights",
     .kind = FIELD_CHOICE,
     .offset = offsetof(tsr_grayscale_problem, luma),
     .option = "weights",
     .otherwise = "bt601",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "NAME",
     .meaning =
         "weights of red, green and blue: bt601, 0.299, 0.587 and 0.114; bt709, 0.2126, 0.7152 "
         "and 0.0722; or opencv, bt601 as OpenCV rounds it",
     .choices = lumas},
};

static const problem_member members[] = {
    PROBLEM_MEMBER(tsr_grayscale_problem, offset_in, COUNT),
    PROBLEM_MEMBER(tsr_grayscale_problem, offset_out, COUNT),
};

const char *grayscale_luma_name(const problem *p)
{
    return field_choice_name(field_of_kind(p->op, FIELD_CHOICE), p);
}

static const file_use files[] = {{.operand = GRAYSCALE_COLOUR}};

static const operation_help help = {
    .usage = "IN -o OUT [--weights bt601|bt709|opencv]",
    .summary = "convert a picture in colour to grey",
    .details =
        "IN is a picture in a .png or .ppm file, or an array of height x width x 3 or 4, uint8 or\n"
        "float32, in a .npy file; - is standard input.  A fourth channel, opacity, is ignored.\n"
        "OUT is .png or .pgm by its suffix, else .npy.\n",
    .examples = "tessera grayscale photo.png -o grey.png\n"
                "tessera grayscale photo.ppm -o grey.npy --weights bt709 --verify\n",
};

static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    (void)given, (void)size, (void)n, (void)count, (void)err;
    grayscale_in(p)->channels = 3;
    return TSR_OK;
}

static tsr_status pose(posing *x, tsr_error *err)
{
    const array *a = &x->array[GRAYSCALE_COLOUR];
    tsr_grayscale_problem *p = grayscale_in(&x->problem);
    array grey = {.type = a->type, .rank = 2};
    char shape[SHAPE_SIZE];

    if (a->rank != 3 || a->shape[2] < 3 || a->shape[2] > 4)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s is %s, and a picture in colour must be height x width x 3 or 4",
                        x->file[GRAYSCALE_COLOUR], shape_text(a, shape));
    grey.shape[0] = p->height = a->shape[0];
    grey.shape[1] = p->width = a->shape[1];
    p->channels = a->shape[2];
    return make_zeros(&grey, &x->array[GRAYSCALE_GREY], err);
}

static const char *host_source(const variant *v)
{
    return v->serves_cpus ? "host/ops/grayscale/grayscale_simd_loops.c"
                          : "host/ops/grayscale/grayscale.c";
}

static const char *const tune_sizes[] = {"256x256", "1024x1024", "8192x8192", NULL};
static const char *const tune_sizes_cpu[] = {"256x256", "1024x1024", "2048x2048", NULL};

static const peer_library peers[] = {{"opencv", "OpenCV", "libopencv-imgproc-dev"}, {0}};

const operation_command grayscale_command = {
    .sizes = {.bench = "2048x2048",
              .roofline = "8192x8192",
              .roofline_cpu = "2048x2048",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_grayscale_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = "'-o FILE' says where the grey picture goes",
    .size_form = "HEIGHTxWIDTH, or a number for both",
    .size_numbers = 2,
    .lay_out = lay_out,
    .pose = pose,
};
