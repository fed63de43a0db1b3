#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/posing.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_partition.h"
#include "ops/topk/topk_problem.h"

/* Keys that are wanted where sizes come without --top. */
enum { K_DEFAULT = 100 };

static const field fields[] = {
    SORT_FIELDS_OF_KEYS("smallest", "find the smallest keys, in ascending order", 1),
    SORT_FIELD_OF_ROWS,
    {.name = "top",
     .kind = FIELD_COUNT,
     .offset = offsetof(tsr_topk_problem, k),
     .zero = ZERO_IS_ALL,
     .bound = "n",
     .option = "top",
     .otherwise = "100 where sizes are given",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "K",
     .meaning = "how many keys are wanted",
     .expects = "a whole number from 1 on"},
    SORT_FIELD_OF_OPTION_ROWS("find K keys of each row of a matrix, in place of K of all its keys"),
    {.kind = FIELD_ASKED,
     .option = "descending",
     .taken = WITH_FILES | WITH_SIZES,
     .meaning = "find the largest keys, the largest first, which is the default"},
    SORT_FIELDS_OF_ORDER,
};

static const problem_member members[] = {
    SORT_MEMBERS,
};

static const file_use files[] = {SORT_FILES_OF_KEYS};

static const operation_help help = {
    .usage = "KEYS --top K [-o OUT] [--smallest] [--argsort IDX] [--values V --values-out W] "
             "[--rows]",
    .summary = "find the largest or smallest keys, values that go with them, and where they stood",
    .details = "OUT, IDX and W hold the first K keys, or as many as there are, of what `sort "
               "--descending`\n"
               "gives, or with --smallest `sort`, whose files and options it takes.  With --rows "
               "they hold\n"
               "the first K of each row.\n",
    .examples = "tessera topk keys.npy --top 10 -o first.npy --argsort places.npy\n"
                "tessera topk table.npy --top 5 --rows --smallest -o least.npy\n",
};

/* Of sort, which hands over with --top, they are the first of the order that it sorts in. */
static tsr_status set_order(problem *p, const given_options *given, tsr_error *err)
{
    const bool descending = setting_of(given, "descending") != NULL;

    if (given->named && !strcmp(given->named, operation_sort.name))
        sort_in(p)->descending = descending;
    else if (descending && setting_of(given, "smallest"))
        return tsr_fail(err, TSR_ENAME, 0, "--smallest and --descending exclude each other");
    return TSR_OK;
}

static tsr_status check_settings(const given_options *given, tsr_error *err)
{
    problem unused = {.op = &operation_topk};
    tsr_status st = set_order(&unused, given, err);

    if (!st && !setting_of(given, "top"))
        st = tsr_fail(err, TSR_ENAME, 0, "no --top: it says how many keys are wanted");
    return st ? st : sort_check_settings(given, err);
}

static tsr_status pose(posing *x, tsr_error *err)
{
    const tsr_status st = set_order(&x->problem, x->given, err);

    return st ? st : sort_pose(x, err);
}

/* The number of keys, or of rows and keys of each. */
static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    (void)size;
    sort_in(p)->n = n[count - 1];
    sort_in(p)->rows = count == 1 ? 0 : n[0];
    if (!setting_of(given, "top"))
        topk_in(p)->k = K_DEFAULT;
    return set_order(p, given, err);
}

/* Keys, indices and values of the first keys alone.  Rows lie along the last dimension of the keys;
 * a row of a matrix that stands for a vector lies along its second one. */
static void cut(posing *x)
{
    const tsr_sort_problem *s = sort_of(&x->problem);
    const size_t first = topk_kept(topk_of(&x->problem)), rows = sort_rows(s);

    if (setting_of(x->given, "top") && topk_of(&x->problem)->k > s->n)
        snprintf(x->note, sizeof(x->note), "--top %s: there are %zu keys, and the result has all",
                 setting_of(x->given, "top"), s->n);
    if (s->n && first == s->n)
        return;
    for (size_t i = 0; i < SORT_OPERANDS; i++) {
        array *a = &x->array[i];
        const unsigned along =
            setting_of(x->given, "rows") ? x->array[0].rank - 1 : a->rank > 1 && a->shape[0] == 1;
        const size_t row = a->data ? array_count(a) / rows * array_element_size(a) : 0;
        const size_t kept = row / size_max(s->n, 1) * first;

        if (a->rank == 0)
            continue; /* there is none */
        for (size_t r = 1; a->data && r < rows; r++)
            memmove((char *)a->data + r * kept, (char *)a->data + r * row, kept);
        /* No rows have a length too. */
        a->shape[along] = size_min(a->shape[along], topk_of(&x->problem)->k);
    }
}

static const char *host_source(const variant *v)
{
    return v == &topk_host_top ? "host/ops/topk/topk_host.c" : sort_host_source(v);
}

const operation_command topk_command = {
    .sizes = SORT_SIZES,
    .problem_bytes = sizeof(tsr_topk_problem),
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = SORT_NO_OUTPUT,
    .size_form = "a number of keys, or ROWSxKEYS",
    .size_numbers = 2,
    .lay_out = lay_out,
    .check_settings = check_settings,
    .pose = pose,
    .cut = cut,
};
