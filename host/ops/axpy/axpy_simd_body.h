/*
 * axpy of one type.  STORED is what arrays hold and NUMBER what is computed with: GET makes one of
 * what is stored, PUT the reverse.  ALPHA is the factor's member of axpy_share.  NAMED names what
 * is this file's, PUBLIC the function that others call.  All are undefined at the end.
 */
#include "base/past_caches.h"

static void NAMED(apart)(size_t n, NUMBER alpha, const STORED *restrict x, const STORED *restrict y,
                         STORED *restrict z)
{
    for (size_t i = 0; i < n; i++)
        z[i] = PUT((NUMBER)(alpha * GET(x[i]) + GET(y[i])));
}

/* y is z, which the compiler is to know: else it compares addresses, and takes no vectors. */
static void NAMED(in_place)(size_t n, NUMBER alpha, const STORED *restrict x, STORED *restrict z)
{
    for (size_t i = 0; i < n; i++)
        z[i] = PUT((NUMBER)(alpha * GET(x[i]) + GET(z[i])));
}

/* Blocks are short: while one is stored, the next is not asked for. */
static void NAMED(past_caches)(size_t n, NUMBER alpha, const STORED *x, const STORED *y, STORED *z)
{
    enum { BLOCK_BYTES = 256, BLOCK = BLOCK_BYTES / sizeof(STORED) };
    _Alignas(CACHE_LINE) STORED block[BLOCK];
    size_t i = past_caches_head(z, sizeof(STORED), n);

    NAMED(apart)(i, alpha, x, y, z);
    for (; i + BLOCK <= n; i += BLOCK) {
        NAMED(apart)(BLOCK, alpha, x + i, y + i, block);
        past_caches_store(z + i, block, BLOCK_BYTES);
    }
    past_caches_end();
    NAMED(apart)(n - i, alpha, x + i, y + i, z + i);
}

void PUBLIC(const axpy_share *s)
{
    const NUMBER alpha = (NUMBER)s->ALPHA;
    const STORED *x = s->x, *y = s->y;
    STORED *z = s->z;

    if (s->incx != 1 || s->incy != 1 || s->incz != 1) {
        for (size_t i = 0; i < s->n; i++)
            z[i * s->incz] = PUT((NUMBER)(alpha * GET(x[i * s->incx]) + GET(y[i * s->incy])));
    } else if (y == z) {
        NAMED(in_place)(s->n, alpha, x, z);
    } else if (s->past_caches) {
        NAMED(past_caches)(s->n, alpha, x, y, z);
    } else {
        NAMED(apart)(s->n, alpha, x, y, z);
    }
}

#undef STORED
#undef NUMBER
#undef ALPHA
#undef GET
#undef PUT
#undef NAMED
#undef PUBLIC
