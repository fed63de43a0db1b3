#include "core/tuning.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"

/* ---- whose an entry is ------------------------------------------------------------------- */

/* PoCL's CPU devices are "pthread-CPU-MODEL" or "cpu-CPU-MODEL": LLVM's name of the CPU is in lower
 * case, the model's is not, and it stands for the instructions that kernels are compiled to. */
static void cpu_family(const char *name, char *out, size_t size)
{
    const char *cpu = strchr(name, '-');
    size_t length = 0;

    if (!cpu || (strncmp(name, "pthread-", 8) != 0 && strncmp(name, "cpu-", 4) != 0))
        return;
    cpu++;
    while (islower((unsigned char)cpu[length]) || isdigit((unsigned char)cpu[length]) ||
           cpu[length] == '-')
        length++;
    while (length && cpu[length - 1] != '-')
        length--;
    if (length > 1)
        snprintf(out, size, "cpu %.*s", (int)(length - 1), cpu);
}

void tuning_family(const device_facts *d, char *out, size_t size)
{
    *out = '\0';
    if (d->nvidia && d->nv_capability)
        snprintf(out, size, "sm_%u", d->nv_capability);
    else if (d->kind == DEVICE_GPU && strncmp(d->name, "gfx", 3) == 0)
        snprintf(out, size, "%.*s", (int)strcspn(d->name, ":"), d->name);
    else if (d->kind == DEVICE_CPU)
        cpu_family(d->name, out, size);
}

static const char *kind_name(device_kind kind)
{
    static const char *const names[] = {
        [DEVICE_HOST] = "host", [DEVICE_CPU] = "cpu", [DEVICE_GPU] = "gpu"};

    return kind == DEVICE_ACCELERATOR ? "accelerator" : names[kind];
}

void tuning_owner(const device_facts *d, tuning *out)
{
    snprintf(out->device, sizeof(out->device), "%s", d->name);
    snprintf(out->driver, sizeof(out->driver), "%s", d->driver);
    snprintf(out->vendor, sizeof(out->vendor), "%s", d->vendor);
    snprintf(out->kind, sizeof(out->kind), "%s", kind_name(d->kind));
    tuning_family(d, out->family, sizeof(out->family));
}

/* ---- ranking ----------------------------------------------------------------------------- */

static const char *const levels[] = {"device", "name", "family", "vendor", "default"};

enum { LEVEL_DEVICE, LEVEL_NAME, LEVEL_FAMILY, LEVEL_VENDOR, LEVEL_DEFAULT, LEVEL_COUNT };

/* Both say the same, and something. */
static bool same(const char *a, const char *b)
{
    return *a && strcmp(a, b) == 0;
}

/* The level at which an entry fits a device; LEVEL_COUNT where it does not. */
static unsigned level_of(const tuning *t, const tuning *self)
{
    if (same(t->device, self->device))
        return strcmp(t->driver, self->driver) == 0 ? LEVEL_DEVICE : LEVEL_NAME;
    if (*t->kind && strcmp(t->kind, self->kind) != 0)
        return LEVEL_COUNT; /* a vendor of GPUs may make CPUs */
    if (same(t->family, self->family))
        return LEVEL_FAMILY;
    if (same(t->vendor, self->vendor))
        return LEVEL_VENDOR;
    return *t->device || *t->family || *t->vendor ? LEVEL_COUNT : LEVEL_DEFAULT;
}

/* An entry and where it stands: lower goes first. */
typedef struct ranked {
    tuning entry;
    unsigned rank;
    size_t order; /* in which it was read: keeps the sort stable */
} ranked;

typedef struct gathering {
    const char *problem_class; /* NULL: every class */
    tuning self;               /* who looks up */
    ranked *list;
    size_t count;
    bool failed; /* no memory */
} gathering;

static bool gather(const tuning *t, const char *file, const char *ignored, void *context)
{
    gathering *g = context;
    ranked *bigger;
    unsigned level;

    (void)file;
    (void)ignored; /* the listing of `tessera kernels` names them */
    if (!t)
        return true;
    level = level_of(t, &g->self);
    if (level == LEVEL_COUNT ||
        (g->problem_class && *t->problem_class && strcmp(t->problem_class, g->problem_class) != 0))
        return true;
    bigger = realloc(g->list, (g->count + 1) * sizeof(*g->list));
    g->failed = !bigger;
    if (!bigger)
        return false;
    g->list = bigger;
    g->list[g->count] = (ranked){.entry = *t,
                                 .rank = level * 4 + (*t->problem_class ? 0 : 2) + t->embedded,
                                 .order = g->count};
    strcpy(g->list[g->count].entry.level, levels[level]);
    g->count++;
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_class(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    int order = strcmp(x->entry.problem_class, y->entry.problem_class);

    return order ? order : by_rank(a, b);
}

/* The sorted entries alone; with `one` only the first of each class. */
static size_t finish(gathering *g, int (*order)(const void *, const void *), bool one, tuning **out)
{
    tuning *list = g->failed || !g->count ? NULL : malloc(g->count * sizeof(*list));
    size_t n = 0;

    if (list)
        qsort(g->list, g->count, sizeof(*g->list), order);
    for (size_t i = 0; list && i < g->count; i++)
        if (!one || !n || strcmp(list[n - 1].problem_class, g->list[i].entry.problem_class) != 0)
            list[n++] = g->list[i].entry;
    free(g->list);
    if (list)
        *out = list;
    return n;
}

/* ---- look-up ----------------------------------------------------------------------------- */

size_t tuning_candidates(const problem *p, const device_facts *d, tuning **out)
{
    text problem_class = {0};
    gathering g = {0};

    tuning_class(p, &problem_class);
    g.problem_class = text_get(&problem_class);
    tuning_owner(d, &g.self);
    tuning_read(p->op, g.problem_class, gather, &g);
    text_free(&problem_class);
    return finish(&g, by_rank, false, out);
}

size_t tuning_in_force(const operation *op, const device_facts *d, tuning **out)
{
    gathering g = {0};

    tuning_owner(d, &g.self);
    tuning_read(op, NULL, gather, &g);
    return finish(&g, by_class, true, out);
}

/* ---- what is passed over ------------------------------------------------------------------- */

typedef struct troubles {
    const problem *problem;
    const char *problem_class;
    tuning self;
    void (*report)(const char *file, const char *why, void *context);
    void *context;
    text last; /* file that was reported */
} troubles;

static bool look_for_trouble(const tuning *t, const char *file, const char *ignored, void *context)
{
    troubles *x = context;
    text reason = {0};

    if (t && !t->embedded && level_of(t, &x->self) != LEVEL_COUNT &&
        (!*t->problem_class || strcmp(t->problem_class, x->problem_class) == 0))
        ignored = tuning_stale(x->problem->op, t, &reason);
    if (ignored && strcmp(file, text_get(&x->last)) != 0) {
        x->report(file, ignored, x->context);
        text_clear(&x->last);
        text_append(&x->last, file);
    }
    text_free(&reason);
    return true;
}

void tuning_trouble(const problem *p, const device_facts *d,
                    void (*report)(const char *file, const char *why, void *context), void *context)
{
    text problem_class = {0};
    troubles x = {.problem = p, .report = report, .context = context};

    tuning_class(p, &problem_class);
    x.problem_class = text_get(&problem_class);
    tuning_owner(d, &x.self);
    tuning_read(p->op, x.problem_class, look_for_trouble, &x);
    text_free(&problem_class);
    text_free(&x.last);
}

/* ---- what an entry says ------------------------------------------------------------------ */

tsr_status tuning_params(const variant *v, const char *parameters, params *out, tsr_error *err)
{
    params p = params_default(v);
    tsr_status st = TSR_OK;

    while (st == TSR_OK && *(parameters += strspn(parameters, " "))) {
        char assignment[64];
        size_t length = strcspn(parameters, " ");

        if (length >= sizeof(assignment))
            return tsr_fail(err, TSR_ENAME, 0, "'%s' is not NAME=VALUE", parameters);
        memcpy(assignment, parameters, length);
        assignment[length] = '\0';
        st = params_set(v, &p, assignment, err);
        parameters += length;
    }
    if (st == TSR_OK)
        *out = p;
    return st;
}

const char *tuning_stale(const operation *op, const tuning *t, text *reason)
{
    const variant *v = NULL;
    tsr_error err = {0};
    params ignored;
    tsr_status st = variant_find(op, t->variant, &v, &err);

    if (st == TSR_OK)
        st = tuning_params(v, t->parameters, &ignored, &err);
    if (st == TSR_OK)
        return NULL;
    text_clear(reason);
    text_format(reason, "stale: %s", err.message);
    return text_get(reason);
}
