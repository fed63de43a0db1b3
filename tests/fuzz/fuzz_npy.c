/** Any bytes as a .npy file: no crash, no leak, and an array that agrees with itself. */
#include <assert.h>
#include <stdint.h>

#include "file/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    array a = {0};
    tsr_error err;

    if (npy_parse("fuzz.npy", bytes, size, &a, &err)) {
        assert(a.data == NULL);
        return 0;
    }
    assert(a.rank <= ARRAY_RANK_MOST);
    assert((array_count(&a) == 0) == (a.data == NULL));
    assert((uintptr_t)a.data % 64 == 0);
    assert(array_count(&a) * tsr_type_size(a.type) <= size);
    if (array_convert(&a, TSR_F32, NULL, &err) == TSR_OK)
        assert(a.type == TSR_F32);
    array_free(&a);
    return 0;
}
