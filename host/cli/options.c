#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/sizes.h"
#include "base/text.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "core/fields.h"
#include "core/registry.h"
#include "measure/occupancy.h"

enum {
    REPEAT_MAX = 1000000,
    LETTERLESS =
        256 /* getopt_long returns LETTERLESS + index, so that no letter is mistaken for it */
};

typedef struct option_spec {
    const char *name;  /* without its dashes */
    char letter;       /* '\0' for none */
    const char *value; /* what stands for the value in help, NULL for a flag */
    const char *meaning;
    bool (*parse)(const char *value, options *out); /* NULL: any text will do */
    const char *expects;                            /* what parse takes */
} option_spec;

static bool parse_seed(const char *value, options *out)
{
    return whole_read(value, &out->seed);
}

static bool parse_repeat(const char *value, options *out)
{
    uint64_t n;

    if (!whole_read(value, &n) || n == 0 || n > REPEAT_MAX)
        return false;
    out->repeat = (size_t)n;
    return true;
}

/* "100M": bytes, with K, M or G, in either case, for powers of 1024. */
static bool read_bytes(const char *value, size_t *out)
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
    if (!whole_read(digits, &n) || n > SIZE_MAX >> shift)
        return false;
    *out = (size_t)n << shift;
    return true;
}

static bool parse_device_memory(const char *value, options *out)
{
    return read_bytes(value, &out->device_memory) && out->device_memory > 0;
}

/* A whole number from 1 to `most`. */
static bool read_count(const char *value, size_t most, size_t *out)
{
    uint64_t n;

    if (!whole_read(value, &n) || n == 0 || n > most)
        return false;
    *out = (size_t)n;
    return true;
}

static bool parse_group(const char *value, options *out)
{
    return read_count(value, OCCUPANCY_GROUP_MAX, &out->group);
}

static bool parse_registers(const char *value, options *out)
{
    return read_count(value, OCCUPANCY_REGISTERS_MAX, &out->registers);
}

static bool parse_local(const char *value, options *out)
{
    return read_bytes(value, &out->local) && out->local <= OCCUPANCY_LOCAL_MAX;
}

/* "9.0", or all. */
static bool parse_capability(const char *value, options *out)
{
    unsigned capability;
    char name[16];

    if (!strcmp(value, "all"))
        return true;
    for (size_t i = 0; (capability = occupancy_capability_at(i)); i++) {
        snprintf(name, sizeof(name), "%u.%u", capability / 10, capability % 10);
        if (!strcmp(value, name)) {
            out->capability = capability;
            return true;
        }
    }
    return false;
}

/* Names of types, as f32. */
static const struct {
    const char *name;
    tsr_type type;
} types[] = {{"f32", TSR_F32},       {"f64", TSR_F64},       {"f16", TSR_F16}, {"bf16", TSR_BF16},
             {"f8e4m3", TSR_F8E4M3}, {"f8e5m2", TSR_F8E5M2}, {"i8", TSR_I8},   {"u8", TSR_U8},
             {"i16", TSR_I16},       {"u16", TSR_U16},       {"i32", TSR_I32}, {"u32", TSR_U32},
             {"i64", TSR_I64},       {"u64", TSR_U64},       {"c64", TSR_C64}, {"c128", TSR_C128}};

const char *option_type_name(tsr_type type)
{
    size_t i = 0;

    while (types[i].type != type)
        i++;
    return types[i].name;
}

/* A type as f32 or as float32. */
static bool parse_type_name(const char *value, tsr_type *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        if (!strcmp(value, types[i].name) || !strcmp(value, tsr_type_name(types[i].type))) {
            *out = types[i].type;
            return true;
        }
    }
    return false;
}

/* Any type that the operation takes, but those of pairs. */
static bool is_converted_to(const operation *op, tsr_type type)
{
    return op && op->types & 1u << type && !type_is_complex(type);
}

static bool parse_as(const char *value, options *out)
{
    return parse_type_name(value, &out->as) &&
           is_converted_to(operation_named(out->command), out->as);
}

static bool parse_type(const char *value, options *out)
{
    return parse_type_name(value, &out->type);
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
    return real_read(value, &out->budget) && isfinite(out->budget) && out->budget > 0;
}

static bool parse_seconds(const char *value, options *out)
{
    return real_read(value, &out->seconds) && isfinite(out->seconds) && out->seconds > 0;
}

static bool parse_offload(const char *value, options *out)
{
    (void)out;
    return !strcmp(value, "auto") || !strcmp(value, "always") || !strcmp(value, "never");
}

static bool parse_blas_precision(const char *value, options *out)
{
    tsr_precision precision;

    (void)out;
    return precision_read(value, &precision) && precision <= TSR_PRECISION_F16;
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

    if (!whole_read(value, &n) || n == 0 || n > OVERLAP_ROUNDS_MAX)
        return false;
    out->rounds = (size_t)n;
    return true;
}

static bool parse_fail_below(const char *value, options *out)
{
    return real_read(value, &out->fail_below) && isfinite(out->fail_below) && out->fail_below > 0;
}

static const option_spec specs[OPTION_COUNT] = {
    [OPTION_OUTPUT] = {"output", 'o', "FILE", "write the result here; - is standard output", NULL,
                       NULL},
    [OPTION_AS] = {"as", 0, "TYPE", NULL, parse_as, NULL}, /* see explain_types() */
    [OPTION_TYPE] = {"type", 0, "TYPE", NULL, parse_type, NULL},
    [OPTION_DEVICE] = {"device", 0, "D",
                       "cpu, gpu, accelerator, host, PLATFORM:DEVICE or part of a name", NULL,
                       NULL},
    [OPTION_KERNEL] = {"kernel", 0, "V", "run this variant", NULL, NULL},
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "fix a tunable of the variant; may be repeated",
                    parse_set, "NAME=VALUE"},
    [OPTION_KERNEL_DIR] = {"kernel-dir", 0, "DIR", "read kernel sources from this folder", NULL,
                           NULL},
    [OPTION_KERNEL_FILE] = {"kernel-file", 0, "FILE",
                            "a kernel of your own in place of the variant's, with its name and "
                            "arguments",
                            NULL, NULL},
    [OPTION_COPY] = {"copy", 0, NULL,
                     "copy operands to buffers even where the device shares the host's memory",
                     NULL, NULL},
    [OPTION_DEVICE_MEMORY] =
        {"device-memory", 0, "BYTES",
         "stream operands through at most this much of the device's memory, such as 64M or 2G; "
         "where that would take more than 4096 pieces, or an operand has to be there whole, an "
         "error says how much does; needs --copy where the device shares the host's memory",
         parse_device_memory, "a number of bytes from 1 to 2^64 - 1, such as 64M or 2G"},
    [OPTION_VERIFY] = {"verify", 0, NULL, "check the result against the CPU reference", NULL, NULL},
    [OPTION_REPEAT] = {"repeat", 0, "N",
                       "compute N times on warm caches, and report the fastest and the median",
                       parse_repeat, "a whole number from 1 to 1000000"},
    [OPTION_TINY] = {"tiny", 0, NULL, "only problems that a simulator finishes in seconds", NULL,
                     NULL},
    [OPTION_SMALL] = {"small", 0, NULL,
                      "small tiles and groups where the variant has such values, so that small "
                      "problems have many of them",
                      NULL, NULL},
    [OPTION_DEFAULTS] = {"defaults", 0, NULL, "only the default value of each tunable", NULL, NULL},
    [OPTION_STOP_ON_FAILURE] = {"stop-on-failure", 0, NULL,
                                "end each variant at the first problem that fails", NULL, NULL},
    [OPTION_SEED] = {"seed", 0, "N", "seed of the random inputs", parse_seed,
                     "a whole number below 2^64"},
    [OPTION_SOURCE] = {"source", 0, NULL, "print the variant's kernel source and build options",
                       NULL, NULL},
    [OPTION_PTX] = {"ptx", 0, NULL, "print the PTX that NVIDIA's compiler made of the variant",
                    NULL, NULL},
    [OPTION_CLEAR] = {"clear", 0, NULL, "remove every entry", NULL, NULL},
    [OPTION_FRESH] = {"fresh", 0, NULL, "forget the limits of earlier runs", NULL, NULL},
    [OPTION_LIMITS] = {"limits", 0, NULL, "the limits alone, without a variant", NULL, NULL},
    [OPTION_SIZE] = {"size", 0, "S", "1024, 1000x1000x1000, 10M, 2^24; may be repeated", parse_size,
                     "a size such as 1024, 1000x1000x1000, 10M or 2^24"},
    [OPTION_QUEUES] = {"queues", 0, "N[,N]...", "overlap: numbers of queues", parse_queues,
                       "a list of different whole numbers from 1 to 64, 16 at most"},
    [OPTION_CHUNKS] = {"chunks", 0, "N[,N]...", "overlap: numbers of chunks of the array",
                       parse_chunks,
                       "a list of different whole numbers from 1 to 4096, 16 at most"},
    [OPTION_PINNED] = {"pinned", 0, "on|off", "operands in pinned host memory, or pageable",
                       parse_pinned, "on or off"},
    [OPTION_ROUNDS] = {"rounds", 0, "N", "overlap: multiply-adds of each word in the kernel",
                       parse_rounds, "a whole number from 1 to 2^20"},
    [OPTION_PEERS] = {"peers", 0, NULL, "also do the same job through other libraries, in turn",
                      NULL, NULL},
    [OPTION_HELD] =
        {"held", 0, NULL,
         "with --peers: by the device's clock, which starts once all calls are enqueued", NULL,
         NULL},
    [OPTION_WALL] = {"wall", 0, NULL, "with --held: the wall time of calls back to back, too", NULL,
                     NULL},
    [OPTION_BRIEF] = {"brief", 0, NULL,
                      "with --peers: the comparison alone, without the row before it and what "
                      "building and copying cost",
                      NULL, NULL},
    [OPTION_ERRORS] = {"errors", 0, NULL,
                       "also the error of each product, on uniform, wide, cancelling and special "
                       "inputs",
                       NULL, NULL},
    [OPTION_EXPLAIN] = {"explain", 0, NULL,
                        "also the commands of a call: bytes, occupancy, where the time goes", NULL,
                        NULL},
    [OPTION_WARM] = {"warm", 0, NULL, "the same inputs again and again, in cache where they fit",
                     NULL, NULL},
    [OPTION_CSV] = {"csv", 0, NULL, "write CSV in place of JSON lines, or of a table", NULL, NULL},
    [OPTION_BUDGET] = {"budget", 0, "SECONDS", "stop after about this long", parse_budget,
                       "a number of seconds above 0"},
    [OPTION_SECONDS] = {"seconds", 0, "SECONDS", "take samples of each row for about this long",
                        parse_seconds, "a number of seconds above 0"},
    [OPTION_JOBS] = {"jobs", 0, "FILE", "run the jobs of a file, one a line, in one process", NULL,
                     NULL},
    [OPTION_BUILD_ONLY] = {"build-only", 0, NULL,
                           "build what the rows would run into the cache, and time nothing", NULL,
                           NULL},
    [OPTION_FAIL_BELOW] =
        {"fail-below", 0, "R",
         "exit status 3 where a rate is below R times the earlier file's by more than the "
         "noise of both rows",
         parse_fail_below, "a ratio above 0"},
    [OPTION_HTML] = {"html", 0, "FILE", "write a report, one page, to this file", NULL, NULL},
    [OPTION_OFFLOAD] = {"offload", 0, "WHEN", "what runs on the device: auto, always or never",
                        parse_offload, "auto, always or never"},
    [OPTION_CPU_BLAS] = {"cpu-blas", 0, "PATH", "library that has the CPU's BLAS", NULL, NULL},
    [OPTION_BLAS_PRECISION] = {"precision", 0, "NAME",
                               "of float32 products: f32, f32-strict, tf32, bf16 or f16",
                               parse_blas_precision, "f32, f32-strict, tf32, bf16 or f16"},
    [OPTION_LOG] = {"log", 0, "FILE", "append a line for each call of level 3, and a summary", NULL,
                    NULL},
    [OPTION_GROUP] = {"group", 0, "N", "work-items of a group", parse_group,
                      "a whole number from 1 to 1024"},
    [OPTION_REGISTERS] = {"registers", 0, "N", "registers of a work-item", parse_registers,
                          "a whole number from 1 to 255"},
    [OPTION_LOCAL] = {"local", 0, "BYTES", "local memory of a group: 4096, 48K", parse_local,
                      "a number of bytes up to 1M, such as 4096 or 48K"},
    [OPTION_CAPABILITY] = {"capability", 0, "C", "compute capability of an NVIDIA device, or all",
                           parse_capability,
                           "all, or one of 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, "
                           "10.3, 11.0, 12.0 and 12.1"},
    [OPTION_JSON] = {"json", 0, NULL, "write JSON to standard output", NULL, NULL},
    [OPTION_QUIET] = {"quiet", 0, NULL,
                      "no summary and no progress on standard error; warnings stay", NULL, NULL},
    [OPTION_HELP] = {"help", 'h', NULL, "show this text", NULL, NULL},
    [OPTION_VERSION] = {"version", 'V', NULL, "show the version", NULL, NULL},
};

/** What some commands take of an option, where that is not what specs says. */
typedef struct option_use {
    option_id id;
    const char *commands[6]; /* NULL behind the last */
    const char *meaning;
    bool (*parse)(const char *value, options *out); /* NULL: as in specs */
    const char *expects;
} option_use;

static const option_use uses[] = {
    {OPTION_DEVICE,
     {"devices", "verify", "bench", "course"},
     "all, cpu, gpu, accelerator, host, PLATFORM:DEVICE or part of a name",
     NULL,
     NULL},
    {OPTION_DEVICE,
     {"lab", "roofline"},
     "all, cpu, gpu, accelerator, PLATFORM:DEVICE or part of a name, of OpenCL devices",
     NULL,
     NULL},
    {OPTION_DEVICE,
     {"diagnose", "trace", "lesson", "occupancy"},
     "cpu, gpu, accelerator, PLATFORM:DEVICE or part of a name, of OpenCL devices",
     NULL,
     NULL},
    {OPTION_KERNEL, {"verify", "bench"}, "this variant, or all", NULL, NULL},
    {OPTION_KERNEL, {"tune"}, "search this variant alone, or all", NULL, NULL},
    {OPTION_SET,
     {"bench", "tune"},
     "a value, or a list of them, NAME=V1,V2, for a tunable of the variant; may be repeated",
     NULL,
     NULL},
    {OPTION_WARM, {"cache"}, "build ahead what first calls need by default", NULL, NULL},
    {OPTION_SIZE, {"kernels", "diagnose", "trace"}, "1024, 1000x1000x1000, 10M, 2^24", NULL, NULL},
    {OPTION_REPEAT, {"bench", "course"}, "at least N samples of each row", NULL, NULL},
    {OPTION_SMALL,
     {"course"},
     "little work, to check that everything runs; the times mean nothing",
     NULL,
     NULL},
    {OPTION_REPEAT, {"lab"}, "N samples of each point", NULL, NULL},
    {OPTION_SIZE, {"lab"}, "of the experiments that have one: 1024, 10M, 2^24", NULL, NULL},
    {OPTION_SOURCE, {"lab"}, "print the experiment's kernel", NULL, NULL},
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

/* The types that --as converts to for an operation, or those of --type. */
static void append_types(option_id id, const operation *op, text *out)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        count += id == OPTION_TYPE || is_converted_to(op, types[i].type);
    for (size_t i = 0, k = 0; i < ARRAY_COUNT(types); i++)
        if (id == OPTION_TYPE || is_converted_to(op, types[i].type))
            text_format(out, "%s%s", k++ == 0 ? "" : k < count ? ", " : " or ", types[i].name);
}

/* Meaning of --as, of an operation's command, and of --type. */
static void explain_types(option_id id, const operation *op, const char *names, text *out)
{
    if (id == OPTION_TYPE) {
        text_format(out,
                    "element type, of those that the operation has: %s (complex64, complex128)",
                    names);
        return;
    }
    text_format(out,
                "convert every input to %s first; a value that becomes infinite%s is warned of",
                names, op && op->types & 1u << TSR_F8E4M3 ? " or saturated" : "");
    if (op && (op->types & 1u << TSR_I8 || op->types & 1u << TSR_U8))
        text_append(out, ", and one that an integer type does not have is refused");
    if (op && op->types & 1u << TSR_BF16)
        text_format(out, "; bf16 also takes elements of two bytes without a type%s",
                    op->types & 1u << TSR_F8E4M3 ? ", and f8e4m3 and f8e5m2 of one" : "");
}

const char *option_name(option_id id)
{
    return specs[id].name;
}

/* ---- the options of a command line --------------------------------------------------------- */

/* An option of the command, or of an operation. */
typedef struct entry {
    option_spec spec;
    int id;         /* option_id; OPTION_COUNT of an operation's */
    const field *f; /* of an operation's field */
    bool taken;     /* by this command */
} entry;

typedef struct entries {
    entry *list;
    size_t count;
    text types[2], explained[2]; /* of --as and --type, which their entries borrow */
} entries;

static void free_entries(entries *e)
{
    free(e->list);
    for (size_t i = 0; i < 2; i++) {
        text_free(&e->types[i]);
        text_free(&e->explained[i]);
    }
    *e = (entries){0};
}

static const entry *entry_named(const entries *e, const char *name, size_t length, bool taken)
{
    for (size_t i = 0; i < e->count; i++) {
        if (e->list[i].taken >= taken && strlen(e->list[i].spec.name) == length &&
            !strncmp(e->list[i].spec.name, name, length))
            return &e->list[i];
    }
    return NULL;
}

/* An option of this name is there once, taken where it is taken by any of the operations. */
static void add_entry(entries *e, entry one)
{
    entry *old = (entry *)entry_named(e, one.spec.name, strlen(one.spec.name), false);

    if (!old)
        e->list[e->count++] = one;
    else if (!old->taken && one.taken)
        *old = one;
}

static void add_fields(entries *e, const operation *op, const option_set *takes)
{
    const operation_command *c = op->command;
    const bool own = !takes->op || takes->op == op;

    for (size_t i = 0; i < c->field_count; i++) {
        const field *f = &c->fields[i];

        if (f->option)
            add_entry(e, (entry){{f->option, 0, f->value, f->meaning, NULL, f->expects},
                                 OPTION_COUNT,
                                 f,
                                 own && (f->taken & takes->fields)});
    }
    for (size_t i = 0; i < c->file_count; i++) {
        const file_use *u = &c->files[i];

        if (u->option)
            add_entry(e, (entry){{u->option, 0, "FILE", u->meaning, NULL, NULL},
                                 OPTION_COUNT,
                                 NULL,
                                 own && (takes->fields & WITH_FILES)});
    }
}

/* Every option that there is: those of operations behind the output's, which is the first. */
static bool list_entries(const char *subcommand, const option_set *takes, entries *out)
{
    const operation *op;
    size_t most = OPTION_COUNT;

    for (size_t i = 0; (op = operation_at(i)); i++)
        most += op->command->field_count + op->command->file_count;
    *out = (entries){.list = calloc(most, sizeof *out->list)};
    for (size_t id = 0; id < OPTION_COUNT && out->list; id++) {
        option_spec spec = spec_of(subcommand, id);

        if (id == OPTION_AS || id == OPTION_TYPE) {
            text *names = &out->types[id == OPTION_TYPE], *all = &out->explained[id == OPTION_TYPE];

            append_types((option_id)id, operation_named(subcommand), names);
            explain_types((option_id)id, operation_named(subcommand), text_get(names), all);
            spec.expects = text_get(names);
            spec.meaning = text_get(all);
        }
        add_entry(out, (entry){spec, (int)id, NULL, (takes->own & OPTION(id)) != 0});
        for (size_t i = 0; id == OPTION_OUTPUT && (op = operation_at(i)); i++)
            add_fields(out, op, takes);
    }
    return out->list != NULL;
}

/* "-trans-a" for "--trans-a"; a name of one letter is no long option. */
static bool lacks_a_dash(const entries *e, const char *argument)
{
    return argument[0] == '-' && argument[1] != '-' &&
           entry_named(e, argument + 1, strcspn(argument + 1, "="), true);
}

/* The option of the command whose name starts with `word`, or is closest to it. */
static const char *suggest(const entries *e, const char *word)
{
    const char **names = calloc(e->count, sizeof *names);
    const size_t length = strlen(word);
    const char *closest = NULL;
    size_t count = 0;

    for (size_t i = 0; names && i < e->count && !closest; i++) {
        if (!e->list[i].taken)
            continue;
        names[count++] = e->list[i].spec.name;
        if (length && !strncmp(names[count - 1], word, length))
            closest = names[count - 1];
    }
    if (names && !closest)
        closest = text_closest(word, names, count);
    free(names);
    return closest;
}

static int unknown(const entries *e, const char *argument)
{
    size_t length = strcspn(argument, "=");
    const char *closest = NULL;
    text word = {0};

    text_append_bytes(&word, argument, length);
    if (!strncmp(argument, "--", 2))
        closest = suggest(e, text_get(&word) + 2);
    else if (lacks_a_dash(e, argument))
        closest = text_get(&word) + 1;
    if (closest)
        wrong_usage("unknown option '%s': did you mean '--%s'?", text_get(&word), closest);
    else
        wrong_usage("unknown option '%s': --help lists the options", text_get(&word));
    text_free(&word);
    return EXIT_USAGE;
}

int option_unknown(const char *argument, const option_set *takes)
{
    entries e;
    int status = list_entries("", takes, &e) ? unknown(&e, argument) : out_of_memory();

    free_entries(&e);
    return status;
}

/* getopt_long's two descriptions of the options; those that the command does not take are known,
 * and refused by name. */
static void describe_to_getopt(const entries *e, struct option *long_options, text *letters)
{
    /* '-' has operands returned in their place, whatever POSIXLY_CORRECT says; ':' has a missing
     * value differ from an unknown option, without a message of getopt's own. */
    text_append(letters, "-:");
    for (size_t i = 0; i < e->count; i++) {
        const option_spec *spec = &e->list[i].spec;

        long_options[i] = (struct option){.name = spec->name,
                                          .has_arg = spec->value ? required_argument : no_argument,
                                          .val = LETTERLESS + (int)i};
        if (spec->letter)
            text_format(letters, "%c%s", spec->letter, spec->value ? ":" : "");
    }
    long_options[e->count] = (struct option){0};
}

static const entry *entry_of_code(const entries *e, int code)
{
    for (size_t i = 0; i < e->count; i++) {
        if (code == LETTERLESS + (int)i ||
            (e->list[i].spec.letter && code == e->list[i].spec.letter))
            return &e->list[i];
    }
    return NULL;
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
static int refuse_foreign(const entries *e, const char *name, const char *argument,
                          const char *subcommand)
{
    text meant = {0};

    for (size_t i = 0; i < e->count; i++) {
        const char *own = e->list[i].spec.name;
        size_t shorter = strlen(own) < strlen(name) ? strlen(own) : strlen(name);

        if (e->list[i].taken && !strncmp(own, name, shorter) &&
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
static int refuse(const entries *e, int code, const char *argument)
{
    const entry *x = entry_of_code(e, optopt);
    char letter[3] = {'-', (char)optopt, '\0'};

    if (!x)
        return unknown(e, optopt && !lacks_a_dash(e, argument) ? letter : argument);
    if (code == ':')
        return wrong_usage("option '%s' needs a value: %s", argument, x->spec.value);
    return wrong_usage("option '--%s' takes no value: '%s'", x->spec.name, argument);
}

/* The field that judges the value of an operation's option: of two operations that have one of this
 * name, that of the operation in question.  NULL where it has none, which the command says. */
static const field *field_of_setting(const entries *e, const option_set *takes, const char *name,
                                     const options *o)
{
    const operation *first = o->operand_count ? operation_named(o->operand[0]) : NULL;
    const operation *op = takes->op ? takes->op : first;

    return op ? field_of_option(op, name, takes->fields)
              : entry_named(e, name, strlen(name), true)->f;
}

static int refuse_setting(const field *f, const char *name, const char *value)
{
    const char *closest = field_closest(f, value);
    text expected = {0};

    field_expects(f, &expected);
    wrong_usage(closest ? "option '--%s' takes %s, not '%s': did you mean '%s'?"
                        : "option '--%s' takes %s, not '%s'",
                name, text_get(&expected), value, closest);
    text_free(&expected);
    return EXIT_USAGE;
}

static int judge_setting(const field *f, const char *name, const char *value)
{
    return f && *value && !field_read(f, value, NULL) ? refuse_setting(f, name, value) : 0;
}

/* Whether some operation that has the option takes the value: which it is may stand further on. */
static bool some_takes(const option_set *takes, const char *name, const char *value)
{
    const operation *op;

    for (size_t i = 0; (op = operation_at(i)); i++) {
        const field *f = field_of_option(op, name, takes->fields);

        if (f && (!takes->op || op == takes->op) && field_read(f, value, NULL))
            return true;
    }
    return false;
}

static int take_option(const entries *e, const option_set *takes, const entry *x,
                       const char *argument, options *out)
{
    const option_spec *spec = &x->spec;
    const bool own = x->id < OPTION_COUNT;
    const char *before = own ? out->value[x->id] : setting_of(&out->settings, spec->name);

    if (abbreviated(argument, spec) || lacks_a_dash(e, argument))
        return unknown(e, argument);
    if (!x->taken)
        return refuse_foreign(e, spec->name, argument, out->command);
    if (optarg && !strncmp(optarg, "--", 2) && optarg[2])
        return wrong_usage("option '%s' needs a value, and '%s' is an option", argument, optarg);
    if (optarg && !*optarg)
        return wrong_usage("option '--%s' has an empty value", spec->name);
    if (spec->value && before && x->id != OPTION_SET && x->id != OPTION_SIZE)
        return wrong_usage("option '--%s' is given twice, and takes one value: '%s' or '%s'",
                           spec->name, before, optarg);
    if (optarg && spec->parse && !spec->parse(optarg, out))
        return wrong_usage("option '--%s' takes %s, not '%s'", spec->name, spec->expects, optarg);
    if (own) {
        out->given[x->id] = true;
        out->value[x->id] = optarg;
    } else if (!before) {
        given_option *list = (given_option *)out->settings.list;

        if (x->f && optarg && !out->operand_count && !some_takes(takes, spec->name, optarg))
            return refuse_setting(x->f, spec->name, optarg);
        list[out->settings.count++] = (given_option){spec->name, optarg ? optarg : ""};
    }
    return 0;
}

int options_parse(int argc, char **argv, const option_set *takes, options *out)
{
    struct option *long_options = NULL;
    text letters = {0};
    entries e = {0};
    int code, status = 0;

    *out = (options){.command = argv[0], .seed = 1, .repeat = 1, .takes = takes};
    out->operand = calloc((size_t)argc, sizeof *out->operand);
    out->set = calloc((size_t)argc, sizeof *out->set);
    out->size = calloc((size_t)argc, sizeof *out->size);
    out->settings.list = calloc((size_t)argc, sizeof *out->settings.list);
    if (list_entries(argv[0], takes, &e))
        long_options = calloc(e.count + 1, sizeof *long_options);
    if (long_options)
        describe_to_getopt(&e, long_options, &letters);
    if (!out->operand || !out->set || !out->size || !out->settings.list || !long_options ||
        letters.failed) {
        status = out_of_memory();
        goto cleanup;
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
            status = refuse(&e, code, argument);
        else
            status = take_option(&e, takes, entry_of_code(&e, code), argument, out);
        if (code == 1 && takes->program)
            break;
    }
    while (!status && optind < argc)
        out->operand[out->operand_count++] = argv[optind++];
    out->settings.named = takes->op ? takes->op->name : out->operand_count ? out->operand[0] : NULL;
    /* The operation, which says what they take, may stand behind its options. */
    for (size_t i = 0; !status && i < out->settings.count; i++) {
        const given_option *s = &out->settings.list[i];

        status = judge_setting(field_of_setting(&e, takes, s->option, out), s->option, s->value);
    }

cleanup:
    free(long_options);
    free_entries(&e);
    text_free(&letters);
    return status;
}

void options_free(options *o)
{
    free(o->operand);
    free(o->set);
    free(o->size);
    free((void *)o->settings.list);
    o->operand = NULL;
    o->set = NULL;
    o->size = NULL;
    o->settings = (given_options){0};
}

/* What an option means to each operation that has it, "first, second: MEANING; third: MEANING". */
static void append_meanings(const char *option, unsigned with, text *out)
{
    const operation *op;
    const char *comma = "";

    for (size_t i = 0; (op = operation_at(i)); i++) {
        const field *f = field_of_option(op, option, with), *other;
        bool printed = !f;

        for (size_t k = 0; k < i && !printed; k++) {
            other = field_of_option(operation_at(k), option, with);
            printed = other && !strcmp(other->meaning, f->meaning);
        }
        if (printed)
            continue;
        text_format(out, "%s%s", comma, op->name);
        for (size_t k = i + 1; operation_at(k); k++) {
            other = field_of_option(operation_at(k), option, with);
            if (other && !strcmp(other->meaning, f->meaning))
                text_format(out, ", %s", operation_at(k)->name);
        }
        text_format(out, ": %s", f->meaning);
        comma = "; ";
    }
}

/* The line of an option among "--option VALUE", or "-o VALUE", behind its name; NULL where there is
 * none. */
static const char *default_of(const option_spec *s, const char *defaults)
{
    char names[2][64];

    snprintf(names[0], sizeof names[0], "--%s ", s->name);
    snprintf(names[1], sizeof names[1], "-%c ", s->letter ? s->letter : '-');
    for (const char *line = defaults; *line; line += strcspn(line, "\n") + 1) {
        for (int i = 0; i < 2; i++)
            if (!strncmp(line, names[i], strlen(names[i])))
                return line + strlen(names[i]) + strspn(line + strlen(names[i]), " ");
        if (!line[strcspn(line, "\n")])
            break;
    }
    return NULL;
}

int options_explain(text *out, const char *subcommand, const option_set *takes,
                    const char *defaults, size_t width)
{
    enum { MEANING_AT = 29 };
    entries e;

    if (!list_entries(subcommand, takes, &e))
        return out_of_memory();
    for (size_t i = 0; i < e.count; i++) {
        const option_spec *s = &e.list[i].spec;
        const char *otherwise = default_of(s, defaults);
        text meaning = {0};
        char left[64];

        if (!e.list[i].taken)
            continue;
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", s->letter ? '-' : ' ',
                 s->letter ? s->letter : ' ', s->letter ? ", " : "  ", s->name, s->value ? " " : "",
                 s->value ? s->value : "");
        text_format(out, "  %-26s ", left);
        if (e.list[i].f && takes->fields & WITH_SIZES)
            append_meanings(s->name, takes->fields, &meaning);
        else
            text_append(&meaning, s->meaning);
        if (otherwise)
            text_format(&meaning, " (default: %.*s)", (int)strcspn(otherwise, "\n"), otherwise);
        text_wrap(out, text_get(&meaning), MEANING_AT, MEANING_AT, width);
        text_append(out, "\n");
        text_free(&meaning);
    }
    free_entries(&e);
    return 0;
}
