#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/posing.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_variants.h"
#include "ops/topk/topk_problem.h"

const field_choice sort_value_sizes[] = {{"1", 1}, {"2", 2},   {"4", 4},
                                         {"8", 8}, {"16", 16}, {NULL, 0}};

const field_choice sort_segment_lengths[] = {{"uniform", 2}, {"mixed", 16}, {NULL, 0}};

const field_choice sort_orders[] = {
    {"random", DISTRIBUTION_PLAIN},      {"few-values", DISTRIBUTION_FEW},
    {"sorted", DISTRIBUTION_ORDERED},    {"reversed", DISTRIBUTION_REVERSED},
    {"constant", DISTRIBUTION_CONSTANT}, {"two-values", DISTRIBUTION_TWO},
    {"sawtooth", DISTRIBUTION_SAWTOOTH}, {NULL, 0}};

static const field fields[] = {
    SORT_FIELDS_OF_KEYS("descending", "sort the largest key first", 0),
    SORT_FIELD_OF_ROWS,
    {.name = "top",
     .kind = FIELD_ASKED,
     .zero = ZERO_IS_ALL,
     .option = "top",
     .otherwise = "all keys",
     .taken = WITH_FILES | WITH_SIZES,
     .value = "K",
     .meaning = "only the K smallest keys, in order; with --descending the K largest",
     .expects = "a whole number from 1 on"},
    SORT_FIELD_OF_OPTION_ROWS("sort each row of a matrix by itself"),
    {.name = "segments", .kind = FIELD_ASKED, SORT_OPTION_OF_SEGMENTS},
    SORT_FIELDS_OF_ORDER,
};

static const problem_member members[] = {
    SORT_MEMBERS,
};

static const file_use files[] = {
    SORT_FILES_OF_KEYS,
    SORT_FILE_OF_SEGMENTS,
};

static const operation_help help = {
    .usage = "KEYS [-o OUT] [--descending] [--argsort IDX] [--values V --values-out W] [--rows] "
             "[--top K] [--segments S]",
    .summary = "sort keys, move values with them, and find the order that sorts them",
    .details =
        "KEYS is a vector (or a matrix of one row or column) in a .npy or .mtx file; - is "
        "standard\n"
        "input.  OUT and IDX are .mtx by their suffix, else .npy.  Floats sort as -inf < ... < -0 "
        "<\n"
        "+0 < ... < +inf < NaN, and NaNs by their bits: first those without the sign, by rising\n"
        "payload, then those with it, by falling payload; --descending reverses all of that.  "
        "Equal\n"
        "keys (NaNs are equal where their bits are) stay in input order in IDX and W.  V has the\n"
        "shape of KEYS and a value for each key, of any NumPy type of 1, 2, 4, 8 or 16 bytes but\n"
        "structures and objects.  With one dimension more, all that lies along it is one value: "
        "two\n"
        "float64, for instance.  W has V's shape and type, in this machine's byte order.\n"
        "With --rows KEYS has two dimensions or more, and each row, which is the keys along the "
        "last\n"
        "one, is sorted by itself.  IDX counts within each row.\n"
        "With --segments each segment of KEYS is sorted by itself.  S is a .npy file of ascending\n"
        "whole numbers: where each segment starts, from 0, and at the end the number of keys.  "
        "Two\n"
        "equal numbers stand for an empty segment.  IDX counts within each segment.\n"
        "With --top K all outputs hold the first K keys of KEYS or of each row, or all of them if\n"
        "there are fewer.\n",
    .examples = "tessera sort keys.npy -o sorted.npy --argsort order.npy\n"
                "tessera sort table.npy --rows --descending -o sorted.npy\n",
};

/* Rows and keys of each. */
static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    (void)given, (void)size, (void)err;
    sort_in(p)->n = n[count - 1];
    sort_in(p)->rows = count == 1 ? 0 : n[0];
    return TSR_OK;
}

tsr_status sort_check_settings(const given_options *given, tsr_error *err)
{
    const char *values = setting_of(given, "values"), *out = setting_of(given, "values-out");

    if (values && !out)
        return tsr_fail(err, TSR_ENAME, 0, "--values %s needs --values-out FILE, where they go",
                        values);
    if (out && !values)
        return tsr_fail(err, TSR_ENAME, 0, "--values-out %s needs --values FILE to sort", out);
    return TSR_OK;
}

/* What takes segments, or the first keys alone, is an operation of its own. */
static tsr_status hand_over(const given_options *given, const operation **out, tsr_error *err)
{
    static const char *const excluded[] = {"rows", "top"};
    const char *segments = setting_of(given, "segments");

    for (size_t i = 0; segments && i < ARRAY_COUNT(excluded); i++)
        if (setting_of(given, excluded[i]))
            return tsr_fail(err, TSR_ENAME, 0, "--segments %s and --%s exclude each other",
                            segments, excluded[i]);
    if (segments)
        *out = &operation_segsort;
    else if (setting_of(given, "top"))
        *out = &operation_topk;
    return TSR_OK;
}

/* Values in the shape of the keys; one dimension more makes each of them several numbers. */
static tsr_status pose_values(const array *keys, posing *x, tsr_error *err)
{
    const array *v = &x->array[2];
    char own[SHAPE_SIZE], shape[SHAPE_SIZE];
    size_t each, bytes;

    if (v->rank < keys->rank || v->rank > keys->rank + 1 ||
        memcmp(v->shape, keys->shape, keys->rank * sizeof *keys->shape) != 0)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "shapes do not match: %s is %s, and its keys in %s are %s", x->file[2],
                        shape_text(v, own), x->file[0], shape_text(keys, shape));
    each = v->rank > keys->rank ? v->shape[keys->rank] : 1;
    bytes = size_min(each, 16) * size_min(array_element_size(v), 32);
    if (each == 0 || each > 16 || bytes > 16 || (bytes & (bytes - 1)))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s has %zu %s for each key, and a value has 1, 2, 4, 8 or 16 bytes",
                        x->file[2], each, array_type_name(v));
    if (v->opaque && names_mtx(x->output[2]))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "output %s: a .mtx file holds real or whole numbers, and %s holds %s",
                        x->output[2], x->file[2], v->descr);
    sort_in(&x->problem)->value_bytes = bytes;
    return TSR_OK;
}

tsr_status sort_pose(posing *x, tsr_error *err)
{
    const bool rows = setting_of(x->given, "rows") != NULL;
    tsr_sort_problem *s = sort_in(&x->problem);
    const array given = x->array[0];
    const array *keys = &x->array[0];
    array index;
    tsr_status st;

    if (rows)
        st = need_matrices(x, 0, ", whose rows --rows sorts", err);
    else
        st = need_vector(x, 0,
                         keys->rank < 2                     ? ""
                         : setting_of(x->given, "segments") ? "; --segments are stretches of it"
                                                            : "; --rows sorts each row of a matrix",
                         err);
    if (st)
        return st;
    /* Nothing in no rows, as the problem counts them. */
    s->rows = 1;
    for (unsigned i = 0; i + 1 < keys->rank; i++)
        s->rows *= keys->shape[i];
    s->n = s->rows ? keys->shape[keys->rank - 1] : 0;
    s->argsort = x->output[1] != NULL;
    if (x->file[2])
        st = pose_values(&given, x, err);
    if (st || !s->argsort)
        return st;
    index = *keys;
    index.type = TSR_I64;
    index.boolean = false;
    return make_zeros(&index, &x->array[1], err);
}

const char *sort_host_source(const variant *v)
{
    return v == &sort_host_radix ? "host/ops/sort/sort_host_words.c"
                                 : "host/ops/sort/sort_ladder.c";
}

const char *const sort_tune_sizes[] = {"2^16", "2^20", "10M", "2^24", "100M", NULL};
const char *const sort_tune_sizes_cpu[] = {"2^16", "2^20", "2^22", NULL};

static const peer_library peers[] = {{"boost_compute", "Boost.Compute", "libboost-dev"},
                                     PEER_CUB,
                                     PEER_TBB("parallel std::sort (TBB)"),
                                     {"std", "std::sort", "g++"},
                                     {"vqsort", "vqsort", "libhwy-dev"},
                                     {0}};

const operation_command sort_command = {
    .sizes = SORT_SIZES,
    .problem_bytes = sizeof(tsr_sort_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = sort_host_source,
    .no_output = SORT_NO_OUTPUT,
    .size_form = "a number of keys, or ROWSxKEYS",
    .size_numbers = 2,
    .lay_out = lay_out,
    .hand_over = hand_over,
    .check_settings = sort_check_settings,
    .pose = sort_pose,
};
