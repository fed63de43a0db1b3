/** How a call on host memory is cut into pieces: each operation has its own partitions, which the
 *  engine runs (stream/engine.h). */
#ifndef STREAM_PARTITION_H
#define STREAM_PARTITION_H

#include "stream/budget.h"
#include "stream/copies.h"
#include "stream/pieces.h"

enum {
    PIECES_MAX = 4096, /* that a session's device_memory may leave: each costs launches and copies
                          of its own, however short it is */
    PARTITION_CUTS_MAX = 3,
    PARTITION_SHAPES_MAX = 12,
    PARTITION_SLOTS_MAX = 3 /* usually: one is worked on, one filled, one waits */
};

typedef struct partition partition;

/**
 * What a piece works on of one operand: some blocks of rows, which follow one another in a slot
 * from byte `offset` on.  Block b is at rows.at + b * step on the host.
 *
 * A slice with the `slot` number of the piece before stays in its slot, else it takes the
 * operand's next one; and one with its `part` number too is the same slice, and not sent again.
 * Parts of one slot do not overlap there, and do not wait for one another.
 */
typedef struct slice {
    size_t slot, part;
    size_t offset;
    host_rows rows;
    size_t blocks, step;
    size_t short_by; /* bytes by which the only row of the last block is shorter */
    bool in, out;    /* it is read, and so copied in; it is a result, and so copied out */
} slice;

/** A problem of its own, whose operands are the slots. */
typedef struct piece {
    problem problem;
    size_t stage; /* pieces of a stage read nothing on the host that another of them writes: the
                     next stage begins when all results of the one before are there */
    slice slice[OPERANDS_MAX]; /* of each operand that has slots */
} piece;

/** Which way a block is staged. */
typedef enum staging { STAGE_IN, STAGE_OUT } staging;

/** Operands that partition_kind.order names. */
enum { ORDER_MAX = 3 };

/** A way of cutting. */
typedef struct partition_kind {
    const char *name;

    /** Piece i of p, whose operands are the host's arrays. */
    void (*piece)(const partition *p, void *const host[], size_t i, piece *out);

    /**
     * A block of a slice of operand `which` that goes through memory in a form of its own: from the
     * host's array to `block`, or back from there.  Results come back piece by piece, in order, and
     * of one piece those of the last operand first.
     *
     * @return TSR_OK or TSR_ENOMEM.
     */
    tsr_status (*stage)(const partition *p, staging direction, size_t which, const slice *s,
                        size_t b, void *array, void *block, tsr_error *err);

    /** In place of both, for a call that is no series of pieces.  Synchronous: whatever it returns,
     *  nothing works on the arrays any more. */
    tsr_status (*run)(const stream_call *call, const partition *p, tsr_error *err);

    const struct batch_form *batches; /* of groups of a batch: stream/batches.h */

    /** The operands in the order in which a piece brings them, ORDER_MAX of them; NULL: their own.
     */
    const unsigned *order;
} partition_kind;

/** Slots of an operand on the device. */
typedef struct operand_slots {
    size_t count, bytes; /* 1 to PARTITION_SLOTS_MAX, of so many bytes each; 0: no slots */
    size_t staged;       /* bytes of a block that goes through `stage`; 0: none does */
} operand_slots;

/** One call, cut; all 0 where its operands are copied in one piece. */
struct partition {
    const partition_kind *kind;
    const problem *problem;         /* the whole */
    size_t pieces;                  /* SIZE_MAX where they are more */
    size_t cut[PARTITION_CUTS_MAX]; /* lengths that the kind cuts by */
    operand_slots slots[OPERANDS_MAX];
    size_t kept_bytes;                  /* that `stage` keeps from one piece to the next, */
    void *kept;                         /* zeroed at the start; the engine's */
    size_t shape[PARTITION_SHAPES_MAX]; /* a piece of each shape, shape_count of them */
    size_t shape_count;
};

/** Note that piece i has a shape of its own. */
void partition_add_shape(partition *p, size_t i);

/**
 * Cut a call by its operation's partition().
 *
 * @param p    As variants take it.  It is borrowed by *out.
 * @param sel  What runs it.
 * @return TSR_OK; TSR_EOVERFLOW where the session's device_memory does not hold what has to be
 *         there at once, or leaves more than PIECES_MAX pieces while the device has memory for
 *         fewer.
 */
tsr_status partition_choose(const tsr_session *s, const problem *p, const selection *sel,
                            partition *out, tsr_error *err);

#endif
