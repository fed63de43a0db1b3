#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>
#endif

#include "base/sizes.h"
#include "base/standard_error.h"
#include "base/text.h"
#include "cli/activity.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "core/fields.h"
#include "core/registry.h"
#include "measure/lab/lab.h"
#include "session/cache.h"

#define TAKES_ALWAYS (OPTION(OPTION_HELP) | OPTION(OPTION_VERSION))
#define TAKES_RUN                                                                                  \
    (OPTION(OPTION_OUTPUT) | OPTION(OPTION_AS) | OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) |   \
     OPTION(OPTION_SET) | OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_KERNEL_FILE) |                 \
     OPTION(OPTION_COPY) | OPTION(OPTION_DEVICE_MEMORY) | OPTION(OPTION_PINNED) |                  \
     OPTION(OPTION_VERIFY) | OPTION(OPTION_REPEAT) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET))
#define TAKES_PROBLEM (OPTION(OPTION_SIZE) | OPTION(OPTION_TYPE))
#define TAKES_SEARCH                                                                               \
    (TAKES_PROBLEM | OPTION(OPTION_OUTPUT) | OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) |       \
     OPTION(OPTION_SET) | OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_WARM) | OPTION(OPTION_SEED) |  \
     OPTION(OPTION_BUDGET) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET))

/** What a command's help says of OP. */
typedef enum operand_word {
    OP_NONE,       /* it has none */
    OP_ANY,        /* the operations */
    OP_OPTIONAL,   /* the same; the first where none is named */
    OP_EXPERIMENT, /* it is called NAME, and stands for experiments of the laboratory */
    OP_LESSON      /* likewise, for lessons */
} operand_word;

/** Which of an operation's typical sizes a command has for --size. */
typedef enum sizes_word {
    SIZES_NONE,
    SIZES_KERNELS,
    SIZES_BENCH,
    SIZES_ROOFLINE,
    SIZES_TUNE
} sizes_word;

typedef struct subcommand {
    const char *name;
    const char *usage; /* what follows the name */
    const char *summary;
    const char *details; /* further lines of its help */
    int (*run)(const options *o);
    size_t operands_min, operands_max;
    option_set takes;
    const char *defaults; /* of the options that it takes: further lines of its help */
    bool names_kernel;    /* a second operand is what --kernel names */
    operand_word names;   /* what its help says of OP */
    sizes_word sizes;     /* what it says of --size */
    const char *examples; /* lines, in which OP, SIZE and VARIANT stand for some that there are */
} subcommand;

#define DEFAULT_DEVICE                                                                             \
    "--device    what TESSERA_DEVICE names, else the first GPU, accelerator or CPU\n"
#define DEFAULT_SOURCES "--kernel-dir  what TESSERA_KERNEL_DIR names, else the sources built in\n"
#define DEFAULT_CHOICE                                                                             \
    "--kernel    the tuned variant, else the preferred one: see 'tessera kernels'\n"
#define DEFAULT_SETTING                                                                            \
    "--set       the tuned values, or the variant's own where --kernel names it\n"
/* Of the operations on files. */
#define DEFAULTS_RUN                                                                               \
    DEFAULT_DEVICE DEFAULT_SOURCES DEFAULT_CHOICE DEFAULT_SETTING                                  \
        "--as        the type of the files\n"                                                      \
        "--device-memory  what the device has\n"                                                   \
        "--pinned    off\n"                                                                        \
        "--repeat    1\n"
static const subcommand commands[] = {
    {"devices",
     "[--device D] [--json]",
     "list every device and what it can do",
     "",
     cmd_devices,
     0,
     0,
     {OPTION(OPTION_DEVICE) | OPTION(OPTION_JSON), 0, NULL},
     "--device    all\n",
     false,
     OP_NONE,
     SIZES_NONE,
     "tessera devices\n"
     "tessera devices --device gpu --json\n"},
    {"kernels",
     "[OP [VARIANT]] [--size S] [--source|--ptx]",
     "list the variants of the operations, or show the source of one",
     "Whether a variant is supported depends on the device and the problem.  --size, --type and "
     "the\n"
     "operation's own options describe a problem, as for bench; without them it is a typical one.\n"
     "An OpenCL device lists kernels, the device host the variants in C.\n",
     cmd_kernels,
     0,
     2,
     {TAKES_PROBLEM | OPTION(OPTION_DEVICE) | OPTION(OPTION_SET) | OPTION(OPTION_KERNEL_DIR) |
          OPTION(OPTION_SOURCE) | OPTION(OPTION_PTX) | OPTION(OPTION_JSON),
      WITH_SIZES, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES "--set       the variant's own values\n",
     false,
     OP_ANY,
     SIZES_KERNELS,
     "tessera kernels OP\n"
     "tessera kernels OP VARIANT --source\n"},
    {"verify",
     "[OP [VARIANT]] [--device all]",
     "check every variant against the CPU reference, on edge shapes",
     "'all' is every OpenCL device and then host.\n",
     cmd_verify,
     0,
     2,
     {OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) | OPTION(OPTION_SET) |
          OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_KERNEL_FILE) | OPTION(OPTION_TINY) |
          OPTION(OPTION_SMALL) | OPTION(OPTION_DEFAULTS) | OPTION(OPTION_STOP_ON_FAILURE) |
          OPTION(OPTION_SEED) | OPTION(OPTION_TYPE) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET),
      0, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES
     "OP each\n"
     "--kernel    every variant\n"
     "--set       the variant's own values, and each other one in turn\n"
     "--type      every type\n"
     "--seed      1\n",
     true,
     OP_ANY,
     SIZES_NONE,
     "tessera verify OP --tiny\n"
     "tessera verify OP VARIANT --device all\n"},
    {"bench",
     "OP|--jobs FILE [--size S]... [--kernel V|all] [--device D|all] [--peers [--held [--wall]] "
     "[--brief]] [--errors] [--explain] [-o FILE]",
     "time variants, each verified first, against the device's limits and peers",
     "A number of a size is 1024, 10M or 2^24, and several are written 1000x64.  --set takes "
     "lists:\n"
     "NAME=V1,V2.\n"
     "OP may be overlap: an array of --size words in host memory is copied in, computed and "
     "copied\n"
     "out in --chunks over --queues, from pageable and pinned memory and from shared\n"
     "virtual memory, beside the copies alone and what creating the queues costs.  It takes "
     "--size,\n"
     "but no other option that describes a problem, and none of --kernel, --set, --warm, --jobs,\n"
     "--build-only, --peers, --errors, --explain and --csv.\n"
     "-o writes the rows as JSON lines while the table goes to standard output.\n"
     "--budget ends the run, on all devices, after about that long: a quarter of it goes into\n"
     "samples, in equal parts; verifying and building take the rest, and a row that is not\n"
     "reached says so.  The variant that a call would run comes first, then peers, then the other\n"
     "variants.\n"
     "--held compares with cuBLAS and CUB, the peers that can be held back, by the device's own\n"
     "clock: the device begins once a sample's calls are enqueued, so that what an enqueue takes\n"
     "does not count.\n"
     "--jobs runs many in one process: a line of the file is 'bench' and its arguments.  An "
     "option\n"
     "on the command line, but for those that describe a problem, applies to each job that does "
     "not\n"
     "give it; --device and where output goes are for the command line alone, and its --budget is\n"
     "for all jobs together.\n"
     "A job that fails is named, and the others run; the status is 1 where the budget leaves jobs "
     "out.\n"
     "--errors adds, for products, a table of |C - exact| / (|A| |B|) in units of the\n"
     "roundoff u of C's type: largest and root mean square on each distribution of inputs.\n"
     "--explain lists the commands of one call of each variant that ran, one by one: bytes moved,\n"
     "share of the measured bandwidth, occupancy, and where the time went, copies included.\n",
     cmd_bench,
     1,
     1,
     {TAKES_SEARCH | OPTION(OPTION_KERNEL_FILE) | OPTION(OPTION_PEERS) | OPTION(OPTION_HELD) |
          OPTION(OPTION_WALL) | OPTION(OPTION_BRIEF) | OPTION(OPTION_JOBS) |
          OPTION(OPTION_BUILD_ONLY) | OPTION(OPTION_ERRORS) | OPTION(OPTION_EXPLAIN) |
          OPTION(OPTION_CSV) | OPTION(OPTION_REPEAT) | OPTION(OPTION_SECONDS) |
          OPTION(OPTION_QUEUES) | OPTION(OPTION_CHUNKS) | OPTION(OPTION_PINNED) |
          OPTION(OPTION_ROUNDS),
      WITH_SIZES | WITH_INPUTS, NULL},
     "--queues    1,2,3,4,8\n"
     "--chunks    32\n"
     "--pinned    both, and shared virtual memory where the device has it\n"
     "--rounds    a power of two, so that the kernel takes about as long as a copy\n" DEFAULT_DEVICE
         DEFAULT_SOURCES DEFAULT_CHOICE DEFAULT_SETTING "--budget    none\n"
     "--seconds   1, or less where a quarter of --budget is less\n"
     "--repeat    at least 5 samples of each row\n"
     "--seed      1\n"
     "-o          the table alone\n",
     false,
     OP_ANY,
     SIZES_BENCH,
     "tessera bench OP --size SIZE --peers\n"
     "tessera bench OP --kernel all -o rows.jsonl\n"},
    {"roofline",
     "[OP]... [--size S] [--limits] [--device D|all] [-o FILE]",
     "measure a device's limits, and how close each variant comes to them",
     "-o writes the rows as JSON lines while the table goes to standard output.  The limits are\n"
     "kept in the cache, each the best of all runs, and bench compares its rows with them;\n"
     "--fresh forgets them first.\n",
     cmd_roofline,
     0,
     SIZE_MAX,
     {OPTION(OPTION_SIZE) | OPTION(OPTION_DEVICE) | OPTION(OPTION_OUTPUT) | OPTION(OPTION_CSV) |
          OPTION(OPTION_JSON) | OPTION(OPTION_QUIET) | OPTION(OPTION_KERNEL_DIR) |
          OPTION(OPTION_FRESH) | OPTION(OPTION_LIMITS) | OPTION(OPTION_SECONDS),
      0, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES "-o          the table alone\n"
                                    "--seconds   0.25 for each way of reaching a limit (on a CPU "
                                    "0.7), 0.3 for each variant\n",
     false,
     OP_OPTIONAL,
     SIZES_ROOFLINE,
     "tessera roofline --limits\n"
     "tessera roofline OP --size SIZE -o limits.jsonl\n"},
    {"diagnose",
     "OP [--size S] [--kernel V] [--set NAME=VALUE] [--device D]",
     "find what keeps a kernel from being faster: six questions, each answered by measuring",
     "It asks whether launches, memory, barriers, divergence, matrix units or the device's limit\n"
     "keep the call from being faster, in this order.  The answers come from measurements of the\n"
     "call and from what the variant states of its design.  The first cause that applies is "
     "named;\n"
     "slow access to memory only where neither barriers nor divergence explain it, and the limit\n"
     "before matrix units.  Then the steps of the ladder that address the cause are measured\n"
     "beside the call, on a CPU all later ones.  Limits of the device are those of\n"
     "'tessera roofline', and are measured first where the cache has none.\n",
     cmd_diagnose,
     1,
     1,
     {TAKES_PROBLEM | OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) | OPTION(OPTION_SET) |
          OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_KERNEL_FILE) | OPTION(OPTION_WARM) |
          OPTION(OPTION_SEED) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET),
      WITH_SIZES | WITH_INPUTS, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES DEFAULT_CHOICE DEFAULT_SETTING "--seed      1\n",
     false,
     OP_ANY,
     SIZES_ROOFLINE,
     "tessera diagnose OP --size SIZE\n"
     "tessera diagnose OP --kernel VARIANT\n"},
    {"trace",
     "OP [--size S] [--kernel V] [--set NAME=VALUE] [--device D] [-o FILE.svg]",
     "show where and when warps run: achieved occupancy, and the balance between compute units",
     "On NVIDIA's GPUs: the kernels of the call are built once more, so that each warp records "
     "its\n"
     "unit and when it began and ended.  Per kernel it prints the occupancy that registers and "
     "local\n"
     "memory allow, the one that was reached, and how evenly units were busy, beside the rate of "
     "the\n"
     "call as it runs untraced and what its launches move by their design.  -o draws the units "
     "over\n"
     "time.\n",
     cmd_trace,
     1,
     1,
     {TAKES_PROBLEM | OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) | OPTION(OPTION_SET) |
          OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_WARM) | OPTION(OPTION_SEED) |
          OPTION(OPTION_OUTPUT) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET),
      WITH_SIZES | WITH_INPUTS, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES DEFAULT_CHOICE DEFAULT_SETTING "--seed      1\n"
                                                                   "-o          the table alone\n",
     false,
     OP_ANY,
     SIZES_ROOFLINE,
     "tessera trace OP --size SIZE\n"
     "tessera trace OP --kernel VARIANT -o units.svg\n"},
    {"lab",
     "[NAME|all]... [--size N] [--repeat N] [--device D|all] [--source] [-o FILE]",
     "run experiments that change one thing in a kernel, and show what the device makes of it",
     "Without NAME it lists them.  Each is checked, timed and drawn beside what courses on GPUs "
     "teach,\n"
     "and says where this device differs and why.  What a device lacks is left out with the "
     "reason.\n"
     "A changed kernel runs with --kernel-dir.  -o writes the points as JSON lines while the "
     "table\n"
     "goes to standard output; 'tessera compare' makes a page with charts of them.\n",
     cmd_lab,
     0,
     SIZE_MAX,
     {OPTION(OPTION_SIZE) | OPTION(OPTION_REPEAT) | OPTION(OPTION_DEVICE) | OPTION(OPTION_OUTPUT) |
          OPTION(OPTION_JSON) | OPTION(OPTION_QUIET) | OPTION(OPTION_KERNEL_DIR) |
          OPTION(OPTION_SOURCE),
      0, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES "--size      the experiment's own for the device\n"
                                    "--repeat    5 at least, for a tenth of a second\n"
                                    "-o          the table alone\n",
     false,
     OP_EXPERIMENT,
     SIZES_NONE,
     "tessera lab stride\n"
     "tessera lab stride --source\n"
     "tessera lab all --device all -o points.jsonl\n"},
    {"lesson",
     "[NAME...|all] [-o FILE.html | -o FOLDER | --json] [--device D] "
     "[--kernel-dir DIR | --kernel-file FILE]",
     "write pages that show kernels at work, step by step, from traces of them",
     "Without a name it lists the lessons.  Each runs kernels of the ladders on small inputs, and\n"
     "they write down every load, store and barrier.  The page shows these steps, forwards and\n"
     "back; it needs no network.  With --kernel-dir it shows a changed copy of the kernels,\n"
     "with --kernel-file a file in the place of the kernel of its first run.\n",
     cmd_lesson,
     0,
     SIZE_MAX,
     {OPTION(OPTION_DEVICE) | OPTION(OPTION_OUTPUT) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET) |
          OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_KERNEL_FILE),
      0, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES "-o          none: -o or --json is needed\n",
     false,
     OP_LESSON,
     SIZES_NONE,
     "tessera lesson tiled -o tiled.html\n"
     "tessera lesson tiled --kernel-dir cl -o mine.html\n"},
    {"course",
     "[COURSE [TABLE]...|all] [--small] [--repeat N] [--device D|all] [-o FILE]",
     "measure the tables of GPU courses on this device, row by row beside their own figures",
     "Without COURSE it lists them and their tables.  COURSE may be a file of your own, "
     "FILE.course,\n"
     "as host/cli/course_file.h of the sources describes it.  Each row is a variant, checked "
     "before "
     "it is\n"
     "timed, a point of an experiment, or a limit of the device; the document's own figure stands\n"
     "beside it, and behind each table why a machine shows what it shows.  Steps in C run on the\n"
     "host's processor, whatever the device.  -o writes the rows as JSON lines while the tables "
     "go\n"
     "to standard output; 'tessera compare' makes a page with charts of them.\n",
     cmd_course,
     0,
     SIZE_MAX,
     {OPTION(OPTION_SMALL) | OPTION(OPTION_REPEAT) | OPTION(OPTION_SECONDS) |
          OPTION(OPTION_DEVICE) | OPTION(OPTION_OUTPUT) | OPTION(OPTION_JSON) |
          OPTION(OPTION_QUIET) | OPTION(OPTION_KERNEL_DIR),
      0, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES "--repeat    5 at least\n"
                                    "--seconds   0.2\n"
                                    "-o          the tables alone\n",
     false,
     OP_NONE,
     SIZES_NONE,
     "tessera course 003\n"
     "tessera course 003 levels\n"
     "tessera course all -o course.jsonl\n"},
    {"occupancy",
     "[--group N] [--registers N] [--local BYTES] [--capability C|all | --device D]",
     "calculate occupancy: how much work a compute unit holds at once, and what runs out first",
     "For NVIDIA's devices, whose limits are published.  Occupancy is the share of a unit's\n"
     "work-items that its groups, in whole warps of 32, occupy at once.  For one compute\n"
     "capability it also shows other sizes of groups and numbers of registers, and what would let\n"
     "more in.  Registers of a kernel are in the table of 'tessera bench OP --explain'.\n",
     cmd_occupancy,
     0,
     0,
     {OPTION(OPTION_GROUP) | OPTION(OPTION_REGISTERS) | OPTION(OPTION_LOCAL) |
          OPTION(OPTION_CAPABILITY) | OPTION(OPTION_DEVICE) | OPTION(OPTION_JSON),
      0, NULL},
     "--group     256\n"
     "--registers  32\n"
     "--local     0\n"
     "--capability  all\n"
     "--device    what --capability names\n",
     false,
     OP_NONE,
     SIZES_NONE,
     "tessera occupancy --group 256 --registers 40 --local 16K --capability 9.0\n"
     "tessera occupancy --registers 64\n"},
    {"tune",
     "OP [--size S]... [--device D] [--budget SECONDS]",
     "find the fastest variant and its tunables, and keep them for later calls",
     "A number of a size is 1024, 10M or 2^24, and several are written 1000x64.\n"
     "--set takes lists, NAME=V1,V2, for the variant that --kernel names.  The winner of each "
     "class\n"
     "of problems is kept in the tuning folder, and used from then on.  --budget is spent on all\n"
     "sizes together.  Nothing is kept where it ends before the fastest were compared, or where\n"
     "there was nothing to try but what runs already.\n"
     "\n'tessera tune blas' measures where products of BLAS run: 'tessera blas'.\n",
     cmd_tune,
     1,
     1,
     {TAKES_SEARCH, WITH_SIZES, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES "--kernel    every variant\n"
                                    "--set       every value\n"
                                    "--budget    30 for each class of problems\n"
                                    "--seed      1\n"
                                    "-o          the tuning folder alone\n",
     false,
     OP_ANY,
     SIZES_TUNE,
     "tessera tune OP --budget 60\n"
     "tessera tune OP --size SIZE --kernel VARIANT\n"},
    {"compare",
     "RESULT.json... [--html FILE] [--fail-below R]",
     "show results of several devices, drivers or versions side by side",
     "",
     cmd_compare,
     1,
     SIZE_MAX,
     {OPTION(OPTION_HTML) | OPTION(OPTION_FAIL_BELOW) | OPTION(OPTION_OUTPUT) | OPTION(OPTION_CSV) |
          OPTION(OPTION_JSON) | OPTION(OPTION_QUIET),
      0, NULL},
     "--fail-below  nothing is judged\n"
     "-o          standard output\n",
     false,
     OP_NONE,
     SIZES_NONE,
     "tessera compare before.jsonl after.jsonl --fail-below 0.95\n"
     "tessera compare gpu.jsonl cpu.jsonl --html report.html\n"},
    {"cache",
     "[--clear | --warm [OP]... [--device D]]",
     "show, clear or fill the cache of built programs",
     "--warm builds ahead what calls of the operations need by default, in each type and at the\n"
     "usual sizes, so that first calls find it.\n",
     cmd_cache,
     0,
     SIZE_MAX,
     {OPTION(OPTION_CLEAR) | OPTION(OPTION_WARM) | OPTION(OPTION_DEVICE) |
          OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET),
      0, NULL},
     DEFAULT_DEVICE DEFAULT_SOURCES,
     false,
     OP_ANY,
     SIZES_NONE,
     "tessera cache --clear\n"
     "tessera cache --warm OP\n"},
    {"blas",
     "[--device D] [--offload WHEN] [--log FILE] [OPTION]... PROGRAM [ARGUMENT]...",
     "run a program that calls BLAS, its large products on the device",
     "auto sends products to a GPU or accelerator where that pays; always sends every product, to\n"
     "CPU devices too.  All else goes to the CPU's BLAS.\n",
     cmd_blas,
     1,
     SIZE_MAX,
     {OPTION(OPTION_DEVICE) | OPTION(OPTION_OFFLOAD) | OPTION(OPTION_CPU_BLAS) |
          OPTION(OPTION_BLAS_PRECISION) | OPTION(OPTION_LOG) | OPTION(OPTION_KERNEL_DIR),
      0, NULL, true},
     DEFAULT_DEVICE DEFAULT_SOURCES "--offload   what TESSERA_BLAS says, else auto\n"
                                    "--cpu-blas  what TESSERA_BLAS_CPU names, else the system's\n"
                                    "--precision what TESSERA_BLAS_PRECISION names, else f32\n"
                                    "--log       what TESSERA_BLAS_LOG names, else none\n",
     false,
     OP_NONE,
     SIZES_NONE,
     "tessera blas python3 program.py\n"
     "tessera blas --log calls.txt Rscript program.R\n"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands, BEFORE_OPERATIONS = 2 };

static size_t command_count(void)
{
    return COMMAND_COUNT + operation_count;
}

/* The command of an operation's name, which computes it on files. */
static subcommand command_of(const operation *op)
{
    const operation_command *c = op->command;
    subcommand s = {.name = op->name,
                    .usage = c->help->usage,
                    .summary = c->help->summary,
                    .details = c->help->details,
                    .examples = c->help->examples,
                    .run = cmd_run,
                    .takes = {TAKES_RUN, WITH_FILES, op},
                    .defaults = DEFAULTS_RUN};

    for (size_t i = 0; i < c->file_count; i++)
        s.operands_min += !c->files[i].option;
    s.operands_max = s.operands_min;
    return s;
}

/* Command i, as they are listed; the operations stand among them. */
static subcommand command_at(size_t i)
{
    if (i < BEFORE_OPERATIONS)
        return commands[i];
    if (i - BEFORE_OPERATIONS < operation_count)
        return command_of(operations[i - BEFORE_OPERATIONS]);
    return commands[i - operation_count];
}

static bool command_find(const char *name, subcommand *out)
{
    for (size_t i = 0; i < command_count(); i++) {
        *out = command_at(i);
        if (!strcmp(name, out->name))
            return true;
    }
    return false;
}

/* "'first' or 'second'": the commands that begin with a word, else the closest one. */
static void suggest_commands(const char *word, text *out)
{
    const size_t count = command_count();
    const char **names = calloc(count, sizeof *names);
    const char *closest;

    for (size_t i = 0; names && i < count; i++) {
        names[i] = command_at(i).name;
        if (*word && !strncmp(names[i], word, strlen(word)))
            text_format(out, "%s'%s'", out->length ? " or " : "", names[i]);
    }
    closest = names ? text_closest(word, names, count) : NULL;
    if (closest && !out->length)
        text_format(out, "'%s'", closest);
    free(names);
}

static int command_unknown(const char *name)
{
    text lower = {0}, meant = {0};

    for (const char *c = name; *c; c++)
        text_format(&lower, "%c", tolower((unsigned char)*c));
    suggest_commands(text_get(&lower), &meant);
    if (meant.length)
        wrong_usage("unknown command '%s': did you mean %s?", name, text_get(&meant));
    else
        wrong_usage("unknown command '%s': 'tessera --help' lists the commands", name);
    text_free(&lower);
    text_free(&meant);
    return EXIT_USAGE;
}

/* A paragraph: line ends stay where a sentence ends. */
static void append_paragraph(const char *s, size_t width, text *out)
{
    text flowing = {0};

    for (; *s; s++) {
        const bool inner =
            *s == '\n' && flowing.length && !strchr(".\n", s[-1]) && s[1] && s[1] != '\n';

        text_append_bytes(&flowing, inner ? " " : s, 1);
    }
    text_wrap(out, text_get(&flowing), 0, 0, width);
    text_free(&flowing);
}

/* A row of the help's tables: a term, and its meaning beside it.  Two blanks part them, as help2man
 * takes them for a table. */
static void append_row(const char *term, int longest, const char *meaning, size_t width, text *out)
{
    const size_t at = (size_t)longest + 4;

    text_format(out, "  %-*s  ", longest, term);
    text_wrap(out, meaning, at, at, width);
    text_append(out, "\n");
}

static void help(FILE *stream)
{
    static const char *const statuses[][2] = {
        {"0", "done"},
        {"1", "failed"},
        {"2", "the command line is wrong"},
        {"3", "a result is out of its bound, or a comparison below --fail-below"},
        {"4", "no usable OpenCL device"},
        {"130", "interrupted"},
        {"141", "the program that reads the output has ended"},
    };
    static const char *const variables[][2] = {
        {"TESSERA_DEVICE", "the device, where --device names none"},
        {"TESSERA_KERNEL_DIR", "a folder of kernel sources"},
        {"TESSERA_CACHE_DIR", "the cache folder"},
        {"TESSERA_TUNING_DIR", "the folder of what 'tessera tune' found"},
    };
    const size_t width = terminal_width(fileno(stream));
    text page = {0};

    text_append(&page, "Usage: tessera COMMAND [OPTION]...\n\n");
    append_paragraph(
        "Run operations on OpenCL devices, check their results, and time and tune their "
        "kernels.\n\n"
        "Commands:\n",
        width, &page);
    for (size_t i = 0; i < command_count(); i++)
        append_row(command_at(i).name, 9, command_at(i).summary, width, &page);
    append_paragraph(
        "\n'tessera COMMAND --help' shows its options; 'tessera --version' shows the version.\n\n"
        "Exit status:\n",
        width, &page);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        append_row(statuses[i][0], 3, statuses[i][1], width, &page);
    text_append(&page, "\nEnvironment:\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        append_row(variables[i][0], 18, variables[i][1], width, &page);
    fputs(text_get(&page), stream);
    text_free(&page);
}

/* "OP is first, second or third." */
static void append_operations(const subcommand *c, text *out)
{
    const char *each = strstr(c->defaults, "\nOP ");

    if (c->names == OP_NONE)
        return;
    if (c->names == OP_EXPERIMENT) {
        text_append(out, "NAME is all");
        for (size_t i = 0; lab_at(i); i++)
            text_format(out, "%s%s", lab_at(i + 1) ? ", " : " or ", lab_at(i)->name);
        text_append(out, ".\n");
        return;
    }
    if (c->names == OP_LESSON) {
        text_append(out, "NAME is all");
        lesson_names(out);
        text_append(out, ".\n");
        return;
    }
    text_append(out, "OP is ");
    for (size_t i = 0; i < operation_count; i++)
        text_format(out, "%s%s%s",
                    i == 0                    ? ""
                    : i + 1 < operation_count ? ", "
                                              : " or ",
                    operations[i]->name, i == 0 && c->names == OP_OPTIONAL ? " (the default)" : "");
    if (each)
        text_format(out, " (default: %.*s)", (int)strcspn(each + 4, "\n"), each + 4);
    text_append(out, ".\n");
    for (size_t i = 0; i < operation_count && c->sizes != SIZES_NONE; i++)
        text_format(out, "A --size of %s is %s.\n", operations[i]->name,
                    operations[i]->command->size_form);
}

/* What the options of an operation, NULL for all, are where they are not given. */
static void append_field_defaults(const operation *op, unsigned taken, text *out)
{
    for (size_t i = 0; i < operation_count; i++) {
        const operation_command *c = operations[i]->command;

        if (op && operations[i] != op)
            continue;

        for (size_t k = 0; k < c->field_count; k++) {
            const field *f = &c->fields[k];
            bool skip = !f->option || !f->otherwise || !(f->taken & taken);

            for (size_t j = 0; j < i && !skip && !op; j++)
                skip = field_of_option(operations[j], f->option, taken);
            if (!skip)
                text_format(out, "--%s %s\n", f->option, f->otherwise);
        }
    }
}

/* What --size and --type are where they are not given. */
static void append_problem_defaults(const subcommand *c, text *out)
{
    text types = {0};

    if (c->sizes == SIZES_TUNE)
        text_append(out, "--size some that occur, of three to five classes of problems");
    else
        text_append(out, "--size ");
    for (size_t i = 0; i < operation_count; i++) {
        const operation *op = operations[i];
        const typical_sizes *s = &op->command->sizes;
        const char *comma = i ? ", " : "";

        if (c->sizes == SIZES_ROOFLINE)
            text_format(out, "%s%s %s (on a CPU %s)", comma, op->name, s->roofline,
                        s->roofline_cpu);
        else if (c->sizes != SIZES_TUNE)
            text_format(out, "%s%s for %s", comma,
                        c->sizes == SIZES_KERNELS && s->kernels ? s->kernels : s->bench, op->name);
        if (op->default_type != TSR_F32)
            text_format(&types, "; %s %s", op->name, option_type_name(op->default_type));
    }
    text_append(out, c->sizes == SIZES_BENCH ? "; overlap 2^26, of CPUs 2^22\n" : "\n");
    if (c->takes.fields) {
        append_field_defaults(NULL, c->takes.fields, out);
        text_format(out, "--type f32, or what --precision is of%s\n", text_get(&types));
    }
    text_free(&types);
}

/* The first variant that runs on devices. */
static const char *some_variant(const operation *op)
{
    for (size_t i = 0; i < op->variant_count; i++)
        if (op->variants[i]->source)
            return op->variants[i]->name;
    return "VARIANT";
}

static void append_examples(const subcommand *c, text *out)
{
    const operation *op = operations[0];
    const char *s = c->examples ? c->examples : "";

    if (*s)
        text_append(out, "\nExamples:\n");
    while (*s) {
        const size_t line = strcspn(s, "\n");

        text_append(out, "  ");
        for (size_t i = 0, n; i < line; i += n) {
            n = strcspn(s + i, " \n");
            if (n == 2 && !strncmp(s + i, "OP", n))
                text_append(out, op->name);
            else if (n == 4 && !strncmp(s + i, "SIZE", n))
                text_append(out, op->command->sizes.bench);
            else if (n == 7 && !strncmp(s + i, "VARIANT", n))
                text_append(out, some_variant(op));
            else
                text_append_bytes(out, s + i, n ? n : 1);
            n = n ? n : 1;
        }
        text_append(out, "\n");
        s += line + (s[line] == '\n');
    }
}

static int help_command(const subcommand *c)
{
    const option_set takes = {c->takes.own | TAKES_ALWAYS, c->takes.fields, c->takes.op};
    const size_t width = terminal_width(STDOUT_FILENO);
    text page = {0}, usage = {0}, operation_lines = {0}, defaults = {0};
    int status;

    text_format(&usage, "Usage: tessera %s %s", c->name, c->usage);
    text_wrap(&page, text_get(&usage), 0, 8, width);
    text_append(&page, "\n\n");
    text_wrap(&page, c->summary, 0, 0, width);
    text_append(&page, "\n");
    append_operations(c, &operation_lines);
    if (*c->details || operation_lines.length)
        text_append(&page, "\n");
    append_paragraph(text_get(&operation_lines), width, &page);
    append_paragraph(c->details, width, &page);
    text_append(&page, "\nOptions:\n");
    /* "--option VALUE" a line: what each option is where it is not given. */
    if (c->sizes != SIZES_NONE)
        append_problem_defaults(c, &defaults);
    text_append(&defaults, c->defaults);
    if (c->takes.op)
        append_field_defaults(c->takes.op, c->takes.fields, &defaults);
    status = options_explain(&page, c->name, &takes, text_get(&defaults), width);
    append_examples(c, &page);
    if (page.failed || usage.failed || operation_lines.failed || defaults.failed)
        status = out_of_memory();
    else
        fputs(text_get(&page), stdout);
    text_free(&page);
    text_free(&usage);
    text_free(&operation_lines);
    text_free(&defaults);
    return status;
}

static int version(void)
{
    printf("tessera %s\n", tsr_version());
    return EXIT_DONE;
}

/* `verify OP VARIANT` is `verify OP --kernel VARIANT`. */
static int take_kernel(const subcommand *c, options *o)
{
    if (!c->names_kernel || o->operand_count < 2)
        return EXIT_DONE;
    if (o->given[OPTION_KERNEL])
        return wrong_usage("%s: both '%s' and --kernel %s name a variant", c->name, o->operand[1],
                           o->value[OPTION_KERNEL]);
    o->given[OPTION_KERNEL] = true;
    o->value[OPTION_KERNEL] = o->operand[1];
    o->operand_count = 1;
    return EXIT_DONE;
}

/* Rows are of one format, wherever they go. */
static int check_formats(const subcommand *c, const options *o)
{
    if (o->given[OPTION_CSV] && o->given[OPTION_JSON])
        return wrong_usage("%s: --json and --csv exclude each other", c->name);
    return EXIT_DONE;
}

static int refuse_too_few(const subcommand *c, const options *o)
{
    text names = {0};
    int status;

    if (c->names == OP_ANY) {
        append_operations(c, &names);
        status =
            wrong_usage("%s: which operation? usage is 'tessera %s %s'; %.*s", c->name, c->name,
                        c->usage, (int)strcspn(text_get(&names), ".\n"), text_get(&names));
        text_free(&names);
        return status;
    }
    return wrong_usage("%s: %zu of %zu inputs given: usage is 'tessera %s %s'", c->name,
                       o->operand_count, c->operands_min, c->name, c->usage);
}

static int run_command(const subcommand *c, int argc, char **argv)
{
    const option_set takes = {c->takes.own | TAKES_ALWAYS, c->takes.fields, c->takes.op,
                              c->takes.program};
    options o;
    int status = options_parse(argc, argv, &takes, &o);

    if (status) {
        /* The parser has complained. */
    } else if (o.given[OPTION_HELP]) {
        status = c->run == cmd_tune && o.operand_count && !strcmp(o.operand[0], "blas")
                     ? tune_blas_help()
                     : help_command(c);
    } else if (o.given[OPTION_VERSION]) {
        version();
    } else if (o.operand_count > c->operands_max) {
        status = wrong_usage("%s: unexpected '%s': usage is 'tessera %s %s'", c->name,
                             o.operand[c->operands_max], c->name, c->usage);
    } else if (o.operand_count < c->operands_min && !o.given[OPTION_JOBS]) {
        status = refuse_too_few(c, &o);
    } else {
        status = check_formats(c, &o);
        status = status ? status : take_kernel(c, &o);
        activity_start(!o.given[OPTION_QUIET] && isatty(STDERR_FILENO));
        status = status ? status : c->run(&o);
    }
    options_free(&o);
    return status;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const option_set always = {TAKES_ALWAYS, 0, NULL};
    subcommand c;

    if (!word) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        return version();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        if (argc > 2)
            return command_find(argv[2], &c) ? help_command(&c) : command_unknown(argv[2]);
        help(stdout);
        return EXIT_DONE;
    }
    if (*word == '-')
        return option_unknown(word, &always);
    return command_find(word, &c) ? run_command(&c, argc - 1, argv + 1) : command_unknown(word);
}

#ifdef _OPENMP
/* At most as many threads as have room for their stacks, of the usual size, in a quarter of the
 * address space that `ulimit -v` leaves; `most` without such a limit. */
static size_t threads_in_memory(size_t most)
{
    unsigned long pages = 0;
    size_t stack = 0, used;
    pthread_attr_t attributes;
    struct rlimit space;
    FILE *f;

    if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY)
        return most;
    f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_destroy(&attributes);
    }
    used = size_min(pages * (size_t)sysconf(_SC_PAGESIZE), space.rlim_cur);
    return stack ? size_min(most, 1 + (space.rlim_cur - used) / 4 / stack) : most;
}
#endif

/* OMP_NUM_THREADS may ask for more threads than the machine can start, which ends the process. */
static void bound_threads(void)
{
#ifdef _OPENMP
    enum { THREADS_PER_PROCESSOR_MAX = 4 };
    const int most =
        (int)threads_in_memory(THREADS_PER_PROCESSOR_MAX * (size_t)omp_get_num_procs());

    if (omp_get_max_threads() > most)
        omp_set_num_threads(most);
#endif
}

/* At exit, behind what compiles in the background. */
static void tell_not_stored(void)
{
    if (*cache_not_stored())
        warn("cache folder %s: what was built is not kept; TESSERA_CACHE_DIR names another, or "
             "'off'",
             cache_not_stored());
}

int main(int argc, char **argv)
{
    int status;

    bound_threads();
    /* A standard stream that the caller closed would lend its number to the next file opened, and
     * messages would land in a result.  The mode is the wrong one, so that its use is an error. */
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
    standard_error_guard(interrupt_aborted);
    atexit(tell_not_stored);
    interrupt_ends();
    status = run(argc, argv);
    errno = 0;
    /* fflush says nothing of what an earlier flush lost, nor why: writing again does. */
    if (fflush(stdout) || ferror(stdout)) {
        if (!errno && (fputc('\n', stdout), fflush(stdout) == 0))
            errno = EIO;
        fprintf(stderr, "tessera: standard output: cannot write: %s\n", strerror(errno));
        status = status ? status : EXIT_FAILED;
    }
    return status;
}
