#include "core/plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "core/registry.h"
#include "core/variant.h"

uint32_t param(const params *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->tunables[i].name, name) == 0)
            return p->value[i];
    assert(!"the variant declares this tunable");
    return 0;
}

/* ---- what plan() calls -------------------------------------------------------------------- */

const char *plan_in_c(const job *j, plan *out)
{
    (void)j, (void)out;
    return NULL;
}

const char *plan_type_name(tsr_type type)
{
    static const char *const names[TSR_TYPE_COUNT] = {
        [TSR_F32] = "float", [TSR_F64] = "double", [TSR_I32] = "int",    [TSR_U32] = "uint",
        [TSR_I64] = "long",  [TSR_U64] = "ulong",  [TSR_F16] = "ushort", [TSR_I8] = "char",
        [TSR_U8] = "uchar",  [TSR_I16] = "short",  [TSR_U16] = "ushort", [TSR_BF16] = "ushort"};

    return names[type];
}

const char *plan_bits_name(tsr_type type)
{
    static const char *const names[] = {"uchar", "ushort", "uint", "ulong"};

    return names[size_log2_up(tsr_type_size(type))];
}

int plan_float_form(tsr_type type)
{
    if (!type_is_real(type))
        return 0;
    return type == TSR_BF16 ? 17 : 8 * (int)tsr_type_size(type);
}

const char *plan_unsupported(plan *p, const char *format, ...)
{
    va_list args;

    text_clear(&p->reason);
    va_start(args, format);
    text_vformat(&p->reason, format, args);
    va_end(args);
    return text_get(&p->reason);
}

void plan_define(plan *p, const char *format, ...)
{
    va_list args;

    text_append(&p->defines, " -D");
    va_start(args, format);
    text_vformat(&p->defines, format, args);
    va_end(args);
}

void plan_define_nan_extremes(const device_facts *d, plan *p)
{
    if (d->feature[FEATURE_PTX] == FEATURE_YES && d->nv_capability >= 80)
        plan_define(p, "NAN_EXTREMES=1");
}

void plan_set(plan *p, const char *name, uint32_t value)
{
    for (size_t i = 0; i < p->params.count; i++) {
        if (strcmp(p->params.tunables[i].name, name) == 0) {
            p->params.value[i] = value;
            return;
        }
    }
    assert(!"the variant declares this tunable");
}

static command *next_command(plan *p)
{
    static command nowhere; /* written and never read: the plan has failed */

    if (p->count == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 4;
        command *more = realloc(p->commands, capacity * sizeof(*more));

        if (!more) {
            p->failed = true;
            return &nowhere;
        }
        p->commands = more;
        p->capacity = capacity;
    }
    return &p->commands[p->count++];
}

command *plan_launch_1d(plan *p, unsigned entry, size_t global, size_t local)
{
    command *c = next_command(p);

    *c = (command){.kind = COMMAND_LAUNCH, .entry = entry, .dims = 1};
    c->global[0] = global;
    c->local[0] = local;
    return c;
}

command *plan_launch_2d(plan *p, unsigned entry, size_t global_x, size_t global_y, size_t local_x,
                        size_t local_y)
{
    command *c = next_command(p);

    command_launch_2d(c, entry, global_x, global_y, local_x, local_y);
    return c;
}

command *plan_fill(plan *p, arg_kind target, unsigned index, size_t offset, size_t bytes,
                   uint32_t pattern)
{
    command *c = next_command(p);

    *c = (command){.kind = COMMAND_FILL,
                   .fill_target = {.kind = target, .index = index},
                   .fill_offset = offset,
                   .fill_bytes = bytes,
                   .fill_pattern = pattern};
    return c;
}

const char *plan_copy_to_image(plan *p, const device_facts *d, const plan_image *image,
                               unsigned from, size_t offset)
{
    const size_t size = tsr_type_size(image->type);

    if (d->image_width == 0)
        return "the device has no images of one channel, which come with OpenCL 2.0";
    if (image->width > d->image_width || image->height > d->image_height)
        return plan_unsupported(p, "an image of %zux%zu elements is over the device's %zux%zu",
                                image->height, image->width, d->image_height, d->image_width);
    if (image->width * image->height > d->max_allocation / size)
        return plan_unsupported(p,
                                "an image of %zux%zu elements is over the %llu bytes of the "
                                "device's largest allocation",
                                image->height, image->width, (unsigned long long)d->max_allocation);
    p->image = *image;
    *next_command(p) =
        (command){.kind = COMMAND_IMAGE,
                  .image_operand = from,
                  .image_offset = offset,
                  .bytes = 2 * (double)size * (double)image->width * (double)image->height};
    return NULL;
}

size_t plan_image_bytes(const plan *p)
{
    return p->image.width * p->image.height * tsr_type_size(p->image.type);
}

void plan_append(plan *p, const command *c)
{
    *next_command(p) = *c;
}

void command_launch_2d(command *s, unsigned entry, size_t global_x, size_t global_y, size_t local_x,
                       size_t local_y)
{
    *s = (command){.kind = COMMAND_LAUNCH, .entry = entry, .dims = 2};
    s->global[0] = global_x;
    s->local[0] = local_x;
    s->global[1] = global_y;
    s->local[1] = local_y;
}

static command_arg *next_arg(command *s, arg_kind kind)
{
    assert(s->n_args < COMMAND_ARGS_MAX);
    s->arg[s->n_args] = (command_arg){.kind = kind};
    return &s->arg[s->n_args++];
}

void command_operand(command *s, unsigned index)
{
    next_arg(s, ARG_OPERAND)->index = index;
}

void command_workspace(command *s)
{
    next_arg(s, ARG_WORKSPACE);
}

void command_group_counters(command *s, bool used)
{
    next_arg(s, used ? ARG_GROUP_COUNTERS : ARG_NO_BUFFER);
}

void command_no_buffer(command *s)
{
    next_arg(s, ARG_NO_BUFFER);
}

void command_image(command *s)
{
    next_arg(s, ARG_IMAGE);
}

void command_strict_counter(command *s)
{
    next_arg(s, ARG_STRICT_COUNTER);
}

static void scalar(command *s, const void *value, size_t bytes)
{
    command_arg *a = next_arg(s, ARG_SCALAR);

    a->bytes = bytes;
    memcpy(a->scalar, value, bytes);
}

void command_u32(command *s, uint32_t value)
{
    scalar(s, &value, sizeof(value));
}

void command_u64(command *s, uint64_t value)
{
    scalar(s, &value, sizeof(value));
}

void command_real(command *s, tsr_type type, double value)
{
    float narrow = (float)value;

    if (type == TSR_F64)
        scalar(s, &value, sizeof(value));
    else
        scalar(s, &narrow, sizeof(narrow));
}

void command_local(command *s, size_t bytes)
{
    next_arg(s, ARG_LOCAL)->bytes = bytes;
}

void command_block(command *s, const void *block, size_t bytes)
{
    assert(bytes <= sizeof(s->block));
    for (unsigned i = 0; i < s->n_args; i++)
        assert(s->arg[i].kind != ARG_BLOCK && "a launch has room for one");
    next_arg(s, ARG_BLOCK)->bytes = bytes;
    memcpy(s->block, block, bytes);
}

/* ---- what callers of a variant call -------------------------------------------------------- */

/* NULL, or that a variant is of the other side, or needs a feature that is absent. */
static const char *unsupported_here(const variant *v, const job *j, plan *out)
{
    const device_facts *d = j->device;

    if (v->source && d->kind == DEVICE_HOST)
        return "it is an OpenCL kernel and the host runs C code";
    if (!variant_is_for(v, d))
        return v->serves_cpus ? "it is C code and runs on the device 'host' and on CPUs"
                              : "it is C code and runs on the device 'host'";
    if (!v->source && d->kind != DEVICE_HOST && !j->c_reaches)
        return "it is C code and works on arrays in the host's memory, not on these buffers";
    for (unsigned f = 0; f < FEATURE_COUNT; f++)
        if ((v->needs & 1u << f) && d->feature[f] != FEATURE_YES)
            return plan_unsupported(out, "it needs %s: %s", feature_name((feature)f),
                                    d->feature_why[f][0] ? d->feature_why[f]
                                                         : "not probed on this device");
    return NULL;
}

/* Work-groups of a launch along a dimension. */
static size_t groups_along(const command *c, unsigned d)
{
    return d < c->dims ? c->global[d] / c->local[d] : 1;
}

/* The part of a launch that begins at the groups `y` and `z` of its second and third dimension. */
static command launch_part(const command *whole, size_t y, size_t z)
{
    const size_t from[3] = {0, y, z};
    command c = *whole;
    double share = 1;

    for (unsigned d = 1; d < c.dims; d++) {
        const size_t all = groups_along(whole, d);
        const size_t own = size_min(all - from[d], GROUPS_DOWN_MAX);

        c.start[d] = from[d] * c.local[d];
        c.global[d] = own * c.local[d];
        share *= (double)own / (double)all;
        c.settles = c.settles && from[d] + own == all;
    }
    c.bytes *= share;
    c.flops *= share;
    c.traffic.requested *= share;
    c.traffic.local *= share;
    return c;
}

/* Most launches that one becomes: together they take a thousand million groups. */
enum { LAUNCH_PARTS_MAX = 16384 };

/* Replace launches of more groups than a device takes along a dimension by several. */
static const char *split_launches(plan *p)
{
    const size_t most = GROUPS_DOWN_MAX;
    command *const whole = p->commands;
    const size_t count = p->count;
    bool fits = true;

    for (size_t i = 0; i < count; i++) {
        const command *c = &whole[i];
        const size_t y = groups_along(c, 1), z = groups_along(c, 2);

        if (c->kind != COMMAND_LAUNCH || (y <= most && z <= most))
            continue;
        fits = false;
        if (size_div_up(y, most) > LAUNCH_PARTS_MAX / size_div_up(z, most))
            return plan_unsupported(p,
                                    "its %zu x %zu work-groups along the second and third "
                                    "dimension need more than %d launches of %zu x %zu",
                                    y, z, (int)LAUNCH_PARTS_MAX, most, most);
    }
    if (fits)
        return NULL;
    p->commands = NULL;
    p->count = p->capacity = 0;
    for (size_t i = 0; i < count; i++) {
        const bool launch = whole[i].kind == COMMAND_LAUNCH;
        const size_t down = launch ? groups_along(&whole[i], 1) : 1;
        const size_t layers = launch ? groups_along(&whole[i], 2) : 1;

        if (down <= most && layers <= most) {
            plan_append(p, &whole[i]);
            continue;
        }
        for (size_t z = 0; z < layers; z += most) {
            for (size_t y = 0; y < down; y += most) {
                const command part = launch_part(&whole[i], y, z);

                plan_append(p, &part);
            }
        }
    }
    free(whole);
    return NULL;
}

static bool passes_group_counters(const plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        for (unsigned a = 0; a < p->commands[i].n_args; a++)
            if (p->commands[i].arg[a].kind == ARG_GROUP_COUNTERS)
                return true;
    return false;
}

const char *plan_unsupported_local(plan *p, size_t bytes, size_t limit)
{
    if (bytes <= limit)
        return NULL;
    return plan_unsupported(p, "it needs %zu bytes of local memory, and the device has %zu", bytes,
                            limit);
}

const char *plan_unsupported_buffer(plan *p, const device_facts *d, const char *what, double bytes)
{
    if (bytes <= (double)d->max_allocation || d->max_allocation == 0) /* 0: not known */
        return NULL;
    return plan_unsupported(p,
                            "its %s of %.0f bytes is over the device's largest allocation of %llu",
                            what, bytes, (unsigned long long)d->max_allocation);
}

const char *plan_make(const variant *v, const job *j, plan *out)
{
    const char *why;

    *out = (plan){.params = *j->params};
    why = unsupported_here(v, j, out);
    if (!why)
        why = v->plan(j, out);
    if (!why && !out->failed)
        why = split_launches(out);
    if (!why && j->arriving && !out->arriving)
        why = "it does not run on inputs that arrive in pieces";
    if (!why && (out->failed || out->defines.failed || out->reason.failed))
        why = "no memory for its plan";
    out->has_group_counters = !why && v->group_counters && passes_group_counters(out);
    if (!why)
        why = plan_unsupported_buffer(out, j->device, "workspace", (double)out->workspace);
    if (!why && out->has_group_counters)
        why = plan_unsupported_buffer(out, j->device, "buffer of counters",
                                      (double)GROUP_COUNTERS_MAX * sizeof(uint32_t));
    return why;
}

const char *plan_take_reason(plan *p, const char *why, text *reason)
{
    if (why) {
        text_clear(reason);
        text_append(reason, why);
        why = text_get(reason);
    }
    plan_free(p);
    return why;
}

void plan_free(plan *p)
{
    text_free(&p->defines);
    text_free(&p->reason);
    free(p->commands);
    *p = (plan){0};
}

/* Append v->build with %CLC% replaced by the -cl-std value of the device's highest OpenCL C. */
static void append_build_flags(const char *build, const device_facts *d, text *out)
{
    const char *mark = strstr(build, "%CLC%");

    if (!mark) {
        text_append(out, build);
        return;
    }
    text_append_bytes(out, build, (size_t)(mark - build));
    variant_standard(d, out);
    text_append(out, mark + strlen("%CLC%"));
}

void plan_options(const variant *v, const device_facts *d, const plan *p, text *out)
{
    append_build_flags(v->build ? v->build : "", d, out);
    text_append(out, text_get(&p->defines));
    for (size_t i = 0; i < p->params.count; i++)
        if (p->params.value[i] && !p->params.tunables[i].host_only)
            text_format(out, " -D%s=%u", p->params.tunables[i].name, p->params.value[i]);
}

void plan_kernels(const variant *v, const plan *p, text *out)
{
    bool launched[ENTRIES_MAX] = {false};

    for (size_t i = 0; i < p->count; i++)
        if (p->commands[i].kind == COMMAND_LAUNCH)
            launched[p->commands[i].entry] = true;
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        if (launched[i])
            text_format(out, " %s", v->entries[i]);
}
