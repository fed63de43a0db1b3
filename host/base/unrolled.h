/** A loop of few turns behind UNROLLED is written out. */
#ifndef TESSERA_BASE_UNROLLED_H
#define TESSERA_BASE_UNROLLED_H

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#endif
