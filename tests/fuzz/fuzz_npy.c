/** Any bytes as a .npy file: no crash, no leak, and an array that agrees with itself. */
#include <assert.h>
#include <stdint.h>

#include "file/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Elements that are moved alone, too. */
static void read_any(const uint8_t *bytes, size_t size)
{
    input s = input_of_memory("fuzz.npy", bytes, size);
    array a = {0};

    if (npy_read(&s, true, &a, NULL)) {
        assert(a.data == NULL);
        return;
    }
    assert((array_count(&a) == 0) == (a.data == NULL));
    assert(array_element_size(&a) > 0 && array_count(&a) * array_element_size(&a) <= size);
    array_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    array a = {0};
    tsr_error err;

    read_any(bytes, size);
    if (npy_parse("fuzz.npy", bytes, size, &a, &err)) {
        assert(a.data == NULL);
        return 0;
    }
    assert(a.rank <= ARRAY_RANK_MAX);
    assert((array_count(&a) == 0) == (a.data == NULL));
    assert((uintptr_t)a.data % 64 == 0);
    assert(array_count(&a) * tsr_type_size(a.type) <= size);
    if (array_convert(&a, TSR_F32, NULL, &err) == TSR_OK)
        assert(a.type == TSR_F32);
    array_free(&a);
    return 0;
}
