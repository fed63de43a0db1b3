#include "core/findings.h"

#include <stdio.h>
#include <string.h>

void findings_join(findings *f, const verdict *part, size_t at)
{
#ifdef _OPENMP
#pragma omp critical(findings)
#endif
    {
        if (part->worst > f->out->worst)
            f->out->worst = part->worst;
        if (!part->ok && (f->out->ok || at < f->failed_at)) {
            f->out->ok = false;
            f->failed_at = at;
            memcpy(f->out->detail, part->detail, sizeof(f->out->detail));
        }
    }
}

const char *findings_product(size_t batch, size_t product, char out[PRODUCT_TEXT_SIZE])
{
    out[0] = '\0';
    if (batch > 1)
        snprintf(out, PRODUCT_TEXT_SIZE, " of product %zu", product);
    return out;
}
