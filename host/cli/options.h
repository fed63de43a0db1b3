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
    OPTION_TRANS_A,
    OPTION_TRANS_B,
    OPTION_TRANS,
    OPTION_ALPHA,
    OPTION_BETA,
    OPTION_ADD,
    OPTION_PRECISION,
    OPTION_ARGSORT,
    OPTION_WITH_INDEX, /* --argsort where it takes no file */
    OPTION_DESCENDING,
    OPTION_VALUES,
    OPTION_VALUES_OUT,
    OPTION_STABLE,
    OPTION_ROWS,
    OPTION_SEGMENTS,
    OPTION_SEGMENT_LENGTHS, /* --segments where it takes no file */
    OPTION_TOP,
    OPTION_VALUE_BYTES,
    OPTION_ORDER,
    OPTION_AS,
    OPTION_TYPE,
    OPTION_OUT_TYPE,
    OPTION_BATCH,
    OPTION_DEVICE,
    OPTION_KERNEL,
    OPTION_SET,
    OPTION_KERNEL_DIR,
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
    OPTION_SIZE,
    OPTION_QUEUES,
    OPTION_CHUNKS,
    OPTION_PINNED,
    OPTION_ROUNDS,
    OPTION_PEERS,
    OPTION_HELD,
    OPTION_ERRORS,
    OPTION_EXPLAIN,
    OPTION_WARM,
    OPTION_CSV,
    OPTION_BUDGET,
    OPTION_FAIL_BELOW,
    OPTION_HTML,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
} option_id;

/** A set of options, as commands declare what they take. */
#define OPTION(id) ((uint64_t)1 << (id))

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
    double fail_below; /* a ratio; 0: not given */
    double alpha, beta;
    uint64_t seed;
    size_t repeat;
    size_t batch;                  /* 1 where not given */
    size_t device_memory;          /* bytes; 0: not given */
    overlap_counts queues, chunks; /* count 0: not given */
    bool pinned;                   /* what --pinned says, where it is given */
    size_t rounds;                 /* 0: not given */
    size_t top;                    /* 0 where not given */
    size_t value_bytes;            /* 0 where not given */
    distribution order;            /* of a sort's keys; DISTRIBUTION_PLAIN where not given */
    size_t segment_spread;         /* the longest segment in means; 0: there are none */
    tsr_precision precision;
    tsr_type as, type;
} options;

/**
 * Read the arguments behind a command's name; options and operands may mix.
 *
 * @param argv   argv[0] is the command's name; argv[argc] is NULL.
 * @param takes  The options that the command takes.
 * @param out    Receives the options, to be freed with options_free, also on failure.
 * @return 0, or 2 after a message on standard error.
 */
int options_parse(int argc, char **argv, uint64_t takes, options *out);

void options_free(options *o);

/** List the options of a set with their meanings, as a command takes them. */
void options_explain(FILE *stream, const char *subcommand, uint64_t takes);

/** Its name, without its dashes. */
const char *option_name(option_id id);

/** Complain about an option that does not exist, with a suggestion out of a set.  Returns 2. */
int option_unknown(const char *argument, uint64_t takes);

#endif
