/** What the descriptor of sort says of its problems beside their shapes: fields and classes. */
#ifndef OPS_SORT_FIELDS_H
#define OPS_SORT_FIELDS_H

#include "core/operation.h"
#include "ops/sort/sort_order.h"

extern const operation_command sort_command;

/** Bytes of a value; how keys come: all distributions but those with keys, as NaN, for which other
 *  libraries promise no order. */
extern const field_choice sort_value_sizes[], sort_orders[];

/** Lengths of segments, drawn from 0 to so many times their mean. */
extern const field_choice sort_segment_lengths[];

/* Fields of every operation on keys, whose problem begins with a tsr_sort_problem, in the order of
 * output: its own stand between these.  The arguments are the option that turns the order round,
 * its meaning, and what `descending` is without it. */
#define SORT_FIELDS_OF_KEYS(name_of_option, meaning_of_option, otherwise_descending)               \
    {.name = "type", .kind = FIELD_TYPE, .offset = offsetof(tsr_sort_problem, type)},              \
        {.name = "n", .kind = FIELD_COUNT, .offset = offsetof(tsr_sort_problem, n)},               \
        {.name = "descending",                                                                     \
         .kind = FIELD_FLAG,                                                                       \
         .offset = offsetof(tsr_sort_problem, descending),                                         \
         .normal = (otherwise_descending),                                                         \
         .option = (name_of_option),                                                               \
         .taken = WITH_FILES | WITH_SIZES,                                                         \
         .meaning = (meaning_of_option)},                                                          \
        {.name = "argsort",                                                                        \
         .kind = FIELD_FLAG,                                                                       \
         .offset = offsetof(tsr_sort_problem, argsort),                                            \
         .option = "argsort",                                                                      \
         .taken = WITH_SIZES,                                                                      \
         .meaning = "also find the order of the keys"},                                            \
    {                                                                                              \
        .name = "value_bytes", .kind = FIELD_COUNT,                                                \
        .offset = offsetof(tsr_sort_problem, value_bytes), .option = "value-bytes",                \
        .taken = WITH_SIZES, .value = "N",                                                         \
        .meaning = "also move a value of N bytes with each key", .choices = sort_value_sizes       \
    }
#define SORT_FIELD_OF_ROWS                                                                         \
    {                                                                                              \
        .name = "rows", .kind = FIELD_COUNT, .offset = offsetof(tsr_sort_problem, rows),           \
        .zero = ZERO_IS_ONE                                                                        \
    }
#define SORT_FIELD_OF_OPTION_ROWS(what_rows_mean)                                                  \
    {                                                                                              \
        .kind = FIELD_ASKED, .option = "rows", .taken = WITH_FILES, .meaning = (what_rows_mean)    \
    }
#define SORT_FIELDS_OF_ORDER                                                                       \
    {.kind = FIELD_ASKED,                                                                          \
     .option = "stable",                                                                           \
     .taken = WITH_FILES,                                                                          \
     .meaning = "values and indices of equal keys stay in input order, as they always do"},        \
    {                                                                                              \
        .kind = FIELD_INPUTS, .option = "order", .otherwise = "random", .taken = WITH_INPUTS,      \
        .value = "ORDER",                                                                          \
        .meaning =                                                                                 \
            "order of the input keys: random; sorted or reversed, which are ascending or "         \
            "descending already; constant, one value; few-values or two-values, 17 or 2 distinct " \
            "ones; sawtooth, equal ascending stretches",                                           \
        .choices = sort_orders                                                                     \
    }

/* The files of keys, operand 0, their positions and their values. */
#define SORT_FILES_OF_KEYS                                                                         \
    {.operand = 0},                                                                                \
        {.option = "argsort",                                                                      \
         .meaning = "write here, as int64, the input position of each key of the result",          \
         .operand = 1,                                                                             \
         .output = true},                                                                          \
        {.option = "values",                                                                       \
         .meaning = "move these with their keys, one value of 1, 2, 4, 8 or 16 bytes for each",    \
         .operand = 2,                                                                             \
         .as_it_is = true,                                                                         \
         .moved = true},                                                                           \
    {                                                                                              \
        .option = "values-out", .meaning = "write the values here, in the keys' order",            \
        .operand = 2, .output = true                                                               \
    }

/* Where keys, positions and values lie: members of every problem that begins with a
 * tsr_sort_problem. */
#define SORT_MEMBERS                                                                               \
    PROBLEM_MEMBER(tsr_sort_problem, offset_keys, COUNT),                                          \
        PROBLEM_MEMBER(tsr_sort_problem, offset_index, COUNT),                                     \
        PROBLEM_MEMBER(tsr_sort_problem, offset_values, COUNT)

/* Lengths of segments where sizes are given, and the file of their offsets where files are: of the
 * operation on segments, and of the one that hands over to it. */
#define SORT_OPTION_OF_SEGMENTS                                                                    \
    .option = "segments", .taken = WITH_SIZES, .value = "LENGTHS",                                 \
    .meaning =                                                                                     \
        "segments of random lengths, of which --size gives number and mean: uniform from 0 "       \
        "to twice the mean, or mixed up to 16 times, most of them short",                          \
    .choices = sort_segment_lengths
#define SORT_FILE_OF_SEGMENTS                                                                      \
    {                                                                                              \
        .option = "segments",                                                                      \
        .meaning = "sort each segment by itself: FILE has where they start, and last the number "  \
                   "of keys",                                                                      \
        .operand = SORT_OPERANDS, .as_it_is = true                                                 \
    }

#define SORT_NO_OUTPUT                                                                             \
    "'-o FILE' takes the keys, '--argsort FILE' their order, '--values-out FILE' the values that " \
    "--values names"

/** operation.work of an operation on keys: their number. */
double sort_work(const problem *p);

/** TSR_EOVERFLOW where n elements, `what`, of so many bytes from an offset on do not fit memory. */
tsr_status sort_check_extent(const problem *p, const char *what, size_t n, size_t offset,
                             size_t bytes, tsr_error *err);

/** Append how keys come, to a description: ", reversed input". */
void sort_describe_inputs(const problem *p, text *out);

/** Compulsory traffic in bytes, where the first `kept` keys of each row are written. */
double sort_traffic(const tsr_sort_problem *s, size_t kept);

/** Append the tuning class of keys: their bytes and what goes along, " rows" where there are
 *  several, the operation's own `word`, and the length of the sequences that are sorted:
 *  "4-byte argsort rows below 2^24". */
void sort_class_of_keys(const tsr_sort_problem *s, const char *word, size_t length, text *out);

/** operation.class_text for an operation on keys: the keys of *p are set to each class in turn, and
 *  what else it has says which operation's they are. */
bool sort_class_of_keys_text(problem *p, const char *name, text *out);

/** operation.prefer_c of an operation on keys that has host-radix. */
const char *sort_prefer_c(const problem *p, const device_facts *d);

/** Keys that C takes some seconds longer to sort than the fastest kernels, which take as long, and
 * up to 20 s, to compile. */
#define SORT_IN_C_FIRST ((size_t)1 << 30)

/** operation.prefer_first of an operation on keys that has the kernels of sort. */
const char *sort_prefer_first(const problem *p, const device_facts *d);

/** operation.class_text of sort. */
bool sort_class_text(const char *name, text *out);

/** operation_command.sizes of an operation on keys. */
extern const char *const sort_tune_sizes[], *const sort_tune_sizes_cpu[];
#define SORT_SIZES                                                                                 \
    {                                                                                              \
        .bench = "10M", .kernels = "2^22", .roofline = "2^24", .roofline_cpu = "2^20",             \
        .tune = sort_tune_sizes, .tune_cpu = sort_tune_sizes_cpu                                   \
    }

/** operation_command.pose and host_source, for an operation on keys. */
tsr_status sort_pose(struct posing *x, tsr_error *err);
const char *sort_host_source(const variant *v);

/** TSR_EINVAL where an array or buffer that the keys' problem does not ask for is there: whoever
 * passes it has forgotten to ask; or where `arrays` or `buffers` is NULL. */
tsr_status sort_check_arrays(const problem *p, const tsr_sort_arrays *arrays, tsr_error *err);
tsr_status sort_check_buffers(const problem *p, const tsr_sort_buffers *buffers, tsr_error *err);

/** operation_command.check_settings of an operation on keys. */
tsr_status sort_check_settings(const given_options *given, tsr_error *err);

void sort_size_text(const problem *p, text *out);
void sort_shrink(problem *p);

#endif
