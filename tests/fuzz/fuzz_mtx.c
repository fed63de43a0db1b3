/** Any bytes as a .mtx file: no crash, no leak, and no more memory than allowed. */
#include <assert.h>
#include <stdint.h>

#include "file/mtx.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MEMORY = 1 << 16 };
    array a = {0};
    tsr_error err;

    if (mtx_parse("fuzz.mtx", bytes, size, MEMORY, &a, &err)) {
        assert(a.data == NULL);
        return 0;
    }
    assert(a.rank == 2 && a.type == TSR_F64);
    assert((array_count(&a) == 0) == (a.data == NULL));
    assert(array_count(&a) * sizeof(double) <= MEMORY);
    array_free(&a);
    return 0;
}
