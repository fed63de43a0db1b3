#include "file/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/sizes.h"

enum { ALIGNMENT = 64 };

size_t block_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes;

    if (pages <= 0 || page <= 0 || !size_mul((size_t)pages, (size_t)page, &bytes))
        return SIZE_MAX;
    return bytes;
}

tsr_status block_allocate(const char *name, size_t bytes, void **out, tsr_error *err)
{
    size_t memory = block_memory();
    void *block;

    /* The second test keeps the rounding below from wrapping around. */
    if (bytes > memory || bytes > SIZE_MAX - ALIGNMENT)
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "%s: needs %zu bytes of memory; this machine has %zu", name, bytes, memory);
    block = aligned_alloc(ALIGNMENT, size_round_up(bytes, ALIGNMENT));
    if (!block)
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for %zu bytes", name, bytes);
    *out = block;
    return TSR_OK;
}
