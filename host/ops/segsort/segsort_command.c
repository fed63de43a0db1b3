#include "base/fail.h"
#include "core/posing.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_fields.h"
#include "ops/sort/sort_variants.h"

static const field fields[] = {
    SORT_FIELDS_OF_KEYS("descending", "sort the largest key first", 0),
    SORT_FIELD_OF_ROWS,
    {.name = "segments", .kind = FIELD_COUNT, .offset = offsetof(tsr_segsort_problem, segments)},
    {.name = "top",
     .kind = FIELD_ASKED,
     .zero = ZERO_IS_ALL}, /* all keys, as JSON of sort has it */
    {.kind = FIELD_COUNT,
     .offset = offsetof(tsr_segsort_problem, segment_longest),
     .otherwise = "uniform",
     SORT_OPTION_OF_SEGMENTS},
    SORT_FIELDS_OF_ORDER,
};

static const problem_member members[] = {
    SORT_MEMBERS,
    PROBLEM_MEMBER(tsr_segsort_problem, offset_segments, COUNT),
    PROBLEM_MEMBER(tsr_segsort_problem, segment_longest, COUNT),
};

static const file_use files[] = {
    SORT_FILES_OF_KEYS,
    SORT_FILE_OF_SEGMENTS,
};

static const operation_help help = {
    .usage =
        "KEYS --segments S [-o OUT] [--descending] [--argsort IDX] [--values V --values-out W]",
    .summary = "sort segments of any lengths, values that go with the keys, and where they stood",
    .details =
        "Each segment of KEYS is sorted by itself, with the files and options of `sort`.  S is a "
        ".npy\n"
        "file of ascending whole numbers: where each segment starts, from 0, and at the end the\n"
        "number of keys.  Two equal numbers stand for an empty segment.  IDX counts within each\n"
        "segment.\n",
    .examples = "tessera segsort keys.npy --segments starts.npy -o sorted.npy\n"
                "tessera segsort keys.npy --segments starts.npy --argsort order.npy\n",
};

static tsr_status check_settings(const given_options *given, tsr_error *err)
{
    if (!setting_of(given, "segments"))
        return tsr_fail(err, TSR_ENAME, 0, "no --segments: it says where the segments start");
    return sort_check_settings(given, err);
}

/* Segments and their mean length.  The longest is so many times that: as the choice has it, which
 * stands in its place until now, and without one the first. */
static tsr_status lay_out(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err)
{
    tsr_segsort_problem *s = segsort_in(p);
    const char *lengths = setting_of(given, "segments");
    const size_t spread = lengths ? s->segment_longest : sort_segment_lengths[0].value;

    if (count == 1)
        return tsr_fail(err, TSR_ENAME, 0,
                        "%s%s needs a --size of SEGMENTSxKEYS, their mean length, not '%s'",
                        lengths ? "--segments " : "segsort", lengths ? lengths : "", size);
    s->segments = n[0];
    if (!size_mul(n[0], n[1], &s->sort.n) || !size_mul(n[1], spread, &s->segment_longest))
        return tsr_fail(err, TSR_ENAME, 0, "--size '%s' is too large: there are at most %zu keys",
                        size, SIZE_MAX);
    return TSR_OK;
}

static tsr_status pose(posing *x, tsr_error *err)
{
    tsr_segsort_problem *s = segsort_in(&x->problem);
    tsr_status st = sort_pose(x, err);
    size_t longest;

    st = st ? st : need_offsets(x, SEGSORT_OFFSETS, &s->segments, err);
    return st ? st
              : operation_check_offsets(&operation_segsort, s->sort.n, s->segments,
                                        x->array[SEGSORT_OFFSETS].data, &longest, err);
}

static const char *host_source(const variant *v)
{
    return sort_host_source(v == &segsort_host_radix ? &sort_host_radix : &sort_qsort);
}

static const char *const tune_sizes[] = {"1Mx64", "10kx10k", "100x1M", NULL};
static const char *const tune_sizes_cpu[] = {"20kx64", "100x10k", "10x100k", NULL};

static const peer_library peers[] = {PEER_CUB,
                                     PEER_TBB("parallel std::sort (TBB)"),
                                     {"std", "std::sort", "g++"},
                                     {"vqsort", "vqsort", "libhwy-dev"},
                                     {0}};

const operation_command segsort_command = {
    .sizes = {.bench = "100kx100",
              .roofline = "2^18x64",
              .roofline_cpu = "2^14x64",
              .tune = tune_sizes,
              .tune_cpu = tune_sizes_cpu},
    .problem_bytes = sizeof(tsr_segsort_problem),
    .peers = peers,
    .fields = fields,
    .field_count = ARRAY_COUNT(fields),
    .members = members,
    .member_count = ARRAY_COUNT(members),
    .files = files,
    .file_count = ARRAY_COUNT(files),
    .help = &help,
    .host_source = host_source,
    .no_output = SORT_NO_OUTPUT,
    .size_form = "SEGMENTSxKEYS",
    .size_numbers = 2,
    .lay_out = lay_out,
    .check_settings = check_settings,
    .pose = pose,
};
