/**
 * Scans of a piece of values in vectors, for loops that are compiled for each instruction set.
 *
 * Within a vector each lane is combined with the one before it, then with the one two before, then
 * four.  From one vector to the next only what they come to in all has to be waited for.
 */
#ifndef OPS_SCAN_VECTORS_H
#define OPS_SCAN_VECTORS_H

#include "base/isa.h"

/** Values of a piece. */
enum { PIECE = 128 };

/* Two vectors combined: a comparison of vectors has all bits of a lane where it holds. */
#define PICK(mask, b, a)                                                                           \
    ((__typeof__(a))(((mask) & (__typeof__(mask))(b)) | (~(mask) & (__typeof__(mask))(a))))
#define VECTORS_ADD(a, b)          ((a) + (b))
#define VECTORS_LEAST(a, b)        PICK((b) < (a), b, a)
#define VECTORS_LARGEST(a, b)      PICK((b) > (a), b, a)
#define VECTORS_LEAST_REAL(a, b)   PICK(((b) < (a)) | ((b) != (b)), b, a)
#define VECTORS_LARGEST_REAL(a, b) PICK(((b) > (a)) | ((b) != (b)), b, a)

/* A vector of 2, 4, 8 or 16 lanes moved up by some, behind lanes of `low`. */
#define UP_2_1(low, v) __builtin_shufflevector(low, v, 0, 2)
#define UP_4_1(low, v) __builtin_shufflevector(low, v, 0, 4, 5, 6)
#define UP_4_2(low, v) __builtin_shufflevector(low, v, 0, 1, 4, 5)
#define UP_8_1(low, v) __builtin_shufflevector(low, v, 0, 8, 9, 10, 11, 12, 13, 14)
#define UP_8_2(low, v) __builtin_shufflevector(low, v, 0, 1, 8, 9, 10, 11, 12, 13)
#define UP_8_4(low, v) __builtin_shufflevector(low, v, 0, 1, 2, 3, 8, 9, 10, 11)
#define UP_16_1(low, v)                                                                            \
    __builtin_shufflevector(low, v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
#define UP_16_2(low, v)                                                                            \
    __builtin_shufflevector(low, v, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)
#define UP_16_4(low, v)                                                                            \
    __builtin_shufflevector(low, v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)
#define UP_16_8(low, v)                                                                            \
    __builtin_shufflevector(low, v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)

/* All lanes from the one before, two before, four before... */
#define WITHIN_2(STEP) STEP(UP_2_1)
#define WITHIN_4(STEP)                                                                             \
    STEP(UP_4_1);                                                                                  \
    STEP(UP_4_2)
#define WITHIN_8(STEP)                                                                             \
    STEP(UP_8_1);                                                                                  \
    STEP(UP_8_2);                                                                                  \
    STEP(UP_8_4)
#define WITHIN_16(STEP)                                                                            \
    STEP(UP_16_1);                                                                                 \
    STEP(UP_16_2);                                                                                 \
    STEP(UP_16_4);                                                                                 \
    STEP(UP_16_8)

/* The last lane in all. */
#define LAST_OF_2(v) __builtin_shufflevector(v, v, 1, 1)
#define LAST_OF_4(v) __builtin_shufflevector(v, v, 3, 3, 3, 3)
#define LAST_OF_8(v) __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7)
#define LAST_OF_16(v)                                                                              \
    __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)

/* For values of 4 and of 8 bytes. */
#if ISA == 2
enum { VECTOR_BYTES = 64 };
#define WITHIN_4_BYTES  WITHIN_16
#define WITHIN_8_BYTES  WITHIN_8
#define LAST_OF_4_BYTES LAST_OF_16
#define LAST_OF_8_BYTES LAST_OF_8
#elif ISA == 1
enum { VECTOR_BYTES = 32 };
#define WITHIN_4_BYTES  WITHIN_8
#define WITHIN_8_BYTES  WITHIN_4
#define LAST_OF_4_BYTES LAST_OF_8
#define LAST_OF_8_BYTES LAST_OF_4
#else
enum { VECTOR_BYTES = 16 };
#define WITHIN_4_BYTES  WITHIN_4
#define WITHIN_8_BYTES  WITHIN_2
#define LAST_OF_4_BYTES LAST_OF_4
#define LAST_OF_8_BYTES LAST_OF_2
#endif

/* A step of theirs, of a vector v and one of values that change nothing. */
#define STEP_ADD(UP)          v = VECTORS_ADD(UP(none, v), v)
#define STEP_LEAST(UP)        v = VECTORS_LEAST(UP(none, v), v)
#define STEP_LARGEST(UP)      v = VECTORS_LARGEST(UP(none, v), v)
#define STEP_LEAST_REAL(UP)   v = VECTORS_LEAST_REAL(UP(none, v), v)
#define STEP_LARGEST_REAL(UP) v = VECTORS_LARGEST_REAL(UP(none, v), v)

#endif
