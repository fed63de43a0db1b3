#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/messages.h"
#include "ops/sort/sort_proof.h"

enum {
    REPEAT_MAX = 1000000,
    BATCH_MAX = 1 << 30,
    LETTERLESS = 256 /* getopt_long returns LETTERLESS + id, so that no letter is mistaken for it */
};

typedef struct option_spec {
    const char *name;  /* without its dashes */
    char letter;       /* '\0' for none */
    const char *value; /* what stands for the value in help, NULL for a flag */
    const char *meaning;
    bool (*parse)(const char *value, options *out); /* NULL: any text will do */
    const char *expects;                            /* what parse takes */
} option_spec;

/* A number that fills the whole text; strtod alone would take " 1" and "1x". */
static bool parse_real(const char *value, double *out)
{
    char *end = NULL;
    double x;

    if (!*value || isspace((unsigned char)*value))
        return false;
    errno = 0;
    x = strtod(value, &end);
    if (*end || (errno == ERANGE && isinf(x)))
        return false;
    *out = x;
    return true;
}

static bool parse_whole(const char *value, uint64_t *out)
{
    char *end = NULL;
    unsigned long long n;

    if (!isdigit((unsigned char)*value))
        return false;
    errno = 0;
    n = strtoull(value, &end, 10);
    if (*end || errno == ERANGE)
        return false;
    *out = n;
    return true;
}

static bool parse_alpha(const char *value, options *out)
{
    return parse_real(value, &out->alpha);
}

static bool parse_beta(const char *value, options *out)
{
    return parse_real(value, &out->beta);
}

static bool parse_seed(const char *value, options *out)
{
    return parse_whole(value, &out->seed);
}

static bool parse_repeat(const char *value, options *out)
{
    uint64_t n;

    if (!parse_whole(value, &n) || n == 0 || n > REPEAT_MAX)
        return false;
    out->repeat = (size_t)n;
    return true;
}

/* "100M": bytes, with K, M or G, in either case, for powers of 1024. */
static bool parse_device_memory(const char *value, options *out)
{
    static const char units[] = "KMG";
    const size_t length = strlen(value);
    const char *unit = length ? strchr(units, toupper((unsigned char)value[length - 1])) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    char digits[24];
    uint64_t n;

    if (length - (unit != NULL) >= sizeof(digits))
        return false;
    snprintf(digits, sizeof(digits), "%.*s", (int)(length - (unit != NULL)), value);
    if (!parse_whole(digits, &n) || n == 0 || n > SIZE_MAX >> shift)
        return false;
    out->device_memory = (size_t)n << shift;
    return true;
}

static bool parse_precision(const char *value, options *out)
{
    for (int p = TSR_PRECISION_DEFAULT + 1; p < TSR_PRECISION_COUNT; p++) {
        if (!strcmp(value, tsr_precision_name((tsr_precision)p))) {
            out->precision = (tsr_precision)p;
            return true;
        }
    }
    return false;
}

/* One that is the operands' own: no type is stored as TF32. */
static bool parse_own_precision(const char *value, options *out)
{
    return parse_precision(value, out) && out->precision != TSR_PRECISION_TF32;
}

/* The first `count` of the types that the command line names, as f32 or as float32. */
static bool parse_type_name(const char *value, size_t count, tsr_type *out)
{
    static const struct {
        const char *name;
        tsr_type type;
    } types[] = {{"f32", TSR_F32}, {"f64", TSR_F64}, {"f16", TSR_F16}, {"bf16", TSR_BF16},
                 {"i8", TSR_I8},   {"u8", TSR_U8},   {"i16", TSR_I16}, {"u16", TSR_U16},
                 {"i32", TSR_I32}, {"u32", TSR_U32}, {"i64", TSR_I64}, {"u64", TSR_U64}};

    for (size_t i = 0; i < count && i < sizeof types / sizeof *types; i++) {
        if (!strcmp(value, types[i].name) || !strcmp(value, tsr_type_name(types[i].type))) {
            *out = types[i].type;
            return true;
        }
    }
    return false;
}

static bool parse_as(const char *value, options *out)
{
    return parse_type_name(value, 4, &out->as);
}

static bool parse_as_keys(const char *value, options *out)
{
    return parse_type_name(value, 3, &out->as);
}

static bool parse_type(const char *value, options *out)
{
    return parse_type_name(value, 12, &out->type);
}

/* The one type that results have beside their operands'. */
static bool parse_out_type(const char *value, options *out)
{
    tsr_type type;

    (void)out;
    return parse_type_name(value, 1, &type);
}

static bool parse_top(const char *value, options *out)
{
    uint64_t n;

    if (!parse_whole(value, &n) || n == 0 || n > SIZE_MAX)
        return false;
    out->top = (size_t)n;
    return true;
}

static bool parse_value_bytes(const char *value, options *out)
{
    uint64_t n;

    if (!parse_whole(value, &n) || n == 0 || n > 16 || (n & (n - 1)))
        return false;
    out->value_bytes = (size_t)n;
    return true;
}

/* All families but those with keys, as NaN, for which other libraries promise no order. */
static bool parse_order(const char *value, options *out)
{
    for (int f = 0; f < DISTRIBUTION_COUNT; f++) {
        if (f != DISTRIBUTION_UNIFORM && f != DISTRIBUTION_SPECIAL &&
            !strcmp(value, sort_fill_word((distribution)f))) {
            out->order = (distribution)f;
            return true;
        }
    }
    return false;
}

/* Lengths are drawn from 0 to so many times their mean (fill_offsets of ops/sort/sort_proof.c). */
static bool parse_segment_lengths(const char *value, options *out)
{
    out->segment_spread = !strcmp(value, "uniform") ? 2 : !strcmp(value, "mixed") ? 16 : 0;
    return out->segment_spread > 0;
}

static bool parse_batch(const char *value, options *out)
{
    uint64_t n;

    if (!parse_whole(value, &n) || n == 0 || n > BATCH_MAX)
        return false;
    out->batch = (size_t)n;
    return true;
}

static bool parse_set(const char *value, options *out)
{
    const char *equals = strchr(value, '=');

    if (!equals || equals == value || !equals[1])
        return false;
    out->set[out->set_count++] = value;
    return true;
}

/* What a size means depends on the operation, which reads it (cli/bench_problem.h). */
static bool parse_size(const char *value, options *out)
{
    if (!isdigit((unsigned char)*value))
        return false;
    out->size[out->size_count++] = value;
    return true;
}

static bool parse_budget(const char *value, options *out)
{
    return parse_real(value, &out->budget) && isfinite(out->budget) && out->budget > 0;
}

static bool parse_queues(const char *value, options *out)
{
    return overlap_counts_read(value, OVERLAP_QUEUES_MAX, &out->queues);
}

static bool parse_chunks(const char *value, options *out)
{
    return overlap_counts_read(value, OVERLAP_CHUNKS_MAX, &out->chunks);
}

static bool parse_pinned(const char *value, options *out)
{
    out->pinned = !strcmp(value, "on");
    return out->pinned || !strcmp(value, "off");
}

static bool parse_rounds(const char *value, options *out)
{
    uint64_t n;

    if (!parse_whole(value, &n) || n == 0 || n > OVERLAP_ROUNDS_MAX)
        return false;
    out->rounds = (size_t)n;
    return true;
}

static bool parse_fail_below(const char *value, options *out)
{
    return parse_real(value, &out->fail_below) && isfinite(out->fail_below) && out->fail_below > 0;
}

static const option_spec specs[OPTION_COUNT] = {
    [OPTION_OUTPUT] = {"output", 'o', "FILE", "write the result here; - is standard output", NULL,
                       NULL},
    [OPTION_TRANS_A] = {"trans-a", 0, NULL, "take A transposed", NULL, NULL},
    [OPTION_TRANS_B] = {"trans-b", 0, NULL, "take B transposed", NULL, NULL},
    [OPTION_TRANS] = {"trans", 0, NULL, "take A transposed", NULL, NULL},
    [OPTION_ALPHA] = {"alpha", 0, "X", "factor of the product", parse_alpha, "a number"},
    [OPTION_BETA] = {"beta", 0, "Y", "factor of what --add names", parse_beta, "a number"},
    [OPTION_ADD] = {"add", 0, "FILE", "add this, times beta, to the product", NULL, NULL},
    [OPTION_PRECISION] = {"precision", 0, "P",
                          "f32, f32-strict, f64; tf32, bf16 or f16 round the factors of float32 "
                          "operands, which matrix units multiply faster",
                          parse_precision, "f32, f32-strict, tf32, bf16, f16 or f64"},
    [OPTION_ARGSORT] = {"argsort", 0, "FILE",
                        "write here, as int64, where each key of the result was before", NULL,
                        NULL},
    [OPTION_WITH_INDEX] = {"argsort", 0, NULL, "sort: with the order of the keys", NULL, NULL},
    [OPTION_DESCENDING] = {"descending", 0, NULL, "sort the largest key first", NULL, NULL},
    [OPTION_VALUES] = {"values", 0, "FILE",
                       "bring these along, one value of 1, 2, 4, 8 or 16 bytes for each key", NULL,
                       NULL},
    [OPTION_VALUES_OUT] = {"values-out", 0, "FILE", "write the values here, in the keys' order",
                           NULL, NULL},
    [OPTION_STABLE] = {"stable", 0, NULL,
                       "values and indices of equal keys stay in input order, as they do unasked",
                       NULL, NULL},
    [OPTION_ROWS] = {"rows", 0, NULL, "sort each row of a matrix by itself", NULL, NULL},
    [OPTION_SEGMENTS] = {"segments", 0, "FILE",
                         "sort each segment by itself: where they start, and behind them the "
                         "number of keys",
                         NULL, NULL},
    [OPTION_SEGMENT_LENGTHS] = {"segments", 0, "LENGTHS",
                                "sort: segments of random lengths, of which --size gives number "
                                "and mean: uniform from 0 to twice the mean, or mixed up to 16 "
                                "times, most of them short",
                                parse_segment_lengths, "uniform or mixed"},
    [OPTION_TOP] = {"top", 0, "K",
                    "only the K smallest keys, in order; with --descending the K largest",
                    parse_top, "a whole number from 1 on"},
    [OPTION_VALUE_BYTES] = {"value-bytes", 0, "N",
                            "sort: with a value of so many bytes for each key, brought along",
                            parse_value_bytes, "1, 2, 4, 8 or 16"},
    [OPTION_ORDER] =
        {"order", 0, "ORDER",
         "sort: how the keys come: random; sorted or reversed, ascending or descending already; "
         "constant, all one; few-values or two-values, 17 or 2 distinct ones; sawtooth, ascending "
         "stretches one like the other",
         parse_order, "random, sorted, reversed, constant, few-values, two-values or sawtooth"},
    [OPTION_AS] =
        {"as", 0, "TYPE",
         "convert every input to f32, f64, f16 or bf16 first, with a warning of what overflows; "
         "bf16 also takes what is two bytes without a type",
         parse_as, "f32, f64, f16 or bf16"},
    [OPTION_TYPE] = {"type", 0, "TYPE",
                     "element type of the problem: f32 or f64; matmul and matvec also take f16 or "
                     "bf16, sort f16, i8, u8, i16, u16, i32, u32, i64 or u64",
                     parse_type, "f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64 or u64"},
    [OPTION_OUT_TYPE] = {"out-type", 0, "TYPE",
                         "f32: the result of f16 or bf16 operands is float32, not theirs",
                         parse_out_type, "f32"},
    [OPTION_BATCH] = {"batch", 0, "N",
                      "matmul, matvec: N products of this size, one after another in memory",
                      parse_batch, "a whole number from 1 to 2^30"},
    [OPTION_DEVICE] = {"device", 0, "D",
                       "cpu, gpu, accelerator, host, PLATFORM:DEVICE or part of a name", NULL,
                       NULL},
    [OPTION_KERNEL] = {"kernel", 0, "V", "run this variant", NULL, NULL},
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "fix a tunable of the variant; may be repeated",
                    parse_set, "NAME=VALUE"},
    [OPTION_KERNEL_DIR] = {"kernel-dir", 0, "DIR", "read kernel sources from this folder", NULL,
                           NULL},
    [OPTION_COPY] = {"copy", 0, NULL,
                     "copy operands to buffers even where the device shares the host's memory",
                     NULL, NULL},
    [OPTION_DEVICE_MEMORY] = {"device-memory", 0, "BYTES",
                              "stream operands through so much of the device's memory at most: "
                              "64M, 2G; what leaves more than 4096 pieces is refused, with the "
                              "least that it takes, and so is a row of a sort with an index or "
                              "values, or segments, that do not fit; with --copy where the device "
                              "shares the host's memory",
                              parse_device_memory,
                              "a number of bytes from 1 to 2^64 - 1, such as 64M or 2G"},
    [OPTION_VERIFY] = {"verify", 0, NULL, "check the result against the CPU reference", NULL, NULL},
    [OPTION_REPEAT] = {"repeat", 0, "N",
                       "compute N times, report the fastest and the median: warm times",
                       parse_repeat, "a whole number from 1 to 1000000"},
    [OPTION_TINY] = {"tiny", 0, NULL, "only problems that a simulator finishes in seconds", NULL,
                     NULL},
    [OPTION_SMALL] = {"small", 0, NULL,
                      "small tiles and groups in place of the defaults, where the variant has such "
                      "values: small problems have many then",
                      NULL, NULL},
    [OPTION_DEFAULTS] = {"defaults", 0, NULL, "only the default of each tunable, no other value",
                         NULL, NULL},
    [OPTION_STOP_ON_FAILURE] = {"stop-on-failure", 0, NULL,
                                "of each variant no problem after the first that fails", NULL,
                                NULL},
    [OPTION_SEED] = {"seed", 0, "N", "seed of the random inputs", parse_seed,
                     "a whole number below 2^64"},
    [OPTION_SOURCE] = {"source", 0, NULL, "print the variant's kernel text and build options", NULL,
                       NULL},
    [OPTION_PTX] = {"ptx", 0, NULL, "print what NVIDIA's compiler made of the variant", NULL, NULL},
    [OPTION_CLEAR] = {"clear", 0, NULL, "remove every entry", NULL, NULL},
    [OPTION_FRESH] = {"fresh", 0, NULL, "forget the limits of earlier runs", NULL, NULL},
    [OPTION_SIZE] = {"size", 0, "S", "1024, 1000x1000x1000, 10M, 2^24; may be repeated", parse_size,
                     "a size such as 1024, 1000x1000x1000, 10M or 2^24"},
    [OPTION_QUEUES] = {"queues", 0, "N[,N]...", "overlap: over so many queues", parse_queues,
                       "a list of different whole numbers from 1 to 64, 16 at most"},
    [OPTION_CHUNKS] = {"chunks", 0, "N[,N]...", "overlap: the array in so many chunks",
                       parse_chunks,
                       "a list of different whole numbers from 1 to 4096, 16 at most"},
    [OPTION_PINNED] = {"pinned", 0, "on|off", "operands in pinned host memory, or pageable",
                       parse_pinned, "on or off"},
    [OPTION_ROUNDS] = {"rounds", 0, "N", "overlap: multiply-adds of each word in the kernel",
                       parse_rounds, "a whole number from 1 to 2^20"},
    [OPTION_PEERS] = {"peers", 0, NULL, "the same job through other libraries, side by side", NULL,
                      NULL},
    [OPTION_HELD] = {"held", 0, NULL,
                     "compare with peers by the device's clock, calls enqueued before it begins",
                     NULL, NULL},
    [OPTION_ERRORS] = {"errors", 0, NULL,
                       "matmul, matvec: also how exact each is, on uniform, wide, cancelling and "
                       "special inputs",
                       NULL, NULL},
    [OPTION_EXPLAIN] = {"explain", 0, NULL,
                        "also the launches of a call: traffic, occupancy, where the time goes",
                        NULL, NULL},
    [OPTION_WARM] = {"warm", 0, NULL, "the same inputs again and again, in cache where they fit",
                     NULL, NULL},
    [OPTION_CSV] = {"csv", 0, NULL, "write CSV in place of JSON lines, or of a table", NULL, NULL},
    [OPTION_BUDGET] = {"budget", 0, "SECONDS", "stop after about this long", parse_budget,
                       "a number of seconds above 0"},
    [OPTION_FAIL_BELOW] =
        {"fail-below", 0, "R",
         "status 3 where a rate is below R times the earlier file's, beyond the noise "
         "that both rows record",
         parse_fail_below, "a ratio above 0"},
    [OPTION_HTML] = {"html", 0, "FILE", "write the report, one page, here", NULL, NULL},
    [OPTION_JSON] = {"json", 0, NULL, "write JSON to standard output", NULL, NULL},
    [OPTION_QUIET] = {"quiet", 0, NULL, "no summary on standard error", NULL, NULL},
    [OPTION_HELP] = {"help", 'h', NULL, "show this text", NULL, NULL},
    [OPTION_VERSION] = {"version", 0, NULL, "show the version", NULL, NULL},
};

/** What some commands take of an option, where that is not what specs says. */
typedef struct option_use {
    option_id id;
    const char *commands[5]; /* NULL behind the last */
    const char *meaning;
    bool (*parse)(const char *value, options *out); /* NULL: as in specs */
    const char *expects;
} option_use;

static const option_use uses[] = {
    {OPTION_TRANS_A, {"kernels", "bench", "tune"}, "matmul: take A transposed", NULL, NULL},
    {OPTION_TRANS_B, {"kernels", "bench", "tune"}, "matmul: take B transposed", NULL, NULL},
    {OPTION_TRANS, {"kernels", "bench", "tune"}, "matvec: take A transposed", NULL, NULL},
    {OPTION_PRECISION,
     {"matvec"},
     "that of the operands, f32, f64, f16 or bf16; f32-strict is as f32",
     parse_own_precision,
     "f32, f32-strict, f64, f16 or bf16"},
    {OPTION_PRECISION,
     {"kernels", "bench", "tune"},
     "f32, f32-strict, f64, or that of the type; matmul also tf32, bf16 or f16 for f32, which "
     "round "
     "its factors",
     NULL,
     NULL},
    {OPTION_DESCENDING, {"kernels", "bench", "tune"}, "sort: the largest key first", NULL, NULL},
    {OPTION_AS,
     {"sort"},
     "convert the keys to f32, f64 or f16 first, with a warning of what overflows",
     parse_as_keys,
     "f32, f64 or f16"},
    {OPTION_OUT_TYPE,
     {"kernels", "bench", "tune"},
     "matmul, matvec: f32: the result of f16 or bf16 operands is float32, not theirs",
     NULL,
     NULL},
    {OPTION_DEVICE,
     {"devices", "verify", "bench", "roofline"},
     "all, cpu, gpu, accelerator, host, PLATFORM:DEVICE or part of a name",
     NULL,
     NULL},
    {OPTION_KERNEL, {"verify", "bench"}, "this variant, or all", NULL, NULL},
    {OPTION_KERNEL, {"tune"}, "search this variant alone, or all", NULL, NULL},
    {OPTION_SET,
     {"bench", "tune"},
     "a value, or a list of them, NAME=V1,V2, for a tunable of the variant; may be repeated",
     NULL,
     NULL},
    {OPTION_SIZE, {"kernels"}, "1024, 1000x1000x1000, 10M, 2^24", NULL, NULL},
    {OPTION_REPEAT, {"bench"}, "N samples of a row at least", NULL, NULL},
    {OPTION_PINNED, {"bench"}, "overlap: from pinned memory alone, or from pageable", NULL, NULL},
};

static bool is_among(const char *subcommand, const char *const commands[])
{
    for (size_t i = 0; commands[i]; i++)
        if (!strcmp(subcommand, commands[i]))
            return true;
    return false;
}

/* An option as a command takes it. */
static option_spec spec_of(const char *subcommand, size_t id)
{
    option_spec spec = specs[id];

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (uses[i].id != id || !is_among(subcommand, uses[i].commands))
            continue;
        spec.meaning = uses[i].meaning;
        spec.parse = uses[i].parse ? uses[i].parse : spec.parse;
        spec.expects = uses[i].expects ? uses[i].expects : spec.expects;
    }
    return spec;
}

const char *option_name(option_id id)
{
    return specs[id].name;
}

/* Whether `word` up to its '=' is the name of an option of the set. */
static bool names_option(const char *word, uint64_t takes)
{
    size_t length = strcspn(word, "=");

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((takes & OPTION(i)) && strlen(specs[i].name) == length &&
            !strncmp(specs[i].name, word, length))
            return true;
    }
    return false;
}

/* "-trans-a" for "--trans-a"; a name of one letter is no long option. */
static bool lacks_a_dash(const char *argument, uint64_t takes)
{
    return argument[0] == '-' && argument[1] != '-' && names_option(argument + 1, takes);
}

/* The option of the set whose name starts with `word`, or is closest to it. */
static const char *suggest(const char *word, uint64_t takes)
{
    const char *names[OPTION_COUNT];
    size_t count = 0, length = strlen(word);

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!(takes & OPTION(i)))
            continue;
        if (length && !strncmp(specs[i].name, word, length))
            return specs[i].name;
        names[count++] = specs[i].name;
    }
    return text_closest(word, names, count);
}

int option_unknown(const char *argument, uint64_t takes)
{
    size_t length = strcspn(argument, "=");
    const char *closest = NULL;
    text word = {0};

    text_append_bytes(&word, argument, length);
    if (!strncmp(argument, "--", 2))
        closest = suggest(text_get(&word) + 2, takes);
    else if (lacks_a_dash(argument, takes))
        closest = text_get(&word) + 1;
    if (closest)
        wrong_usage("unknown option '%s': did you mean '--%s'?", text_get(&word), closest);
    else
        wrong_usage("unknown option '%s': --help lists the options", text_get(&word));
    text_free(&word);
    return EXIT_USAGE;
}

/* getopt_long's two descriptions of the table.  What the command takes comes first: of two options
 * of one name it is the one that getopt_long finds. */
static void describe_to_getopt(uint64_t takes, struct option long_options[OPTION_COUNT + 1],
                               text *letters)
{
    size_t n = 0;

    /* '-' has operands returned in their place, whatever POSIXLY_CORRECT says; ':' has a missing
     * value told from an unknown option, without a message of getopt's own. */
    text_append(letters, "-:");
    memset(long_options, 0, (OPTION_COUNT + 1) * sizeof *long_options);
    for (int i = 0; i < 2 * OPTION_COUNT; i++) {
        const int id = i % OPTION_COUNT;
        const bool taken = (takes & OPTION(id)) != 0;

        if (taken != (i < OPTION_COUNT))
            continue;
        long_options[n].name = specs[id].name;
        long_options[n].has_arg = specs[id].value ? required_argument : no_argument;
        long_options[n++].val = LETTERLESS + id;
        if (specs[id].letter)
            text_format(letters, "%c%s", specs[id].letter, specs[id].value ? ":" : "");
    }
}

static int option_of_code(int code)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (code == LETTERLESS + i || (specs[i].letter && code == specs[i].letter))
            return i;
    }
    return -1;
}

/* getopt_long takes "--verif" for "--verify", which changes its meaning once another option starts
 * alike.  `argument` is what stands on the command line. */
static bool abbreviated(const char *argument, const option_spec *spec)
{
    size_t length = strcspn(argument, "=");

    return !strncmp(argument, "--", 2) &&
           (length != strlen(spec->name) + 2 || strncmp(argument + 2, spec->name, length - 2) != 0);
}

/* An option that the command does not take, with those of its own that one name extends to the
 * other: --trans for --trans-a and --trans-b. */
static int refuse_foreign(const char *name, const char *argument, uint64_t takes,
                          const char *subcommand)
{
    text meant = {0};

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *own = specs[i].name;
        size_t shorter = strlen(own) < strlen(name) ? strlen(own) : strlen(name);

        if ((takes & OPTION(i)) && !strncmp(own, name, shorter) &&
            (own[shorter] == '-' || name[shorter] == '-'))
            text_format(&meant, "%s'--%s'", meant.length ? " or " : "", own);
    }
    if (meant.length)
        wrong_usage("%s takes no option '%s': did you mean %s?", subcommand, argument,
                    text_get(&meant));
    else
        wrong_usage("%s takes no option '%s': 'tessera %s --help' lists its options", subcommand,
                    argument, subcommand);
    text_free(&meant);
    return EXIT_USAGE;
}

/* A refusal of getopt_long: `code` is '?' or ':'. */
static int refuse(int code, const char *argument, uint64_t takes)
{
    int id = option_of_code(optopt);
    char letter[3] = {'-', (char)optopt, '\0'};

    if (id < 0)
        return option_unknown(optopt && !lacks_a_dash(argument, takes) ? letter : argument, takes);
    if (code == ':')
        return wrong_usage("option '%s' needs a value: %s", argument, specs[id].value);
    return wrong_usage("option '--%s' takes no value: '%s'", specs[id].name, argument);
}

static int take_option(int id, const char *argument, uint64_t takes, options *out)
{
    const option_spec spec = spec_of(out->command, (size_t)id);

    if (abbreviated(argument, &spec) || lacks_a_dash(argument, takes))
        return option_unknown(argument, takes);
    if (!(takes & OPTION(id)))
        return refuse_foreign(spec.name, argument, takes, out->command);
    if (optarg && !strncmp(optarg, "--", 2) && optarg[2])
        return wrong_usage("option '%s' needs a value, and '%s' is an option", argument, optarg);
    if (optarg && !*optarg)
        return wrong_usage("option '--%s' has an empty value", spec.name);
    if (spec.value && out->given[id] && id != OPTION_SET && id != OPTION_SIZE)
        return wrong_usage("option '--%s' is given twice, and takes one value: '%s' or '%s'",
                           spec.name, out->value[id], optarg);
    if (optarg && spec.parse && !spec.parse(optarg, out))
        return wrong_usage("option '--%s' takes %s, not '%s'", spec.name, spec.expects, optarg);
    out->given[id] = true;
    out->value[id] = optarg;
    return 0;
}

int options_parse(int argc, char **argv, uint64_t takes, options *out)
{
    struct option long_options[OPTION_COUNT + 1];
    text letters = {0};
    int code, status = 0;

    *out = (options){.command = argv[0], .alpha = 1, .seed = 1, .repeat = 1, .batch = 1};
    out->operand = calloc((size_t)argc, sizeof *out->operand);
    out->set = calloc((size_t)argc, sizeof *out->set);
    out->size = calloc((size_t)argc, sizeof *out->size);
    describe_to_getopt(takes, long_options, &letters);
    if (!out->operand || !out->set || !out->size || letters.failed) {
        text_free(&letters);
        return out_of_memory();
    }
    optind = 0; /* glibc: start over */
    opterr = 0;
    while (!status) {
        /* Nothing is reordered, so this is where the next option stands. */
        const char *argument = argv[optind ? optind : 1];

        code = getopt_long(argc, argv, text_get(&letters), long_options, NULL);
        if (code == -1)
            break;
        if (code == 1)
            out->operand[out->operand_count++] = optarg;
        else if (code == '?' || code == ':')
            status = refuse(code, argument, takes);
        else
            status = take_option(option_of_code(code), argument, takes, out);
    }
    while (!status && optind < argc)
        out->operand[out->operand_count++] = argv[optind++];
    text_free(&letters);
    return status;
}

void options_free(options *o)
{
    free(o->operand);
    free(o->set);
    free(o->size);
    o->operand = NULL;
    o->set = NULL;
    o->size = NULL;
}

void options_explain(FILE *stream, const char *subcommand, uint64_t takes)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_spec s = spec_of(subcommand, i);
        char left[64];

        if (!(takes & OPTION(i)))
            continue;
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", s.letter ? '-' : ' ',
                 s.letter ? s.letter : ' ', s.letter ? ", " : "  ", s.name, s.value ? " " : "",
                 s.value ? s.value : "");
        fprintf(stream, "  %-26s %s\n", left, s.meaning);
    }
}
