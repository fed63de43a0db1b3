/**
 * What an operation is: its problems, their operands, how results are checked, and what commands
 * and measuring need to know of it.
 */
#ifndef CORE_OPERATION_H
#define CORE_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "tessera/generic.h"
#include "tessera/status.h"
#include "tessera/types.h"

enum { OPERANDS_MAX = 8, PREFERENCES_MAX = 32, PROBLEM_BYTES_MAX = 256 };

typedef struct operation operation;
struct posing;

/** Distributions of inputs. */
typedef enum distribution {
    DISTRIBUTION_PLAIN,   /* as uniform; of keys finite floats but no -0: what other libraries order
                              alike */
    DISTRIBUTION_UNIFORM, /* U(-1, 1); of keys every bit pattern of the type, uniformly */
    DISTRIBUTION_SPECIAL, /* among them NaN, infinities, denormals, both zeros; extremes for
                             integers */
    DISTRIBUTION_FEW,     /* few distinct keys; of numbers as uniform with integers: exact sums */
    DISTRIBUTION_ORDERED, /* keys ascending already; of numbers wide exponents: +-2^U(-20, 20) */
    /* Of keys alone, of finite floats but -0: */
    DISTRIBUTION_REVERSED, /* descending */
    DISTRIBUTION_CONSTANT, /* one key, again and again */
    DISTRIBUTION_TWO,      /* two distinct keys */
    DISTRIBUTION_SAWTOOTH, /* ascending stretches, one like the other */
    DISTRIBUTION_COUNT
} distribution;

/** One problem of any operation: the public problem structure, as bytes.  Each operation has
 *  accessors of its own, and the rest of the library reads its fields. */
struct problem {
    const operation *op;
    distribution
        inputs; /* what bench fills its operands with; the sweep says it here too, or leaves
                   it at DISTRIBUTION_PLAIN, and verify draws one from uniform to ordered */
    _Alignas(8) unsigned char bytes[PROBLEM_BYTES_MAX];
};

/** A problem with the `bytes` bytes of its operation's structure. */
problem problem_from(const operation *op, const void *structure, size_t bytes);

typedef enum operand_access {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_READ_WRITE = 3
} operand_access;

/** Where the elements of an operand are: as many matrices as there are products, or one that they
 *  share.  A vector is a line, or, where its elements lie apart, lines of one element. */
typedef struct view {
    tsr_type type;
    size_t lines, length; /* of `length` elements that follow one another, `ld` apart */
    size_t ld, offset;
    size_t count, stride; /* matrices, so far apart; 0 where there is one */
} view;

/** One operand of a problem: view_operand makes it. */
typedef struct operand {
    const char *name; /* "A", "y", "keys" */
    tsr_type type;
    operand_access access; /* ACCESS_WRITE: what is not written is kept */
    view view;             /* what is no element is neither read nor written */
    size_t begin;          /* bytes before the first element: the offset */
    size_t bytes;          /* from the start of the array, offset included, to the end of the last
                              element; 0: there is none, or none is read */
    bool whole;            /* the operation writes every element: no need to copy it in */
    bool read_back;        /* kernels read what others of the call wrote to it */
} operand;

/** What a check found. */
typedef struct verdict {
    bool ok;
    double worst; /* largest |error| / bound where the bound is finite; 0 where results are exact */
    bool sampled; /* too big to check every element: samples and sums were checked */
    char detail[200]; /* where and what, once !ok */
} verdict;

struct selection;     /* core/calls.h */
struct stream_budget; /* stream/budget.h */
struct partition;     /* stream/partition.h */
/** What a member of an operation's problem structure holds. */
typedef enum field_kind {
    FIELD_COUNT,     /* size_t; with choices one of their values */
    FIELD_CHOICE,    /* size_t, one of the choices: JSON has the first of their names */
    FIELD_FLAG,      /* bool */
    FIELD_REAL,      /* double */
    FIELD_TYPE,      /* tsr_type, of the first operand */
    FIELD_PRECISION, /* tsr_precision */
    FIELD_WIDE,      /* bool: the result is float32, whatever the operands are; with `also` a second
                        one, by a choice of 2: it is bfloat16 */
    FIELD_INTERVAL,  /* no member: an option that the operation looks up by itself, LOW:HIGH, two
                        finite numbers, of which the first is not above the second */
    FIELD_INPUTS,    /* no member: the distribution that problem.inputs holds, one of the choices */
    FIELD_ASKED      /* no member: an option that the operation looks up by itself; its value, where
                        there is one, is what `reads` takes, or a whole number from 1 on or one of
                        the choices.  With a name,
                        JSON has for it what a count of 0 says: the operation that hand_over names has
                        the value */
} field_kind;

/** Choices of FIELD_WIDE. */
enum { RESULT_F32 = 1, RESULT_BF16 = 2 };

/** What a count of 0 stands for. */
typedef enum field_zero {
    ZERO_IS_ZERO,
    ZERO_IS_ONE,
    ZERO_IS_ALL /* as many as `bound` has */
} field_zero;

/** How a field enters the tuning class of a problem (core/tuning_class.h). */
typedef enum field_class {
    CLASS_NONE,
    CLASS_EXACT,      /* its value: of a type, precision, choice or flag */
    CLASS_WHERE_SET,  /* of a flag: its name where it is set */
    CLASS_POWER_OF_2, /* of a count: from a power of 2 to the next */
    CLASS_POWER_OF_4  /* from a power of 4 to the next, named by the exponent */
} field_class;

/** Where a field's option is taken: by the command of the operation's name, which has files; by
 *  those that take sizes; by the one that says how inputs come. */
enum { WITH_FILES = 1, WITH_SIZES = 2, WITH_INPUTS = 4 };

typedef struct field_choice {
    const char *name;
    size_t value;
} field_choice;

/** One member of the problem structure, or what else an option says of a problem. */
typedef struct field {
    const char *name; /* its key in JSON; NULL: it has none */
    field_kind kind;
    size_t offset; /* in the structure */
    size_t also;   /* of FIELD_WIDE: of the member for bfloat16; 0: there is none */
    bool extent;   /* a number of --size, in this order; a lone one is all of them */
    field_zero zero;
    field_class in_class;
    double normal;     /* of a real or a flag: its value where nothing sets it; an option turns a
                          flag round */
    const char *bound; /* name of the count that ZERO_IS_ALL means, and that it is at most */
    /* Its option: */
    const char *option;          /* without its dashes; NULL: there is none */
    unsigned taken;              /* WITH_FILES, WITH_SIZES, WITH_INPUTS */
    const char *value;           /* its placeholder in help; NULL for a flag */
    const char *meaning;         /* one line of help */
    const char *expects;         /* what a value is, "a whole number from 1 on"; NULL: a choice */
    const char *otherwise;       /* what help says there is where it is not given; NULL: nothing */
    size_t most;                 /* of a count, which is at least 1; 0: any */
    const field_choice *choices; /* its names, NULL behind the last; or NULL */
    bool (*reads)(
        const char *value); /* of FIELD_ASKED and FIELD_REAL: whether that is one; or NULL */
} field;

/** A member of the problem structure that is no field: where operands lie in memory, or what an
 *  option that is looked up by itself sets. */
typedef struct problem_member {
    const char *name;
    tsr_member_kind kind;
    size_t offset;
} problem_member;

/** The member of a structure as such, by its own name. */
#define PROBLEM_MEMBER(structure, name, kind)                                                      \
    {                                                                                              \
#name, TSR_MEMBER_##kind, offsetof(structure, name)                                        \
    }

/** A file that an operation reads or writes, beside that of -o, which takes operation.result. */
typedef struct file_use {
    const char *option;  /* without its dashes; NULL: an input by its position */
    const char *meaning; /* one line of help, of an option */
    unsigned operand;
    bool output;
    bool as_it_is; /* an input that keeps its type: neither converted nor compared with others */
    bool moved;    /* the same, of elements that are never looked at: of any type of a fixed size */
} file_use;

/** Help of the command that has the operation's name. */
typedef struct operation_help {
    const char *usage;    /* what follows the name */
    const char *summary;  /* one line */
    const char *details;  /* further lines, each with its end */
    const char *examples; /* command lines, each with its end */
} operation_help;

/** Options of an operation that are given, and their values, "" for a flag. */
typedef struct given_option {
    const char *option, *value;
} given_option;

typedef struct given_options {
    const given_option *list;
    size_t count;
    const char
        *named; /* the operation that was asked for, which may hand over to another; or NULL */
} given_options;

/** The value of an option, without its dashes; NULL where it is not given. */
const char *setting_of(const given_options *s, const char *option);

/** What the work of an operation is counted in, and so the unit of its rate. */
typedef enum work_unit {
    WORK_FLOPS, /* GFLOP/s */
    WORK_OPS,   /* the same on whole numbers: Gop/s */
    WORK_BYTES, /* of compulsory traffic: GB/s */
    WORK_KEYS   /* Mkeys/s */
} work_unit;

/** Unit of a rate: "GFLOP/s".  Static. */
const char *work_unit_name(work_unit unit);

/** The unit of that name; WORK_FLOPS for any other. */
work_unit work_unit_of(const char *name);

/** Rate in a unit of `work` units (FLOPs or keys) and `bytes` of traffic in `ns`; 0 where ns is. */
double work_rate(work_unit unit, double work, double bytes, double ns);

/** Sizes that occur, as --size spells them. */
typedef struct typical_sizes {
    const char *bench;           /* where `bench` has no --size */
    const char *kernels;         /* that `kernels` judges variants by, likewise; NULL: as bench */
    const char *roofline;        /* shows a device's speed, and the slowest step finishes soon */
    const char *roofline_cpu;    /* the same on a CPU */
    const char *const *tune;     /* of several classes on a GPU, NULL behind the last */
    const char *const *tune_cpu; /* small enough for what is no GPU */
} typical_sizes;

/** A product as its elements lie in the arrays: rows x columns, each a sum of `depth` terms.
 * Indices count elements of their array. */
typedef struct product_view {
    tsr_type type, result;
    size_t rows, columns, depth;
    size_t left, left_row, left_step;       /* first element, from row to row, along a row */
    size_t right, right_column, right_step; /* from column to column, along a column */
    size_t to, to_row, to_column;
} product_view;

/** A library that does the same jobs, for comparison (bench/peer.h). */
typedef struct peer_library {
    const char *name;    /* its module is peer_OPERATION_NAME.so */
    const char *library; /* for messages */
    const char *package; /* Debian's and Ubuntu's package, or who else has it */
    bool nvidia;         /* it computes on NVIDIA devices alone */
} peer_library;

/** Libraries that several operations are compared with; TBB by what it calls the operation. */
#define PEER_CLBLAST                                                                               \
    {                                                                                              \
        "clblast", "CLBlast", "libclblast-dev", false                                              \
    }
#define PEER_CUB                                                                                   \
    {                                                                                              \
        "cub", "CUB", "NVIDIA's CUDA toolkit", true                                                \
    }
#define PEER_CUBLAS                                                                                \
    {                                                                                              \
        "cublas", "cuBLAS", "NVIDIA's CUDA toolkit", true                                          \
    }
#define PEER_OPENBLAS                                                                              \
    {                                                                                              \
        "openblas", "OpenBLAS", "libopenblas-dev", false                                           \
    }
#define PEER_TBB(what)                                                                             \
    {                                                                                              \
        "tbb", what, "libtbb-dev", false                                                           \
    }

/** What commands need of an operation: options, files, sizes and help come from it. */
typedef struct operation_command {
    typical_sizes sizes;
    const field *fields; /* field_count of them, in the order of output */
    size_t field_count;
    const problem_member *members; /* member_count of them, which no field is */
    size_t member_count;
    size_t problem_bytes;      /* of the public structure */
    const peer_library *peers; /* that do the same, NULL behind the last; those on the device first:
                                  what a budget does not reach is then the host's.  NULL: none */
    const file_use *files;     /* file_count of them, inputs by position first */
    size_t file_count;
    const char *no_output; /* what to say where none is named, behind "no output: " */
    bool prints_result;    /* where none is named, the result is printed, a number a line */
    bool rounds_factors;   /* a precision may round the factors of float32 operands */
    const operation_help *help;
    const char *size_form; /* what --size takes: "n or MxNxK" */
    size_t size_numbers;   /* at most, that many or one */

    /** *out, which comes as this operation: what does as the options say, where that is another one
     *  that takes them too.  TSR_ENAME where they exclude each other.  NULL function: always this.
     */
    tsr_status (*hand_over)(const given_options *given, const operation **out, tsr_error *err);

    /** Set what follows from the numbers of a --size, beyond the fields that are extents: layout,
     *  and how numbers and options go together.  NULL function: nothing does. */
    tsr_status (*lay_out)(problem *p, const given_options *given, const char *size, const size_t *n,
                          size_t count, tsr_error *err);

    /** What options say about each other, before any file is read.  NULL function: nothing. */
    tsr_status (*check_settings)(const given_options *given, tsr_error *err);

    /** Pose the problem of files (core/posing.h). */
    tsr_status (*pose)(struct posing *x, tsr_error *err);

    /** Leave of the arrays what the outputs hold, once the problem is done.  NULL function: all. */
    void (*cut)(struct posing *x);

    /** Describe what files and options ask for, as operation.describe does the problem that pose()
     *  made of it.  NULL function: they are the same. */
    void (*describe_asked)(const struct posing *x, text *out);

    /** What the elements are that cut() leaves of the result: "selected", their number's name in
     *  the report of a run.  NULL: their number is no news. */
    const char *counted;

    /** The file of a variant in C, for people who want to read it. */
    const char *(*host_source)(const variant *v);
} operation_command;

/** Where problems of an operation are found in files from before it had a name of its own: those of
 *  an operation `op`, with these words in their descriptions and in their tuning classes. */
typedef struct operation_origin {
    const char *op; /* NULL: nowhere */
    const char *problem, *problem_class;
} operation_origin;

/** What a variant's rows of results are called now, where its name went to another or to several:
 *  those whose build options contain `built`, which no kernel of that name has any more. */
typedef struct renaming {
    const char *name, *built;
    const char *plain; /* the name on problems of the default type whose size says all else */
    const char *other; /* and on others */
} renaming;

struct operation {
    const char *name; /* as the command and files spell it */
    operation_origin origin;
    const char *idea;  /* the formula, one line */
    const char *words; /* what the ideas of its variants take for known, one line; NULL: nothing */
    work_unit unit;
    char class_separator; /* between the words of a tuning class; 0: a blank */
    bool exact;     /* results equal the reference's to the bit: there are no errors to measure */
    bool uses_up;   /* a call overwrites its inputs, so that none can follow on the same ones */
    unsigned types; /* 1u << tsr_type for each type that its first operand may have */
    tsr_type default_type; /* of problems without files */
    unsigned result;       /* the operand that -o takes */
    const operation_command *command;
    const variant *const *variants; /* variant_count of them, ladder order */
    size_t variant_count;
    const renaming *renamings; /* renaming_count of them */
    size_t renaming_count;

    /** Check shapes, strides, types and products against overflow.  Fills err. */
    tsr_status (*check)(const problem *p, tsr_error *err);

    /** Rewrite a checked problem in the form that variants take.  order[i], which comes as i, says
     *  which operand of the problem as it was is operand i of it now.  NULL function: as it is. */
    void (*normalize)(problem *p, unsigned order[OPERANDS_MAX]);

    /** Describe the operands of a checked problem; returns their number. */
    size_t (*operands)(const problem *p, operand out[OPERANDS_MAX]);

    /** The member of a problem that is operand i's offset.  NULL function: none has one. */
    size_t *(*offset)(problem *p, size_t i);

    /** Check what operands on host memory say of a checked problem, and note it in the problem.
     *  NULL function: they say nothing. */
    tsr_status (*inspect)(problem *p, const void *const operands[], tsr_error *err);

    /** Cut a call on host memory, of a problem in the form that variants take, into pieces that the
     *  budget holds.  *out comes zeroed, and stays so where operands are copied in one piece.
     *  NULL function: always. */
    tsr_status (*partition)(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

    /** Floating-point operations, or keys, of the problem. */
    double (*work)(const problem *p);

    /** Compulsory traffic in bytes: each input read once, each output written once. */
    double (*bytes)(const problem *p);

    /** One-line description: "1000x64x1000 float32 A^T". */
    void (*describe)(const problem *p, text *out);

    /** The tuning class, where the fields do not give it (core/tuning_class.h); and its problems,
     *  by such a name: false, and nothing appended, for any other.  NULL functions: they do. */
    void (*classify)(const problem *p, text *out);
    bool (*class_text)(const char *name, text *out);

    /** Names of variants, best first, for this kind of device and problem, while no tuning entry
     *  exists; returns their number.  Covers device kinds and the host. */
    size_t (*prefer)(const problem *p, const device_facts *d, const char *out[PREFERENCES_MAX]);

    /** The variant in C that a call on a CPU device takes where the host reaches its operands,
     * before tuning and preference, but for entries that were measured to be faster, because no
     * kernel is: a small problem is done sooner than a kernel is launched, or compiled for a
     * first call, and where time is spent on memory alone C code is as fast at any size.  NULL,
     * also as a function: none.  By the problem alone: what is compiled already does not count, so
     * that the same call has the same result. */
    const char *(*prefer_c)(const problem *p, const device_facts *d);

    /** What may run until the best is in a cache: core/first_calls.h.  On a GPU the variant whose
     * program is compiled soonest, for a problem that it does in some milliseconds; it probes
     * nothing.  On a CPU a variant in C, for a problem of which it loses less time than compiling
     * takes.  NULL, also as a function: none. */
    const char *(*prefer_first)(const problem *p, const device_facts *d);

    /** The size as --size spells it, and a problem of about a 64th of the work, where the extents
     *  alone do not give them (problem_size and problem_shrink in core/fields.h).  NULL functions:
     *  they do. */
    void (*size_text)(const problem *p, text *out);
    void (*shrink)(problem *p);

    /** A distribution's name in descriptions and results, "random"; NULL function: it is not named.
     */
    const char *(*inputs_name)(distribution f);

    /** For an operation whose results are sums of products of operands 0 and 1, stored in operand
     *  2: their number, and number e.  NULL functions: it is none. */
    size_t (*products)(const problem *p);
    product_view (*product)(const problem *p, size_t e);

    /** Fill host operands with inputs of a distribution.  Outputs get arbitrary but reproducible
     * bytes (NaN among them where beta is 0). */
    void (*fill)(const problem *p, uint64_t seed, distribution f, void *const operands[]);

    /** Edge-shape sweep: problem i, in a fixed order; false beyond the last.  With `tiny` only
     *  problems that a simulator finishes in seconds. */
    bool (*sweep)(size_t i, bool tiny, problem *out);

    /**
     * What verify() compares with and need not compute again for every result of the same inputs:
     * it depends on them and the problem's shape alone.  *out is malloced and the caller's.  NULL
     * function: nothing is worth keeping.
     */
    tsr_status (*expect)(const problem *p, const void *const before[], void **out, tsr_error *err);

    /**
     * Compare a result with the reference: computed independently of every variant, in higher
     * precision, against the bound that floating-point arithmetic allows on this device.  Also
     * checks that nothing outside the result was written.
     *
     * @param before    operands as they were, `after` as they are.
     * @param expected  what expect() made of `before`; NULL: it is computed here.
     */
    tsr_status (*verify)(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);
};

/** TSR_EINVAL, with those that it takes, for a type that an operation does not take. */
tsr_status operation_check_type(const operation *op, tsr_type type, tsr_error *err);

/** TSR_EINVAL unless the offsets of segments, one more than there are, ascend from 0 to n; *longest
 *  receives the most elements of one, at least 1. */
tsr_status operation_check_offsets(const operation *op, size_t n, size_t segments,
                                   const uint64_t *offsets, size_t *longest, tsr_error *err);

/** The operations, in the order in which they are listed (host/ops/operations.c). */
extern const operation *const operations[];
extern const size_t operation_count;

#endif
