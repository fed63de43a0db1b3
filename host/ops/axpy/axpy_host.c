/* The variants in C: the plain loop, the loop on every core, and vectors of every type. */
#include "base/elements.h"
#include "base/fail.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "base/team.h"
#include "core/real.h"
#include "ops/axpy/axpy_problem.h"
#include "ops/axpy/axpy_simd.h"

/* Elements that are worth more threads than one. */
enum { PARALLEL_MIN = 1 << 17 };

/* Elements that a thread takes at least, and turns that it has, on average: one that begins late
 * leaves some to others. */
enum { STRETCH = 1 << 14, TURNS = 16 };

/* ---- lessons: float32 ------------------------------------------------------------------------ */

typedef struct lesson {
    size_t n;
    float alpha;
    const float *x, *y;
    float *z;
} lesson;

static lesson lesson_of(const problem *q, void *const operands[])
{
    const tsr_axpy_problem *p = axpy_of(q);
    const float *y = p->in_place ? operands[AXPY_Z] : operands[AXPY_Y];

    if (p->n == 0)
        return (lesson){0};
    return (lesson){.n = p->n,
                    .alpha = (float)p->alpha,
                    .x = (const float *)operands[AXPY_X] + p->offset_x,
                    .y = y + (p->in_place ? p->offset_z : p->offset_y),
                    .z = (float *)operands[AXPY_Z] + p->offset_z};
}

static tsr_status run_loop(const problem *q, void *const operands[], tsr_error *err)
{
    const lesson l = lesson_of(q, operands);

    (void)err;
    for (size_t i = 0; i < l.n; i++)
        l.z[i] = l.alpha * l.x[i] + l.y[i];
    return TSR_OK;
}

const variant axpy_loop = {
    .name = "loop", .idea = "the plain loop", .plan = axpy_unsupported_lesson, .host = run_loop};

static void run_stretch(void *context, size_t item, size_t who)
{
    const lesson *l = context;
    const size_t end = size_min((item + 1) * STRETCH, l->n);

    (void)who;
    for (size_t i = item * STRETCH; i < end; i++)
        l->z[i] = l->alpha * l->x[i] + l->y[i];
}

static tsr_status run_threads(const problem *q, void *const operands[], tsr_error *err)
{
    lesson l = lesson_of(q, operands);

    (void)err;
    team_run(team_threads(), size_div_up(l.n, STRETCH), run_stretch, &l);
    return TSR_OK;
}

const variant axpy_threads = {.name = "threads",
                              .idea = "the same loop over stretches, which the cores share",
                              .plan = axpy_unsupported_lesson,
                              .host = run_threads};

/* ---- every type ------------------------------------------------------------------------------ */

static axpy_loop_of *loop_of(tsr_type type)
{
    static axpy_loop_of *const f32[] = {ISA_EACH(axpy_f32)}, *const f64[] = {ISA_EACH(axpy_f64)};
    static axpy_loop_of *const f16[] = {ISA_EACH(axpy_f16)}, *const bf16[] = {ISA_EACH(axpy_bf16)};
    static axpy_loop_of *const whole[][ISA_COUNT] = {
        {ISA_EACH(axpy_u8)}, {ISA_EACH(axpy_u16)}, {ISA_EACH(axpy_u32)}, {ISA_EACH(axpy_u64)}};
    const isa best = isa_best();

    switch (type) {
    case TSR_F32:
        return f32[best];
    case TSR_F64:
        return f64[best];
    case TSR_F16:
        return f16[best];
    case TSR_BF16:
        return bf16[best];
    default:
        return whole[size_log2_up(tsr_type_size(type))][best];
    }
}

/* A call, and the elements of it that a thread takes at a time: a multiple of STRETCH, so that two
 * threads do not write one cache line, or but the first and the last. */
typedef struct adding {
    axpy_loop_of *loop;
    axpy_share whole;
    size_t size, at_once;
} adding;

static void add_some(void *context, size_t item, size_t who)
{
    const adding *a = context;
    const size_t first = item * a->at_once;
    axpy_share s = a->whole;

    (void)who;
    s.n = size_min(a->at_once, a->whole.n - first);
    s.x = (const char *)s.x + first * s.incx * a->size;
    s.y = (const char *)s.y + first * s.incy * a->size;
    s.z = (char *)s.z + first * s.incz * a->size;
    a->loop(&s);
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_axpy_problem *p = axpy_of(q);
    const size_t size = tsr_type_size(p->type);
    const view x = axpy_view(p, AXPY_X), y = axpy_view(p, AXPY_Y), z = axpy_view(p, AXPY_Z);
    const char *added = operands[p->in_place ? AXPY_Z : AXPY_Y];
    const size_t threads = p->n < PARALLEL_MIN ? 1 : team_threads();
    adding a = {.loop = loop_of(p->type), .size = size};

    (void)err;
    if (p->n == 0)
        return TSR_OK;
    a.whole = (axpy_share){.n = p->n,
                           .x = (const char *)operands[AXPY_X] + x.offset * size,
                           .y = added + y.offset * size,
                           .z = (char *)operands[AXPY_Z] + z.offset * size,
                           .incx = axpy_inc(p, AXPY_X),
                           .incy = axpy_inc(p, AXPY_Y),
                           .incz = axpy_inc(p, AXPY_Z),
                           .alpha = real_round(real_sums(p->type), p->alpha),
                           .whole = type_is_real(p->type) ? 0 : axpy_whole(p->alpha),
                           .past_caches = p->n > PAST_CACHES_MIN / 3 / size};
    a.at_once = size_round_up(size_div_up(p->n, threads * TURNS), STRETCH);
    team_run(threads, size_div_up(p->n, a.at_once), add_some, &a);
    return TSR_OK;
}

const variant axpy_simd = {
    .name = "simd",
    .idea = "vectors of every type, on every core; what is large is stored past the caches",
    .plan = plan_in_c,
    .host = run_simd,
    .serves_cpus = true};
