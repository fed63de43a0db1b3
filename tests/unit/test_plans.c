/*
 * Every plan of every variant, over the problems of the sweep and made-up devices: what must hold
 * of a plan whatever the variant is.  A plan is the same each time; its launches keep the device's
 * limits; its commands refer to kernels, operands and workspace that there are; its tunables have
 * values; each -D is defined once.  Operations and variants come from the registry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fields.h"
#include "core/groups.h"
#include "core/registry.h"

/* ---- made-up devices ---------------------------------------------------------------------- */

static device_facts facts(device_kind kind)
{
    return (device_facts){.kind = kind,
                          .name = "made up",
                          .cl_version = 300,
                          .clc_version = 300,
                          .compute_units = 16,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152,
                          .local_memory_on_chip = kind == DEVICE_GPU,
                          .global_memory = (uint64_t)16 << 30,
                          .max_allocation = (uint64_t)4 << 30,
                          .fp64 = true,
                          .denormals_f32 = true,
                          .denormals_f64 = true,
                          .warp_size = kind == DEVICE_GPU ? 32 : 1,
                          .vector_bits = kind == DEVICE_CPU ? 256 : 0};
}

typedef struct made_up {
    const char *what;
    device_facts facts;
} made_up;

enum { DEVICES = 8 };

static void make_devices(made_up d[DEVICES])
{
    size_t n = 0;

    d[n++] = (made_up){"the host", facts(DEVICE_HOST)};
    d[n++] = (made_up){"a CPU", facts(DEVICE_CPU)};
    d[n] = (made_up){"a CPU of one core without fp64", facts(DEVICE_CPU)};
    d[n].facts.compute_units = 1;
    d[n].facts.vector_bits = 128;
    d[n++].facts.fp64 = false;
    d[n++] = (made_up){"a GPU without features", facts(DEVICE_GPU)};
    d[n] = (made_up){"a GPU of small groups and little local memory", facts(DEVICE_GPU)};
    d[n].facts.max_work_group = 64;
    d[n].facts.max_work_item[0] = d[n].facts.max_work_item[1] = 64;
    d[n++].facts.local_memory = 4096;
    d[n] = (made_up){"a device of groups of one", facts(DEVICE_GPU)};
    d[n].facts.max_work_group = 1;
    d[n].facts.max_work_item[0] = d[n].facts.max_work_item[1] = d[n].facts.max_work_item[2] = 1;
    d[n++].facts.local_memory = 1024;
    for (unsigned capability = 80; capability <= 90; capability += 10) {
        d[n] = (made_up){capability == 80 ? "an NVIDIA GPU of 8.0" : "an NVIDIA GPU of 9.0",
                         facts(DEVICE_GPU)};
        d[n].facts.nvidia = true;
        d[n].facts.nv_capability = capability;
        d[n].facts.compute_units = capability == 80 ? 108 : 132;
        d[n].facts.large_local = capability == 80 ? 166912 : 232448;
        d[n].facts.subgroup_size = 32;
        d[n].facts.image_width = d[n].facts.image_height = 32768;
        for (unsigned f = 0; f < FEATURE_COUNT; f++)
            d[n].facts.feature[f] =
                capability == 80 && (f == FEATURE_WGMMA || f == FEATURE_TENSOR_COPY) ? FEATURE_NO
                                                                                     : FEATURE_YES;
        n++;
    }
    assert_int_equal(n, DEVICES);
}

/* ---- what holds of a plan ------------------------------------------------------------------ */

/* What a plan is of, for messages. */
typedef struct subject {
    const variant *v;
    const job *job;
    const made_up *device;
    operand operands[OPERANDS_MAX];
    size_t operand_count;
} subject;

/* What was found to be wrong first, with the plan that it is of; "" while nothing is. */
static char found[1024];

static void wrong(const subject *s, const char *what, size_t value)
{
    text problem_text = {0}, params_text = {0};

    if (found[0])
        return;
    s->job->problem->op->describe(s->job->problem, &problem_text);
    params_describe(s->job->params, &params_text);
    snprintf(found, sizeof(found), "%s/%s (%s), %s, on %s%s: %s (%zu)", s->job->problem->op->name,
             s->v->name, text_get(&params_text), text_get(&problem_text), s->device->what,
             s->job->arriving ? ", inputs arriving" : "", what, value);
    text_free(&problem_text);
    text_free(&params_text);
}

/* A workspace of no bytes is NULL, which a kernel that does not use it may take. */
static void check_target(const subject *s, const command_arg *a)
{
    if (a->kind == ARG_OPERAND && a->index >= s->operand_count)
        wrong(s, "an argument is an operand that the problem does not have", a->index);
}

static void check_launch(const subject *s, const command *c)
{
    const device_facts *d = s->job->device;
    size_t items = 1, local_bytes = 0, entries = 0, blocks = 0;

    while (entries < ENTRIES_MAX && s->v->entries[entries])
        entries++;
    if (c->entry >= entries)
        wrong(s, "a launch is of a kernel that the variant does not have", c->entry);
    if (c->dims < 1 || c->dims > 3)
        wrong(s, "a launch has so many dimensions", c->dims);
    for (unsigned i = 0; i < c->dims; i++) {
        if (c->local[i] == 0 || c->global[i] == 0 || c->global[i] % c->local[i])
            wrong(s, "the global size is no multiple of the local one", c->global[i]);
        if (c->local[i] > d->max_work_item[i])
            wrong(s, "a work-group is larger than the device takes in a dimension", c->local[i]);
        if (i > 0 && c->local[i] && c->global[i] / c->local[i] > GROUPS_DOWN_MAX)
            wrong(s, "a launch has more work-groups down than devices take", c->global[i]);
        items *= c->local[i];
    }
    if (items > d->max_work_group)
        wrong(s, "a work-group has more work-items than the device takes", items);
    /* What NVIDIA's devices take along the first dimension. */
    if (c->local[0] && c->global[0] / c->local[0] > INT32_MAX)
        wrong(s, "a launch has more work-groups than devices take", c->global[0] / c->local[0]);
    for (unsigned i = 0; i < c->n_args; i++) {
        const command_arg *a = &c->arg[i];

        check_target(s, a);
        if (a->kind == ARG_LOCAL)
            local_bytes += a->bytes;
        if (a->kind == ARG_LOCAL && a->bytes == 0)
            wrong(s, "an argument is no local memory", i);
        if (a->kind == ARG_SCALAR && (a->bytes == 0 || a->bytes > sizeof(a->scalar)))
            wrong(s, "a scalar has so many bytes", a->bytes);
        if (a->kind == ARG_GROUP_COUNTERS && !s->v->group_counters)
            wrong(s, "a variant without group counters passes them", i);
        blocks += a->kind == ARG_BLOCK;
    }
    if (blocks > 1)
        wrong(s, "a launch has several structures", blocks);
    if (local_bytes > d->local_memory && local_bytes > d->large_local)
        wrong(s, "a launch takes more local memory than there is", local_bytes);
}

static void check_fill(const subject *s, const plan *p, const command *c)
{
    const command_arg *to = &c->fill_target;
    const size_t size = to->kind == ARG_WORKSPACE      ? p->workspace
                        : to->index < s->operand_count ? s->operands[to->index].bytes
                                                       : 0;

    check_target(s, to);
    if (to->kind == ARG_OPERAND && !(s->operands[to->index].access & ACCESS_WRITE))
        wrong(s, "a fill writes an operand that is only read", to->index);
    if (c->fill_bytes == 0 || c->fill_offset % 4 || c->fill_bytes % 4)
        wrong(s, "a fill is not of whole words", c->fill_bytes);
    if (c->fill_offset > size || c->fill_bytes > size - c->fill_offset)
        wrong(s, "a fill ends beyond its buffer", c->fill_offset + c->fill_bytes);
}

static void check_image(const subject *s, const plan *p, const command *c)
{
    const plan_image *i = &p->image;
    const device_facts *d = s->job->device;
    const size_t bytes = i->width * i->height * tsr_type_size(i->type);

    if (c->image_operand >= s->operand_count ||
        !(s->operands[c->image_operand].access & ACCESS_READ)) {
        wrong(s, "an image is a copy of an operand that is not read", c->image_operand);
        return;
    }
    if (c->image_offset > s->operands[c->image_operand].bytes ||
        bytes > s->operands[c->image_operand].bytes - c->image_offset)
        wrong(s, "an image is longer than its operand", bytes);
    if (bytes == 0 || i->width > d->image_width || i->height > d->image_height)
        wrong(s, "the device has no such image", i->width);
}

/* Each -D of the options once. */
static void check_options(const subject *s, const plan *p)
{
    text options = {0};
    const char *at;

    plan_options(s->v, s->job->device, p, &options);
    for (at = strstr(text_get(&options), "-D"); at; at = strstr(at + 2, " -D")) {
        const char *name = at + (*at == ' ' ? 3 : 2);
        const size_t length = strcspn(name, "= ");
        char define[80];

        snprintf(define, sizeof(define), " -D%.*s", (int)length, name);
        for (const char *other = strstr(name, define); other; other = strstr(other + 1, define))
            if (strchr("= ", other[strlen(define)]))
                wrong(s, define, 2);
    }
    text_free(&options);
}

/* Each launch states what its work-items ask for, or the variant says why not. */
static void check_stated(const subject *s, const plan *p)
{
    const problem *of = s->job->problem;

    for (size_t i = 0; i < p->count && !variant_unstated(s->v) && of->op->work(of) > 0; i++)
        if (p->commands[i].kind == COMMAND_LAUNCH && !(p->commands[i].traffic.requested > 0))
            wrong(s, "a launch does not state what its work-items ask for, nor the variant why", i);
}

static void check_plan(const subject *s, const plan *p)
{
    check_stated(s, p);
    for (size_t i = 0; i < p->count; i++) {
        if (p->commands[i].lane > LANES)
            wrong(s, "a command has a lane that there is not", p->commands[i].lane);
        if (p->commands[i].kind == COMMAND_FILL)
            check_fill(s, p, &p->commands[i]);
        else if (p->commands[i].kind == COMMAND_IMAGE)
            check_image(s, p, &p->commands[i]);
        else
            check_launch(s, &p->commands[i]);
    }
    if (p->count && p->commands[p->count - 1].lane)
        wrong(s, "the last command does not wait for both lanes", p->commands[p->count - 1].lane);
    if (p->params.count != s->v->tunable_count)
        wrong(s, "the plan has other tunables than the variant", p->params.count);
    if (s->v->source)
        check_options(s, p);
    else if (p->count)
        wrong(s, "C code has commands", p->count);
}

/* Two plans of one job are the same. */
static void check_same(const subject *s, const plan *a, const plan *b)
{
    if (a->count != b->count || a->workspace != b->workspace || a->tiles != b->tiles ||
        strcmp(text_get(&a->defines), text_get(&b->defines)) != 0 ||
        memcmp(a->params.value, b->params.value, sizeof(a->params.value)) != 0)
        wrong(s, "two plans of one job differ", a->count);
    for (size_t i = 0; i < a->count; i++) {
        const command *x = &a->commands[i], *y = &b->commands[i];

        if (x->entry != y->entry || x->n_args != y->n_args || x->dims != y->dims ||
            memcmp(x->global, y->global, sizeof(x->global)) != 0 ||
            memcmp(x->block, y->block, sizeof(x->block)) != 0)
            wrong(s, "a command of two plans of one job differs", i);
    }
}

/* Whether the variant runs the job; its plan is checked then. */
static bool check_job(const variant *v, const job *j, const made_up *device)
{
    subject s = {.v = v, .job = j, .device = device};
    plan first, second;
    const char *why = plan_make(v, j, &first);

    if (why && !*why)
        wrong(&s, "the reason is empty", 0);
    if (!why) {
        s.operand_count = j->problem->op->operands(j->problem, s.operands);
        check_plan(&s, &first);
        assert_null(plan_make(v, j, &second));
        check_same(&s, &first, &second);
        plan_free(&second);
    }
    plan_free(&first);
    return !why;
}

/* ---- over all of them ---------------------------------------------------------------------- */

/* Defaults, then each value of each tunable by itself, and others where any count is legal. */
static size_t check_variant(const variant *v, const problem *p, const made_up *device, bool tune)
{
    static const uint32_t counts[] = {5, 131, TUNABLE_ANY_MAX};
    params chosen = params_default(v);
    job j = {p, &device->facts, &chosen, false};
    size_t plans = check_job(v, &j, device);

    if (v->arrives) {
        j.arriving = true;
        plans += check_job(v, &j, device);
        j.arriving = false;
    }
    for (size_t i = 0; tune && i < v->tunable_count; i++) {
        for (size_t k = 0; k < tunable_values(&v->tunables[i]); k++) {
            chosen.value[i] = v->tunables[i].values[k];
            plans += check_job(v, &j, device);
        }
        for (size_t k = 0; v->tunables[i].any && k < ARRAY_COUNT(counts); k++) {
            chosen.value[i] = counts[k];
            plans += check_job(v, &j, device);
        }
        chosen.value[i] = v->tunables[i].normal;
    }
    return plans;
}

/* The sweep is long; its first problems are small edges, and then every so many are enough: fewer
 * where AddressSanitizer looks for what goes wrong in plan() itself. */
#ifdef __SANITIZE_ADDRESS__
enum { FIRST_PROBLEMS = 24, EVERY = 7, TUNED_EVERY = 21 };
#else
enum { FIRST_PROBLEMS = 24, EVERY = 2, TUNED_EVERY = 7 };
#endif

static void every_plan_is_sound(void **state)
{
    static made_up devices[DEVICES];
    const operation *op;

    (void)state;
    make_devices(devices);
    for (size_t i = 0; (op = operation_at(i)); i++) {
        size_t *seen = calloc(op->variant_count, sizeof(*seen));
        problem p;

        assert_non_null(seen);
        for (size_t k = 0; op->sweep(k, false, &p); k++) {
            unsigned order[OPERANDS_MAX];
            problem normal;

            if (k >= FIRST_PROBLEMS && k % EVERY)
                continue;
            assert_int_equal(op->check(&p, NULL), TSR_OK);
            normal = problem_normal(&p, order);
            for (size_t d = 0; d < DEVICES; d++)
                for (size_t v = 0; v < op->variant_count; v++)
                    seen[v] += check_variant(op->variants[v], &normal, &devices[d],
                                             k % TUNED_EVERY == 0 || k < FIRST_PROBLEMS);
            if (found[0])
                fail_msg("%s", found);
        }
        /* No variant is left out because nothing here suits it. */
        for (size_t v = 0; v < op->variant_count; v++) {
            if (!seen[v])
                fail_msg("%s/%s had no plan", op->name, op->variants[v]->name);
            print_message("%s/%s: %zu plans\n", op->name, op->variants[v]->name, seen[v]);
        }
        free(seen);
    }
}

/* Each extent by itself, of more than the groups that a device takes along a dimension up to beyond
 * 2^32: a plan covers it by launches that devices take, or says why not. */
static void plans_of_large_problems_are_sound(void **state)
{
    static const size_t counts[] = {70003, ((size_t)1 << 21) + 3, ((size_t)1 << 33) + 3};
    static made_up devices[DEVICES];
    const operation *op;

    (void)state;
    make_devices(devices);
    for (size_t i = 0; (op = operation_at(i)); i++) {
        size_t plans = 0, jobs = 0;

        for (size_t k = 0; k < op->command->field_count * ARRAY_COUNT(counts); k++) {
            const field *f = &op->command->fields[k / ARRAY_COUNT(counts)];
            problem p, normal;
            unsigned order[OPERANDS_MAX];

            if (!f->extent)
                continue;
            op->sweep(0, false, &p);
            field_set_count(f, &p, counts[k % ARRAY_COUNT(counts)]);
            if (op->check(&p, NULL))
                continue;
            normal = problem_normal(&p, order);
            for (size_t v = 0; v < op->variant_count; v++, jobs++)
                plans += check_variant(op->variants[v], &normal, &devices[DEVICES - 1], false);
            if (found[0])
                fail_msg("%s", found);
        }
        print_message("%s: %zu plans of %zu large jobs\n", op->name, plans, jobs);
    }
}

/* One launch of DOWN x LAYERS groups of 2 x 4 x 1, after a fill. */
static const char *plan_of_many_groups(const job *j, plan *out)
{
    command *c;

    plan_fill(out, ARG_WORKSPACE, 0, 0, 4, 0);
    c = plan_launch_2d(out, 0, 2, (size_t)4 * param(j->params, "DOWN"), 2, 4);
    c->dims = 3;
    c->global[2] = param(j->params, "LAYERS");
    c->local[2] = 1;
    c->bytes = 8.0 * param(j->params, "DOWN") * param(j->params, "LAYERS");
    c->settles = true;
    return NULL;
}

static const tunable tunables_of_many_groups[] = {{"DOWN", "groups", {1}, 1},
                                                  {"LAYERS", "groups", {1}, 1}};

static const variant many_groups = {.name = "many-groups",
                                    .idea = "",
                                    .source = "none.cl",
                                    .entries = {"only"},
                                    .tunables = tunables_of_many_groups,
                                    .tunable_count = 2,
                                    .plan = plan_of_many_groups};

/* The parts of a launch begin where others end, and together are the whole: each group once. */
static void launches_of_many_groups_are_split(void **state)
{
    const size_t most = GROUPS_DOWN_MAX;
    const struct {
        uint32_t down, layers;
        size_t parts;
    } cases[] = {{1, 1, 1},
                 {GROUPS_DOWN_MAX, GROUPS_DOWN_MAX, 1},
                 {GROUPS_DOWN_MAX + 1, 1, 2},
                 {3, GROUPS_DOWN_MAX + 1, 2},
                 {3 * GROUPS_DOWN_MAX, 70000, 6},
                 {16384 * GROUPS_DOWN_MAX, 1, 16384},
                 {16384 * GROUPS_DOWN_MAX + 1, 1, 0},
                 {UINT32_MAX, UINT32_MAX, 0}};
    const device_facts gpu = facts(DEVICE_GPU);
    const problem p = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        params chosen = params_default(&many_groups);
        const job j = {&p, &gpu, &chosen, false};
        size_t y = 0, z = 0;
        double bytes = 0;
        plan out;

        chosen.value[0] = cases[i].down;
        chosen.value[1] = cases[i].layers;
        assert_int_equal(!plan_make(&many_groups, &j, &out), cases[i].parts > 0);
        assert_true(cases[i].parts == 0 || out.count == 1 + cases[i].parts);
        for (size_t k = 1; cases[i].parts && k < out.count; k++) {
            const command *c = &out.commands[k];

            assert_int_equal(c->start[0], 0);
            assert_int_equal(c->start[1], 4 * y);
            assert_int_equal(c->start[2], z);
            assert_int_equal(c->global[1], 4 * size_min(cases[i].down - y, most));
            assert_int_equal(c->global[2], size_min(cases[i].layers - z, most));
            assert_true(c->settles == (k + 1 == out.count));
            bytes += c->bytes;
            y += c->global[1] / 4;
            if (y == cases[i].down) {
                y = 0;
                z += c->global[2];
            }
        }
        if (cases[i].parts) {
            assert_int_equal(z, cases[i].layers);
            assert_float_equal(bytes, 8.0 * cases[i].down * cases[i].layers, bytes * 1e-9);
        }
        plan_free(&out);
    }
}

/* ---- the checks themselves ----------------------------------------------------------------- */

/* A plan with one thing wrong with it, by DEFECT. */
static const char *defective_plan(const job *j, plan *out)
{
    const uint32_t defect = param(j->params, "DEFECT");
    command *c = plan_launch_1d(out, defect == 1, defect == 2 ? 100 : 128, 64);

    c->traffic.requested = defect == 11 ? 0 : 4;
    if (defect == 3)
        c->local[0] = c->global[0] = 4096;
    if (defect == 4)
        command_operand(c, OPERANDS_MAX);
    if (defect == 5)
        plan_fill(out, ARG_WORKSPACE, 0, 0, 4, 0);
    if (defect == 6)
        c->lane = 1;
    if (defect == 7)
        command_local(c, (size_t)1 << 30);
    if (defect == 8)
        plan_define(out, "DEFECT=%u", defect);
    if (defect == 9)
        plan_fill(out, ARG_OPERAND, 0, 0, 4, 0);
    if (defect == 10)
        c->global[0] = (size_t)64 << 32;
    return NULL;
}

enum { DEFECTS = 11 };

static const tunable defective_tunables[] = {
    {"DEFECT", "which", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 12}};

static const variant defective = {.name = "defective",
                                  .idea = "",
                                  .source = "none.cl",
                                  .entries = {"only"},
                                  .tunables = defective_tunables,
                                  .tunable_count = 1,
                                  .plan = defective_plan};

/* The sweep of the first operation whose first operand is only read serves as the problem. */
static problem problem_that_reads(void)
{
    const operation *op;
    operand operands[OPERANDS_MAX];
    problem p;

    for (size_t i = 0; (op = operation_at(i)); i++)
        for (size_t k = 0; op->sweep(k, true, &p); k++)
            if (op->operands(&p, operands) && operands[0].access == ACCESS_READ &&
                operands[0].bytes >= 4)
                return p;
    fail_msg("no operation reads its first operand");
    return p;
}

static void each_defect_is_found(void **state)
{
    const made_up device = {"a GPU", facts(DEVICE_GPU)};
    const problem p = problem_that_reads();
    params chosen = params_default(&defective);
    const job j = {&p, &device.facts, &chosen, false};

    (void)state;
    assert_true(check_job(&defective, &j, &device));
    assert_string_equal(found, "");
    for (uint32_t defect = 1; defect <= DEFECTS; defect++) {
        chosen.value[0] = defect;
        check_job(&defective, &j, &device);
        if (!found[0])
            fail_msg("defect %u was not found", defect);
        found[0] = '\0';
    }
}

int main(void)
{
    /* Plans of many commands come and go: else the system clears their pages each time, which takes
     * twice as long as all else. */
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_is_sound),
        cmocka_unit_test(plans_of_large_problems_are_sound),
        cmocka_unit_test(launches_of_many_groups_are_split),
        cmocka_unit_test(each_defect_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
