#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/messages.h"
#include "cli/options.h"

#define TAKES_ALWAYS (OPTION(OPTION_HELP) | OPTION(OPTION_VERSION))
#define TAKES_RUN                                                                                  \
    (OPTION(OPTION_OUTPUT) | OPTION(OPTION_AS) | OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) |   \
     OPTION(OPTION_SET) | OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_COPY) |                        \
     OPTION(OPTION_DEVICE_MEMORY) | OPTION(OPTION_PINNED) | OPTION(OPTION_VERIFY) |                \
     OPTION(OPTION_REPEAT) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET))
#define TAKES_SCALARS                                                                              \
    (OPTION(OPTION_ALPHA) | OPTION(OPTION_BETA) | OPTION(OPTION_ADD) | OPTION(OPTION_PRECISION))
#define TAKES_PROBLEM                                                                              \
    (OPTION(OPTION_SIZE) | OPTION(OPTION_TYPE) | OPTION(OPTION_OUT_TYPE) | OPTION(OPTION_BATCH) |  \
     OPTION(OPTION_PRECISION) | OPTION(OPTION_TRANS_A) | OPTION(OPTION_TRANS_B) |                  \
     OPTION(OPTION_TRANS) | OPTION(OPTION_WITH_INDEX) | OPTION(OPTION_DESCENDING) |                \
     OPTION(OPTION_SEGMENT_LENGTHS) | OPTION(OPTION_TOP) | OPTION(OPTION_VALUE_BYTES))
#define TAKES_SEARCH                                                                               \
    (TAKES_PROBLEM | OPTION(OPTION_OUTPUT) | OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) |       \
     OPTION(OPTION_SET) | OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_WARM) | OPTION(OPTION_SEED) |  \
     OPTION(OPTION_BUDGET) | OPTION(OPTION_JSON) | OPTION(OPTION_QUIET))

typedef struct subcommand {
    const char *name;
    const char *usage; /* what follows the name */
    const char *summary;
    const char *details; /* further lines of its help */
    int (*run)(const options *o);
    size_t operands_min, operands_max;
    uint64_t takes;
    const char *defaults; /* of the options that it takes: further lines of its help */
    bool names_kernel;    /* a second operand is what --kernel names */
} subcommand;

#define DEFAULT_DEVICE                                                                             \
    "--device    what TESSERA_DEVICE names, else the first GPU, accelerator or CPU\n"
#define DEFAULT_SOURCES "--kernel-dir  what TESSERA_KERNEL_DIR names, else the sources built in\n"
#define DEFAULT_CHOICE                                                                             \
    "--kernel    the tuned variant, else the preferred one: see 'tessera kernels'\n"
#define DEFAULT_SETTING                                                                            \
    "--set       the tuned values, or the variant's own where --kernel names it\n"
#define DEFAULT_TYPE "--type      f32, or what --precision is of; sort u32\n"

#define DEFAULT_OUT_TYPE "--out-type  that of the operands\n"

/* Of the operations on files. */
#define DEFAULTS_RUN                                                                               \
    DEFAULT_DEVICE DEFAULT_SOURCES DEFAULT_CHOICE DEFAULT_SETTING                                  \
        "--as        the type of the files\n"                                                      \
        "--device-memory  what the device has\n"                                                   \
        "--pinned    off\n"                                                                        \
        "--repeat    1\n"
#define DEFAULTS_SCALED                                                                            \
    DEFAULTS_RUN                                                                                   \
    "--precision  that of the type\n"                                                              \
    "--alpha     1\n"                                                                              \
    "--beta      0\n"

static const subcommand commands[] = {
    {"devices", "[--device D] [--json]", "list every device: who it is and what it can do", "",
     cmd_devices, 0, 0, OPTION(OPTION_DEVICE) | OPTION(OPTION_JSON), "--device    all\n", false},
    {"kernels", "[OP [VARIANT]] [--size S] [--source|--ptx]",
     "list the variants of the operations, or show one's text",
     "OP is matmul, matvec or sort.  A variant is judged by a problem on the device: the one that\n"
     "--size, --type and their kin describe as they do for bench, else a typical one.  A size of\n"
     "sort is 10M, rows of keys 1000x2^16, or with --segments segments of that mean length.  On a\n"
     "device its kernels are listed, on host the variants in C.\n",
     cmd_kernels, 0, 2,
     TAKES_PROBLEM | OPTION(OPTION_DEVICE) | OPTION(OPTION_SET) | OPTION(OPTION_KERNEL_DIR) |
         OPTION(OPTION_SOURCE) | OPTION(OPTION_PTX) | OPTION(OPTION_JSON),
     "--size      1024 for matmul, 4096 for matvec, 2^22 for sort (with --segments "
     "100kx100)\n" DEFAULT_DEVICE DEFAULT_SOURCES DEFAULT_TYPE DEFAULT_OUT_TYPE "--batch     1\n"
     "--precision  that of the type\n"
     "--set       the variant's own values\n",
     false},
    {"matmul", "A B -o C [--alpha X] [--beta Y --add C0]", "C := alpha op(A) op(B) + beta C0",
     "A, B and C0 are matrices in .npy or .mtx files; - is standard input.  C is .mtx by its\n"
     "suffix, else .npy.  An array of rank 3 is a batch of matrices, as NumPy has it.\n",
     cmd_run, 2, 2,
     TAKES_RUN | TAKES_SCALARS | OPTION(OPTION_TRANS_A) | OPTION(OPTION_TRANS_B) |
         OPTION(OPTION_OUT_TYPE),
     DEFAULTS_SCALED DEFAULT_OUT_TYPE, false},
    {"matvec", "A x -o y [--alpha X] [--beta Y --add y0]", "y := alpha op(A) x + beta y0",
     "A is a matrix, x and y0 are vectors (or matrices of one row or column) in .npy or .mtx\n"
     "files; - is standard input.  y is .mtx by its suffix, else .npy.  An array A of rank 3 is a\n"
     "batch of matrices, and the rows of a matrix x one of vectors, as NumPy has it: a lone\n"
     "matrix or vector serves all of the other's, and y and y0 are matrices of such rows.  To a\n"
     "lone A one row of x is a vector, not a batch of one.\n",
     cmd_run, 2, 2, TAKES_RUN | TAKES_SCALARS | OPTION(OPTION_TRANS) | OPTION(OPTION_OUT_TYPE),
     DEFAULTS_SCALED DEFAULT_OUT_TYPE, false},
    {"sort",
     "KEYS [-o OUT] [--descending] [--argsort IDX] [--values V --values-out W] [--rows] "
     "[--top K] [--segments S]",
     "sort keys and values that go with them, and find the order that sorts them",
     "KEYS is a vector (or a matrix of one row or column) in a .npy or .mtx file; - is standard\n"
     "input.  OUT and IDX are .mtx by their suffix, else .npy.  Floats sort as -inf < ... < -0 <\n"
     "+0 < ... < +inf < NaN, and NaNs by their bits: first those without the sign, by rising\n"
     "payload, then those with it, by falling payload; --descending reverses all of that.  Equal\n"
     "keys, of which NaNs have the same bits, stay in input order in IDX and W.  V has a value\n"
     "for each key, of any NumPy type of 1, 2, 4, 8 or 16 bytes but structures and objects, in\n"
     "KEYS' shape; with one dimension more, a value is what lies along it, as of two float64.  W\n"
     "has V's shape and type, in this machine's order of bytes.\n"
     "With --rows KEYS is any matrix, and OUT and IDX have its shape; IDX counts within each row.\n"
     "With --segments stretches of KEYS are sorted, each by itself: S has ascending whole numbers\n"
     "in a .npy file, 0 first, where each starts, and last the number of keys; equal ones are an\n"
     "empty segment; IDX counts within each segment.  With --top K all outputs hold the first K\n"
     "keys, or as many as there are, of KEYS or of each row.\n",
     cmd_run, 1, 1,
     TAKES_RUN | OPTION(OPTION_ARGSORT) | OPTION(OPTION_DESCENDING) | OPTION(OPTION_VALUES) |
         OPTION(OPTION_VALUES_OUT) | OPTION(OPTION_STABLE) | OPTION(OPTION_ROWS) |
         OPTION(OPTION_SEGMENTS) | OPTION(OPTION_TOP),
     DEFAULTS_RUN, false},
    {"verify", "[OP [VARIANT]] [--device all]",
     "prove every variant on edge shapes against the reference",
     "OP is matmul, matvec or sort.  'all' is every OpenCL device and then host.\n", cmd_verify, 0,
     2,
     OPTION(OPTION_DEVICE) | OPTION(OPTION_KERNEL) | OPTION(OPTION_SET) |
         OPTION(OPTION_KERNEL_DIR) | OPTION(OPTION_TINY) | OPTION(OPTION_SMALL) |
         OPTION(OPTION_DEFAULTS) | OPTION(OPTION_STOP_ON_FAILURE) | OPTION(OPTION_SEED) |
         OPTION(OPTION_TYPE) | OPTION(OPTION_JSON),
     DEFAULT_DEVICE DEFAULT_SOURCES
     "OP          each\n"
     "--kernel    every variant\n"
     "--set       the variant's own values, and each other one in turn\n"
     "--type      every type\n"
     "--seed      1\n",
     true},
    {"bench",
     "OP [--size S]... [--kernel V|all] [--device D|all] [--peers [--held]] [--errors] [--explain] "
     "[-o FILE]",
     "time variants, each verified first, against the device's limits and peers",
     "OP is matmul, matvec or sort.  A size is 1024, 1000x1000x1000 (M x N x K), 10M or 2^24;\n"
     "a lone n is n x n x n for matmul, n x n for matvec; sort takes rows too, 1000x2^16, which\n"
     "with --segments are segments of that mean length; --top K times the first K keys alone, and\n"
     "--order keys that are not random, of our kernels and of peers.\n"
     "--set takes lists: NAME=V1,V2.\n"
     "OP is overlap: an array of --size words in host memory is copied in, computed and copied\n"
     "out in --chunks over --queues at once, from pageable and pinned memory and from shared\n"
     "virtual memory, beside the copies alone and what creating the queues costs.  Of what\n"
     "describes a problem it takes --size alone, and neither --kernel, --set, --warm, --peers,\n"
     "--held, --errors and --explain nor --csv.\n"
     "-o writes the rows as JSON lines while the table goes to standard output.\n"
     "--budget ends the run, on all devices, after about that long: a quarter of it goes into\n"
     "samples, in equal parts; verifying and building take the rest, and a row that is not\n"
     "reached says so.  The variant that runs where none is named comes first, then peers, then\n"
     "the others of all.\n"
     "--held compares matmul and matvec with cuBLAS, the one peer that can be held back, by the\n"
     "device's own clock: the device begins once a sample's calls are enqueued, so that what an\n"
     "enqueue takes does not count.\n"
     "--errors adds, for matmul and matvec, a table of |C - exact| / (|A| |B|) in units of the\n"
     "roundoff u of C's type: largest and root mean square on each family of inputs.\n"
     "--explain lists the commands of one call of each variant that ran, one by one: bytes moved,\n"
     "share of the measured bandwidth, occupancy, and where the time went, copies included.\n",
     cmd_bench, 1, 1,
     TAKES_SEARCH | OPTION(OPTION_PEERS) | OPTION(OPTION_HELD) | OPTION(OPTION_ERRORS) |
         OPTION(OPTION_EXPLAIN) | OPTION(OPTION_CSV) | OPTION(OPTION_REPEAT) |
         OPTION(OPTION_ORDER) | OPTION(OPTION_QUEUES) | OPTION(OPTION_CHUNKS) |
         OPTION(OPTION_PINNED) | OPTION(OPTION_ROUNDS),
     "--size      1024 for matmul, 4096 for matvec, 10M for sort (with --segments 100kx100); "
     "overlap 2^26, of CPUs 2^22\n"
     "--queues    1,2,3,4,8\n"
     "--chunks    32\n"
     "--pinned    both, and shared virtual memory where the device has it\n"
     "--rounds    a power of two, so that the kernel takes about as long as a copy\n" DEFAULT_DEVICE
         DEFAULT_SOURCES DEFAULT_CHOICE DEFAULT_SETTING DEFAULT_TYPE DEFAULT_OUT_TYPE
     "--batch     1\n"
     "--precision  that of the type\n"
     "--order     random\n"
     "--budget    none: about a second of samples for each row\n"
     "--repeat    5 samples of a row at least\n"
     "--seed      1\n"
     "-o          the table alone\n",
     false},
    {"roofline", "[OP]... [--size S] [--device D|all] [-o FILE]",
     "measure the limits of a device, and place the steps of a ladder on them",
     "OP is matmul (the default), matvec or sort.  -o writes the rows as JSON lines while the\n"
     "table goes to standard output.  The limits are kept in the cache, each the best of all "
     "runs,\n"
     "and bench places its rows on them; --fresh starts anew.\n",
     cmd_roofline, 0, 3,
     OPTION(OPTION_SIZE) | OPTION(OPTION_DEVICE) | OPTION(OPTION_OUTPUT) | OPTION(OPTION_CSV) |
         OPTION(OPTION_JSON) | OPTION(OPTION_QUIET) | OPTION(OPTION_KERNEL_DIR) |
         OPTION(OPTION_FRESH),
     "--size      matmul 4096 (on a CPU 512), matvec 16384 (4096), sort 2^24 "
     "(2^20)\n" DEFAULT_DEVICE DEFAULT_SOURCES "-o          the table alone\n",
     false},
    {"tune", "OP [--size S]... [--device D] [--budget SECONDS]",
     "search the tunables of an operation's variants, and keep the best",
     "OP is matmul, matvec or sort.  A size is 1024, 1000x1000x1000 (M x N x K), 10M or 2^24.\n"
     "--set takes lists, NAME=V1,V2, for the variant that --kernel names.  The winner of each "
     "class\n"
     "of problems is kept in the tuning folder, and used from then on.  --budget is spent on all\n"
     "sizes together; where it ends before the fastest were compared, nothing is kept, nor where\n"
     "what runs anyway was the only one to try.\n",
     cmd_tune, 1, 1, TAKES_SEARCH,
     "--size      some that occur, of three to five classes of problems\n" DEFAULT_DEVICE
         DEFAULT_SOURCES "--kernel    every variant\n"
     "--set       every value\n" DEFAULT_TYPE "--precision  that of the type\n"
     "--budget    30 for each class of problems\n"
     "--seed      1\n"
     "-o          the tuning folder alone\n",
     false},
    {"compare", "RESULT.json... [--html FILE] [--fail-below R]",
     "results of several devices, drivers or versions side by side", "", cmd_compare, 1, SIZE_MAX,
     OPTION(OPTION_HTML) | OPTION(OPTION_FAIL_BELOW) | OPTION(OPTION_OUTPUT) | OPTION(OPTION_CSV) |
         OPTION(OPTION_JSON) | OPTION(OPTION_QUIET),
     "--fail-below  nothing is judged\n"
     "-o          standard output\n",
     false},
    {"cache", "[--clear]", "where built programs are kept, and which", "", cmd_cache, 0, 0,
     OPTION(OPTION_CLEAR) | OPTION(OPTION_JSON), "", false},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const subcommand *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    }
    return NULL;
}

/* "'matmul' or 'matvec'" for "mat": the commands that begin with a word, else the closest one. */
static void suggest_commands(const char *word, text *out)
{
    const char *names[COMMAND_COUNT];
    const char *closest;

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (*word && !strncmp(names[i], word, strlen(word)))
            text_format(out, "%s'%s'", out->length ? " or " : "", names[i]);
    }
    closest = text_closest(word, names, COMMAND_COUNT);
    if (closest && !out->length)
        text_format(out, "'%s'", closest);
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

static void help(FILE *stream)
{
    fputs("Usage: tessera COMMAND [OPTION]...\n\n"
          "Multiply matrices, multiply a matrix by a vector, and sort, on OpenCL devices.\n\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'tessera COMMAND --help' tells more; 'tessera --version' shows the version.\n\n"
          "Environment: TESSERA_DEVICE names the device where --device does not,\n"
          "TESSERA_KERNEL_DIR a folder of kernel sources, TESSERA_CACHE_DIR the cache folder,\n"
          "TESSERA_TUNING_DIR the folder of what `tessera tune` found.\n\n"
          "Exit status: 0 done; 1 failed; 2 the command line is wrong; 3 a result is out of its\n"
          "bound; 4 no usable OpenCL device; 130 interrupted; 141 the reader of a pipe is gone.\n",
          stream);
}

/* "NAME  VALUE" up to the line's end, in the columns of the options. */
static void print_default(const char *line)
{
    const int name = (int)strcspn(line, " "), blank = (int)strspn(line + name, " ");

    printf("  %-26.*s %.*s\n", name, line, (int)strcspn(line + name + blank, "\n"),
           line + name + blank);
}

static void help_command(const subcommand *c)
{
    printf("Usage: tessera %s %s\n\n%s\n", c->name, c->usage, c->summary);
    if (*c->details)
        printf("\n%s", c->details);
    fputs("\n", stdout);
    options_explain(stdout, c->name, c->takes | TAKES_ALWAYS);
    if (*c->defaults)
        puts("\nDefaults:");
    for (const char *line = c->defaults; *line; line += strcspn(line, "\n") + 1)
        print_default(line);
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

static int run_command(const subcommand *c, int argc, char **argv)
{
    options o;
    int status = options_parse(argc, argv, c->takes | TAKES_ALWAYS, &o);

    if (status) {
        /* The parser has complained. */
    } else if (o.given[OPTION_HELP]) {
        help_command(c);
    } else if (o.given[OPTION_VERSION]) {
        version();
    } else if (o.operand_count > c->operands_max) {
        status = wrong_usage("%s: unexpected '%s': usage is 'tessera %s %s'", c->name,
                             o.operand[c->operands_max], c->name, c->usage);
    } else if (o.operand_count < c->operands_min) {
        status = wrong_usage("%s: %zu of %zu inputs given: usage is 'tessera %s %s'", c->name,
                             o.operand_count, c->operands_min, c->name, c->usage);
    } else {
        status = check_formats(c, &o);
        status = status ? status : take_kernel(c, &o);
        status = status ? status : c->run(&o);
    }
    options_free(&o);
    return status;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const subcommand *c;

    if (!word) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(word, "--version"))
        return version();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        c = argc > 2 ? command_find(argv[2]) : NULL;
        if (argc > 2 && !c)
            return command_unknown(argv[2]);
        if (c)
            help_command(c);
        else
            help(stdout);
        return EXIT_DONE;
    }
    if (*word == '-')
        return option_unknown(word, TAKES_ALWAYS);
    c = command_find(word);
    return c ? run_command(c, argc - 1, argv + 1) : command_unknown(word);
}

/* A standard stream that the caller closed would lend its number to the next file opened, and
 * messages would land in a result.  The mode is the wrong one, so that its use is an error. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv)
{
    int status;

    hold_standard_streams();
    interrupt_ends();
    status = run(argc, argv);
    errno = 0;
    /* fflush says nothing of what an earlier flush lost. */
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tessera: standard output: %s\n", errno ? strerror(errno) : "write error");
        status = status ? status : EXIT_FAILED;
    }
    return status;
}
