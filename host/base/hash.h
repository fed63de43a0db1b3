/** FNV-1a, 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): names of files, checksums.  It keeps
 *  accidents apart, not attacks. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** The hash of no bytes. */
#define HASH_START 0xCBF29CE484222325u

/** The hash of what `hash` has seen, followed by these bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *b = (const unsigned char *)bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ b[i]) * 0x100000001B3u;
    return hash;
}

#endif
