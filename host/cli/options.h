/** The options of the command: one table of them, and the parser that reads it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/variant.h"
#include "measure/overlap.h"
#include "tessera/types.h"

typedef enum option_id {
    OPTION_OUTPUT = 0,
    OPTION_AS,
    OPTION_TYPE,
    OPTION_DEVICE,
    OPTION_KERNEL,
    OPTION_SET,
    OPTION_KERNEL_DIR,
    OPTION_KERNEL_FILE,
    OPTION_COPY,
    OPTION_DEVICE_MEMORY,
    OPTION_VERIFY,
    OPTION_REPEAT,
    OPTION_TINY,
    OPTION_SMALL,
    OPTION_DEFAULTS,
    OPTION_STOP_ON_FAILURE,
    OPTION_SEED,
    OPTION_SOURCE,
    OPTION_PTX,
    OPTION_CLEAR,
    OPTION_FRESH,
    OPTION_LIMITS,
    OPTION_SIZE,
    OPTION_QUEUES,
    OPTION_CHUNKS,
    OPTION_PINNED,
    OPTION_ROUNDS,
    OPTION_PEERS,
    OPTION_HELD,
    OPTION_WALL,
    OPTION_BRIEF,
    OPTION_ERRORS,
    OPTION_EXPLAIN,
    OPTION_WARM,
    OPTION_CSV,
    OPTION_BUDGET,
    OPTION_SECONDS,
    OPTION_JOBS,
    OPTION_BUILD_ONLY,
    OPTION_FAIL_BELOW,
    OPTION_HTML,
    OPTION_OFFLOAD,
    OPTION_CPU_BLAS,
    OPTION_BLAS_PRECISION,
    OPTION_LOG,
    OPTION_GROUP,
    OPTION_REGISTERS,
    OPTION_LOCAL,
    OPTION_CAPABILITY,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
} option_id;

/** Options of the command itself, as commands declare what they take. */
#define OPTION(id) ((uint64_t)1 << (id))
_Static_assert(OPTION_COUNT <= 56, "an option is a bit of a uint64_t");

/** What a command takes. */
typedef struct option_set {
    uint64_t own;    /* OPTION(id) for each of the command's own */
    unsigned fields; /* options of operations that it takes: WITH_FILES, WITH_SIZES, WITH_INPUTS */
    const operation *op; /* whose; NULL: those of every operation */
    bool program;        /* the first operand is a program: what follows it is the program's */
} option_set;

/** What the command line says.  Every string is borrowed from argv. */
typedef struct options {
    const char *command;
    const char **operand; /* operand_count of them, in order; malloced */
    size_t operand_count;
    bool given[OPTION_COUNT];
    const char *value[OPTION_COUNT]; /* NULL where not given, or a flag */
    const char **set;                /* the values of --set, in order; malloced */
    size_t set_count;
    const char **size; /* the values of --size, in order; malloced */
    size_t size_count;
    double budget;     /* seconds; 0: not given */
    double seconds;    /* of samples, for each row; 0: not given */
    double fail_below; /* a ratio; 0: not given */
    uint64_t seed;
    size_t repeat;
    size_t device_memory;          /* bytes; 0: not given */
    size_t group, registers;       /* of --group and --registers; 0: not given */
    size_t local;                  /* bytes; 0: not given */
    unsigned capability;           /* 10 * major + minor; 0: not given, or all */
    overlap_counts queues, chunks; /* count 0: not given */
    bool pinned;                   /* what --pinned says, where it is given */
    size_t rounds;                 /* 0: not given */
    given_options settings;        /* options of operations, in order */
    tsr_type as, type;
    const option_set *takes; /* what the command takes; borrowed */
} options;

/**
 * Read the arguments behind a command's name; options and operands may mix.
 *
 * @param argv   argv[0] is the command's name; argv[argc] is NULL.
 * @param takes  What the command takes.
 * @param out    Receives the options, to be freed with options_free, also on failure.
 * @return 0, or 2 after a message on standard error.
 */
int options_parse(int argc, char **argv, const option_set *takes, options *out);

void options_free(options *o);

/**
 * List the options of a set with their meanings, as a command takes them, in lines of `width`.
 *
 * @param defaults  Lines "--option VALUE" or "-o VALUE": what an option is where it is not given.
 * @return 0, or a status after a message.
 */
int options_explain(text *out, const char *subcommand, const option_set *takes,
                    const char *defaults, size_t width);

/** A type as options name it: "f32".  Static. */
const char *option_type_name(tsr_type type);

/** Its name, without its dashes. */
const char *option_name(option_id id);

/** Complain about an option that does not exist, with a suggestion out of a set.  Returns 2. */
int option_unknown(const char *argument, const option_set *takes);

#endif
