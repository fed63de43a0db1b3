#include "ops/matmul/matmul_fields.h"

#include <stdio.h>
#include <string.h>

#include "core/tuning_class.h"
#include "ops/matmul/matmul_shape.h"

/* Whether a product of m x n x k is of the class, in any type, precision and transposition. */
static bool is_matmul_class(const char *name, const size_t least[3])
{
    problem p = matmul_problem(
        (tsr_matmul_problem){.m = least[0], .n = least[1], .k = least[2], .alpha = 1});

    for (int type = 0; type < TSR_TYPE_COUNT; type++) {
        for (int precision = 0; precision < TSR_PRECISION_COUNT; precision++) {
            for (int trans = 0; trans < 4; trans++) {
                matmul_in(&p)->type = (tsr_type)type;
                matmul_in(&p)->precision = (tsr_precision)precision;
                matmul_in(&p)->trans_a = trans / 2;
                matmul_in(&p)->trans_b = trans % 2;
                if (class_is(&p, name))
                    return true;
            }
        }
    }
    return false;
}

/* "float32 tf32 nn 1024x64x1024": each dimension below twice what is named. */
bool matmul_class_text(const char *name, text *out)
{
    static const char *const dimensions[] = {"M", "N", "K"};
    const char *sizes = strrchr(name, ' ');
    size_t least[3];

    if (!sizes || sscanf(sizes, " %zux%zux%zu", &least[0], &least[1], &least[2]) != 3 ||
        !is_matmul_class(name, least))
        return false;
    text_append_bytes(out, name, (size_t)(sizes - name));
    for (size_t i = 0; i < 3; i++)
        class_dimension(dimensions[i], least[i], 2 * least[i] - 1, out);
    return true;
}
