#include "base/isa.h"

isa isa_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return ISA_AVX2;
#endif
    return ISA_BASE;
}

const char *isa_name(isa i)
{
    switch (i) {
    case ISA_AVX512:
        return "AVX-512 (F, VL, BW, DQ)";
    case ISA_AVX2:
        return "AVX2 and FMA";
    default:
#if defined(__x86_64__)
        return "SSE2";
#elif defined(__aarch64__)
        return "NEON";
#else
        return "what every processor of its architecture has";
#endif
    }
}
