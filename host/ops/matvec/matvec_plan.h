/** What the plans of matvec's variants share: reasons, -Ds, commands, and how columns are cut into
 *  parts. */
#ifndef OPS_MATVEC_PLAN_H
#define OPS_MATVEC_PLAN_H

#include "core/variant.h"
#include "ops/matvec/matvec_shape.h"

enum {
    /* Kernels that count rows and columns in uint add a stride to them: 31 bits never wrap. */
    MATVEC_INDEX_MAX = INT32_MAX,
    /* Groups of the kernels that walk over the rows; beyond, each group takes several. */
    MATVEC_GROUPS_MAX = 65535
};

/** The meanings of the tunables GROUP, TEAM and PER_UNIT. */
#define MATVEC_GROUP "work-items in a work-group, fewer where the device takes fewer"
#define MATVEC_TEAM  "work-items that share a row: more suit longer rows"
#define MATVEC_PER_UNIT                                                                            \
    "work-groups per compute unit to cut a row for: more balance better, and leave more to add up"

/** The work-items of a group: resolves GROUP, which may be more than the device takes. */
size_t matvec_group(const job *j, plan *out);

/* ---- reasons: NULL, or why a variant cannot run a job -------------------------------------- */

/** That there are too many products, or that the device does not have the type or the precision. */
const char *matvec_unsupported_portable(const job *j, plan *out);

/** The same, or that rows or columns exceed MATVEC_INDEX_MAX. */
const char *matvec_unsupported_rows(const job *j, plan *out);

/** That teams of `team` work-items are larger than GROUP, or than the `local` that the device takes
 *  of it. */
const char *matvec_unsupported_team(const job *j, size_t team, size_t local, plan *out);

/** That `numbers` sums exceed the device's local memory. */
const char *matvec_unsupported_local(const job *j, size_t numbers, plan *out);

/* ---- -Ds --------------------------------------------------------------------------------- */

/** What matvec.clh takes, and LOCAL. */
void matvec_define_operands(const job *j, size_t local, plan *out);

/** Whether vectors of so many elements of A, and of x unless they are gathered, are aligned. */
bool matvec_vectors_aligned(const job *j, size_t elements);

/** VEC and ALIGNED: explicit vectors of so many elements of A and of x, whose elements are gathered
 *  where they lie apart. */
void matvec_define_vectors(const job *j, size_t elements, plan *out);

/** The same of A alone, by 128 bits; a flat A is one line. */
void matvec_define_vectors_of_a(const job *j, bool flat, plan *out);

/** Elements of 128 bits, the widest load of a GPU. */
size_t matvec_load_elements(const tsr_matvec_problem *p);

/** Whether vectors of so many elements are sure to be aligned: host memory that a CPU's buffer may
 *  lie in need not be. */
bool matvec_aligned(const job *j, const view *lines, size_t elements);

/* ---- commands ---------------------------------------------------------------------------- */

/** The scalars of every kernel: matvec_call of cl/matvec/matvec.clh, which ends where its `scale`
 *  does. */
typedef struct matvec_call {
    uint64_t rows, columns; /* of op(A) */
    uint64_t lda;
    uint64_t offset_a, offset_x, offset_y;
    uint64_t incx, incy;
    uint64_t stride_a, stride_x, stride_y;
    uint32_t parts, chunk;
    uint32_t tile, items;
    union {
        float f32[2]; /* alpha, beta */
        double f64[2];
    } scale;
} matvec_call;

_Static_assert(offsetof(matvec_call, scale) == 104 && sizeof(matvec_call) <= BLOCK_BYTES_MAX,
               "as OpenCL C lays it out, and no larger than a command's");

/** Of a launch whose groups take whole rows. */
matvec_call matvec_call_of(const job *j);

/** The one launch of a variant: `groups` groups for each product, and the arguments A, x, y and
 *  call.  None where y has no element. */
command *matvec_launch(const job *j, size_t groups, size_t local, const matvec_call *call,
                       plan *out);

/** The same where a group takes `rows` rows, and its kernel needs nothing else of matvec_call. */
command *matvec_launch_rows(const job *j, size_t rows, size_t local, plan *out);

/** Accesses to local memory of a group whose `teams` each add up their sums by a tree: all
 *  work-items store one and read a result, and an addition reads two and writes one. */
static inline double matvec_tree_accesses(size_t local, size_t teams)
{
    return 2 * (double)local + 3 * (double)(local - teams);
}

/** What is asked of global memory, in bytes, where a product takes so many elements of A and of x
 *  and each of y is stored once. */
double matvec_asked(const job *j, double of_a, double of_x);

/** The same of kernels that read an element of x for each of A. */
double matvec_asked_in_pairs(const job *j);

/* ---- A without gaps, read as one array ------------------------------------------------------ */

/** How a group reads it by vectors of 128 bits: the first `items` work-items go on by as many
 *  vectors, which together are whole lines. */
typedef struct matvec_flat {
    size_t cycle; /* vectors from which on they meet the same columns: columns / gcd */
    size_t terms; /* pieces of a vector that lie in one line each, whatever the vector: VEC / gcd */
    size_t items; /* a multiple of `cycle` up to the group's; 0 where it exceeds them */
    size_t lines; /* of `items` vectors */
} matvec_flat;

matvec_flat matvec_flat_of(const tsr_matvec_problem *p, size_t local);

/** That A has gaps, or lines too long for a group. */
const char *matvec_unsupported_flat(const job *j, const matvec_flat *f, size_t local, plan *out);

/* ---- columns cut into parts, which are added up (cl/matvec/matvec_parts.clh) ---------------- */

/** How a product is cut: a group takes `rows` rows of op(A), and one part of their columns. */
typedef struct matvec_cut {
    size_t local;
    size_t rows;
    size_t tiles; /* groups that it takes to cover all rows once */
    size_t parts;
    size_t chunk;      /* columns of a part; the last one may be shorter */
    size_t adders;     /* groups that add the parts up */
    bool stated;       /* whether the caller says of summing the parts, of a product: */
    double of_a, of_x; /* elements that work-items ask for */
    double sums;       /* accesses to sums in local memory */
    double barriers;   /* that a group passes */
} matvec_cut;

/** So many groups on each compute unit: each product's share of them. */
size_t matvec_groups_wanted(const job *j, size_t each);

/** Groups that take so many rows each, to cover all. */
size_t matvec_tiles(const job *j, size_t rows);

/** About so many parts, but none below `least` columns, and none above what its kernel counts.
 *  Parts are multiples of the columns that the kernel takes at once. */
matvec_cut matvec_cut_into(const job *j, size_t local, size_t rows, size_t parts, size_t least,
                           size_t at_once);

/** That rows, groups or sums exceed what kernels count. */
const char *matvec_unsupported_cut(const job *j, const matvec_cut *c, plan *out);

/** The -Ds of operands and LAST_ADDS, the workspace, and the commands: entry 0 sums the parts, into
 *  y where there is one, and entry 1 adds them up unless the last group of a tile did. */
void matvec_plan_cut(const job *j, const matvec_cut *c, plan *out);

#endif
