/**
 * Instruction sets that loops of C are compiled for, and which of them this processor has.
 *
 * A source host/ops/OP/..._loops.c is compiled once for each, with ISA set to its number, which its
 * functions have at the end of their names, by ISA_NAMED.
 */
#ifndef BASE_ISA_H
#define BASE_ISA_H

/** Each has what those before it have.  Other processors than x86-64 have the first alone. */
typedef enum isa {
    ISA_BASE,   /* what every processor of the architecture has: SSE2, NEON */
    ISA_AVX2,   /* and FMA: 32 bytes */
    ISA_AVX512, /* F, VL, BW and DQ: 64 bytes */
    ISA_COUNT
} isa;

/** In a source that is compiled for each: `name` with ISA at its end: add_0, add_1, add_2. */
#define ISA_NAMED(name)        ISA_JOINED(name, ISA)
#define ISA_JOINED(name, isa)  ISA_JOINED2(name, isa)
#define ISA_JOINED2(name, isa) name##_##isa

/** Elsewhere: the functions that came of it, to declare them or to fill a table by isa. */
#ifdef __x86_64__
#define ISA_EACH(name) name##_0, name##_1, name##_2
#else
#define ISA_EACH(name) name##_0
#endif

/** What it is called: "AVX2 and FMA". */
const char *isa_name(isa i);

/** The best one of this processor that the functions are compiled for. */
isa isa_best(void);

#endif
