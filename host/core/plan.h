/**
 * A plan: everything that one variant does for one job, worked out before any OpenCL call.
 *
 * A job is a problem, the facts of a device and the values of tunables.  A
 * variant's plan() turns it into a plan: the tunables as they run, the -Ds, the
 * bytes of workspace and the commands in order.  A plan holds no OpenCL handle
 * and is tested without a device.  It is computed once for each distinct call
 * and kept (core/calls.h).
 */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "device/facts.h"
#include "tessera/types.h"

enum {
    TUNABLES_MAX = 16,
    TUNABLE_VALUES_MAX = 16,
    TUNABLE_ANY_MAX = 4096, /* the largest value of a tunable that takes any */
    COMMAND_ARGS_MAX = 24,
    BLOCK_BYTES_MAX = 256,
    GROUP_COUNTERS_MAX = 16384
};

typedef struct problem problem;
typedef struct variant variant;

/** A -D of the kernel that may be varied: the only list of its name, legal values and default. */
typedef struct tunable {
    const char *name;                    /* the -D name, UPPER_CASE */
    const char *meaning;                 /* what it is and what it trades, one line */
    uint32_t values[TUNABLE_VALUES_MAX]; /* legal values, ascending, 0-terminated; 0 in front:
                                            plan() chooses the value by the job */
    uint32_t normal;                     /* the default, one of them */
    uint32_t small;                      /* the value for a simulator, and for problems that are
                                            to have many tiles; 0: the default */
    bool host_only;                      /* plan() alone uses it: it is no -D, so that one program
                                            serves all its values */
    bool any;                            /* any count from 1 to TUNABLE_ANY_MAX is legal; tune and
                                            the sweep try those of `values` */
    uint32_t cpu_most;                   /* larger values take a CPU's compiler minutes, and the
                                            sweep leaves them to GPUs; 0: none do */
    const char *alias;                   /* as that of a variant */
} tunable;

/** Number of legal values. */
static inline size_t tunable_values(const tunable *t)
{
    size_t n = t->values[0] == 0;

    while (n < TUNABLE_VALUES_MAX && t->values[n])
        n++;
    return n;
}

/** A value for each tunable of a variant, in its order. */
typedef struct params {
    const tunable *tunables; /* the variant's */
    size_t count;
    uint32_t value[TUNABLES_MAX];
} params;

/** Value of a tunable by name.  Asserts that the variant declares it. */
uint32_t param(const params *p, const char *name);

/** Where the operands of a call are. */
typedef enum placement {
    IN_BUFFERS, /* in buffers of the device */
    IN_MAPPED,  /* likewise, and the host can map these, so that C code reaches them as well */
    ARRIVING,   /* in buffers, and inputs arrive while commands run: job.arriving */
    IN_ARRAYS   /* in the caller's arrays, which the device works on where they are */
} placement;

/** What plan() is asked for: the problem as operation.normalize has it. */
typedef struct job {
    const problem *problem;
    const device_facts *device;
    const params *params;
    bool arriving;  /* inputs arrive from the front while commands run: what can be done with the
                       first of them comes first, and each command says what it works on */
    bool c_reaches; /* the operands are where C code can work on them: IN_MAPPED, IN_ARRAYS */
} job;

typedef enum arg_kind {
    ARG_OPERAND,        /* operand `index` as cl_mem */
    ARG_WORKSPACE,      /* the workspace as cl_mem */
    ARG_GROUP_COUNTERS, /* GROUP_COUNTERS_MAX counters as cl_mem, all 0, which the kernel leaves at
                           0: NULL where the device has no way (core/last_group.h) */
    ARG_NO_BUFFER,      /* NULL as cl_mem */
    ARG_STRICT_COUNTER, /* counter of strict tiles as cl_mem: NULL where the caller has none */
    ARG_SCALAR,         /* `bytes` bytes of `scalar` */
    ARG_IMAGE,          /* the plan's image as cl_mem */
    ARG_BLOCK,          /* `bytes` bytes of the command's block: a structure by value */
    ARG_LOCAL           /* `bytes` bytes of local memory */
} arg_kind;

typedef struct command_arg {
    arg_kind kind;
    unsigned index;
    size_t bytes;
    unsigned char scalar[8];
} command_arg;

typedef enum command_kind { COMMAND_LAUNCH, COMMAND_FILL, COMMAND_IMAGE } command_kind;

/** Commands that may run side by side: see command.lane. */
enum { LANES = 2 };

/**
 * What the work-items of a launch ask for, each access counted: where several ask for one byte,
 * caches or local memory serve all but one of them.  Stores that keys decide count as made.
 */
typedef struct command_traffic {
    double requested; /* bytes that are read from and written to global memory; 0: not stated, and
                         nothing else of this structure is */
    double local;     /* bytes that are read from and written to local memory */
    double barriers;  /* that a work-group passes */
    double busy;      /* the part of the lanes of its warps of 32 that have something to do, where
                         branches and what lies beyond the end leave some without; 0: not stated */
} command_traffic;

/** One command: a launch of kernel entry `entry`, a fill of `fill_bytes` bytes, or a copy into the
 *  plan's image. */
typedef struct command {
    command_kind kind;
    unsigned lane;  /* 0: it sees what all commands before it wrote.  1 to LANES: what those of its
                       own lane did, and those before the first lane; lanes run side by side where
                       the device can, until the next command of lane 0 */
    unsigned entry; /* index into variant.entries */
    unsigned dims;
    size_t global[3]; /* work-items, a multiple of local */
    size_t local[3];
    size_t start[3]; /* where its global ids begin: not 0 in what plan_make split off */
    double bytes;    /* of global memory that it reads and writes by its design; 0: not stated */
    double flops;    /* floating-point operations of its design; 0: not stated */
    command_traffic traffic;
    /* Where inputs arrive (job.arriving): */
    size_t first, end; /* positions that it works on, all of them where end is 0 */
    bool settles;      /* these positions then hold the result */
    unsigned n_args;
    command_arg arg[COMMAND_ARGS_MAX];
    unsigned char block[BLOCK_BYTES_MAX]; /* of ARG_BLOCK, which a launch has once at most */
    /* COMMAND_FILL: */
    command_arg fill_target; /* ARG_OPERAND or ARG_WORKSPACE */
    size_t fill_offset;      /* bytes */
    size_t fill_bytes;
    uint32_t fill_pattern; /* 4 bytes, repeated */
    /* COMMAND_IMAGE: */
    unsigned image_operand; /* whose elements follow one another, */
    size_t image_offset;    /* from this byte on */
} command;

/** A 2-D image of one channel, which a copy of an operand fills and launches read. */
typedef struct plan_image {
    tsr_type type;        /* TSR_U8 or TSR_F32 */
    size_t width, height; /* 0: there is none */
} plan_image;

/** See the head of this file.  Zero-initialised by plan_make, freed by plan_free. */
typedef struct plan {
    params params;    /* tunables as they run: no value is 0 that plan() chooses */
    text defines;     /* " -DNAME=VALUE"... of the problem; the tunables are added to them */
    size_t workspace; /* bytes of device memory beside the operands, without the image */
    plan_image image;
    size_t tiles;      /* of the result, where the variant splits factors in two: 0 for others, and
                          where nothing is added up.  A tile that holds what cannot be split runs
                          strictly and adds 1 to the counter (command_strict_counter) */
    command *commands; /* `count` of them, in order */
    size_t count, capacity;
    bool arriving; /* the commands are in an order for inputs that arrive, as the job asked */
    bool has_group_counters; /* a command passes ARG_GROUP_COUNTERS */
    bool failed;             /* memory ran out: plan_make says so */
    text reason;             /* of plan_unsupported */
} plan;

/* ---- what plan() calls -------------------------------------------------------------------- */

/** plan() of variants in C that take every problem. */
const char *plan_in_c(const job *j, plan *out);

/** A type in OpenCL C: of float16 and bfloat16 that of their bits, ushort.  Static. */
const char *plan_type_name(tsr_type type);

/** The unsigned integers of a type's size in OpenCL C: "uchar" to "ulong".  Static. */
const char *plan_bits_name(tsr_type type);

/** 0 for integers; 32 or 64 for float and double; 16 for float16, 17 for bfloat16. */
int plan_float_form(tsr_type type);

/** Compose why a job is unsupported; returns the text, which the plan keeps. */
const char *plan_unsupported(plan *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** NULL, or that so many bytes of local memory are over the limit, local_memory or large_local of
 * the device. */
const char *plan_unsupported_local(plan *p, size_t bytes, size_t limit);

/** NULL, or that a buffer of so many bytes, as a sum that cannot wrap, is over the device's largest
 *  allocation.  plan_make asks it of the plan's workspace. */
const char *plan_unsupported_buffer(plan *p, const device_facts *d, const char *what, double bytes);

/** Append a -D, such as plan_define(p, "TRANS_A=%d", trans). */
void plan_define(plan *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Append -DNAN_EXTREMES=1 (cl/common/nan_extremes.clh) where the device has NVIDIA's minimum and
 *  maximum that give NaN; for a variant that has FEATURE_PTX among what it needs or uses. */
void plan_define_nan_extremes(const device_facts *d, plan *p);

/** The value that a tunable runs with.  Asserts that the variant declares it. */
void plan_set(plan *p, const char *name, uint32_t value);

/* Append a command: a launch, whose arguments then follow in the kernel's order, or a fill.  The
 * pointer is valid until the next one.  Never NULL: where memory runs out the plan fails. */
command *plan_launch_1d(plan *p, unsigned entry, size_t global, size_t local);
command *plan_launch_2d(plan *p, unsigned entry, size_t global_x, size_t global_y, size_t local_x,
                        size_t local_y);
command *plan_fill(plan *p, arg_kind target, unsigned index, size_t offset, size_t bytes,
                   uint32_t pattern);

/**
 * Say what the plan's image is, and append the copy of operand `from` into it, from byte
 * `offset` on.
 *
 * @return NULL, or why the device has no such image.
 */
const char *plan_copy_to_image(plan *p, const device_facts *d, const plan_image *image,
                               unsigned from, size_t offset);

/** Bytes of its image. */
size_t plan_image_bytes(const plan *p);

/** Append a copy of a command. */
void plan_append(plan *p, const command *c);

void command_launch_2d(command *c, unsigned entry, size_t global_x, size_t global_y, size_t local_x,
                       size_t local_y);
void command_operand(command *c, unsigned index);
void command_workspace(command *c);
/** `used`: whether the kernel counts groups in this call; else it gets NULL. */
void command_group_counters(command *c, bool used);
/** NULL in the place of a buffer that the kernel leaves alone in this call: NVIDIA's driver takes
 * 0.2 to 0.5 us more for a launch with each buffer. */
void command_no_buffer(command *c);
void command_image(command *c);
void command_strict_counter(command *c);
void command_u32(command *c, uint32_t value);
void command_u64(command *c, uint64_t value);
/** A floating-point scalar: double where the element type is TSR_F64, else float. */
void command_real(command *c, tsr_type type, double value);
void command_local(command *c, size_t bytes);
/** A structure that the kernel takes by value, laid out as in OpenCL C. */
void command_block(command *c, const void *block, size_t bytes);

/* ---- what callers of a variant call -------------------------------------------------------- */

/**
 * Make the plan of a variant for a job, or say why it cannot run there.
 *
 * Every feature in v->needs and v->uses must have been probed.  A launch of more
 * work-groups along the second or third dimension than GROUPS_DOWN_MAX becomes
 * several, whose global ids follow on: a kernel that takes its place along these
 * from get_group_id() would be wrong.
 *
 * @param out  Receives the plan; the caller frees it by plan_free in either case.
 * @return NULL, or the reason, which stands in *out or is static.
 */
const char *plan_make(const variant *v, const job *j, plan *out);

void plan_free(plan *p);

/** Free a plan, and copy why there is none, which it may hold; NULL where there was one. */
const char *plan_take_reason(plan *p, const char *why, text *reason);

/** Every -D of a build, and its flags: the options string of the program. */
void plan_options(const variant *v, const device_facts *d, const plan *p, text *out);

/** The kernels that a plan launches, each once, after a space. */
void plan_kernels(const variant *v, const plan *p, text *out);

#endif
