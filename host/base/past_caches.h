/** Stores of whole cache lines past the caches, where the processor has them: x86-64. */
#ifndef BASE_PAST_CACHES_H
#define BASE_PAST_CACHES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { CACHE_LINE = 64 };

/** Bytes that a loop reads and writes, from which caches do not keep its result for whoever reads
 * it next. */
enum { PAST_CACHES_MIN = 32 << 20 };

/** Elements of `size` bytes before the first of `n` that begins a cache line; n where none does. */
static inline size_t past_caches_head(const void *at, size_t size, size_t n)
{
    const size_t head = (CACHE_LINE - (uintptr_t)at % CACHE_LINE) % CACHE_LINE / size;

    return head < n ? head : n;
}

/** Copy `bytes` bytes, a multiple of CACHE_LINE, to where a line begins.  Others see them after
 *  past_caches_end(). */
static inline void past_caches_store(void *to, const void *from, size_t bytes)
{
#ifdef __AVX512F__
    for (size_t i = 0; i < bytes; i += sizeof(__m512i))
        _mm512_stream_si512((__m512i *)(void *)((char *)to + i),
                            _mm512_loadu_si512((const char *)from + i));
#elif defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)((char *)to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)((const char *)from + i)));
#else
    memcpy(to, from, bytes);
#endif
}

/** Order the stores before what follows. */
static inline void past_caches_end(void)
{
#ifdef __x86_64__
    _mm_sfence();
#endif
}

#endif
