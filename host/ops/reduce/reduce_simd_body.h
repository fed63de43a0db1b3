/* Reductions of elements of one type, T; reduce_simd_loops.c includes this for each.
 *
 * OF(name) is the name of a function for T.  EXACT is a type that holds the sum of STREAMS * BLOCK
 * elements, or wraps as sums do; REAL and SIGNED say what T is; BAD is an integer as wide as T.
 * COMPENSATED: a sum in double precision needs a carry, because T has as many bits.
 */

static void OF(sum)(const void *from, size_t n, size_t first, reduce_part *part)
{
    const T *x = from;

    (void)first;
#if REAL && COMPENSATED
    COMPENSATED_LANES((double)x[i], n, part);
#else
    size_t at = 0;

    for (; n - at >= STREAMS * BLOCK; at += STREAMS * BLOCK, x += STREAMS * BLOCK) {
        EXACT lane[LANES] = {0}, sum = 0;

        STREAMS_OF(x, lane[l] += (EXACT)here[l];);
        for (size_t l = 0; l < LANES; l++)
            sum += lane[l];
#if REAL
        part->value.real += (double)sum;
#else
        part->value.u += (uint64_t)sum;
#endif
    }
    for (; at < n; at += BLOCK, x += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        EXACT lane[LANES] = {0}, sum = 0;
        size_t i = 0;

        for (; i + LANES <= count; i += LANES) {
            fetch(x + i, AHEAD, LANES * sizeof(T));
            for (size_t l = 0; l < LANES; l++)
                lane[l] += (EXACT)x[i + l];
        }
        for (size_t l = 0; l < LANES && count >= LANES; l++)
            sum += lane[l];
        for (; i < count; i++)
            sum += (EXACT)x[i];
#if REAL
        part->value.real += (double)sum;
#else
        part->value.u += (uint64_t)sum;
#endif
    }
#endif
}

/* In double precision, whatever T is. */
static void OF(mean)(const void *from, size_t n, size_t first, reduce_part *part)
{
#if REAL
    OF(sum)(from, n, first, part);
#elif COMPENSATED
    const T *x = from;

    (void)first;
    COMPENSATED_LANES((double)x[i], n, part);
#else
    const T *x = from;

    for (size_t at = 0; at < n; at += BLOCK) {
        reduce_part block = {.value = {.u = 0}};

        OF(sum)(x + at, n - at < BLOCK ? n - at : BLOCK, first, &block);
        reduce_add(part, SIGNED ? (double)block.value.i : (double)block.value.u);
    }
#endif
}

static void OF(norm2)(const void *from, size_t n, size_t first, reduce_part *part)
{
    const T *x = from;

    (void)first;
#if REAL && !COMPENSATED
    size_t at = 0;

    for (; n - at >= STREAMS * BLOCK; at += STREAMS * BLOCK, x += STREAMS * BLOCK) {
        double lane[LANES] = {0}, sum = 0;

        STREAMS_OF(x, lane[l] += (double)here[l] * (double)here[l];);
        for (size_t l = 0; l < LANES; l++)
            sum += lane[l];
        part->value.real += sum;
    }
    for (; at < n; at += BLOCK, x += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        double lane[LANES] = {0}, sum = 0;
        size_t i = 0;

        for (; i + LANES <= count; i += LANES) {
            fetch(x + i, AHEAD, LANES * sizeof(T));
            for (size_t l = 0; l < LANES; l++)
                lane[l] += (double)x[i + l] * (double)x[i + l];
        }
        for (; i < count; i++)
            lane[i % LANES] += (double)x[i] * (double)x[i];
        for (size_t l = 0; l < LANES; l++)
            sum += lane[l];
        part->value.real += sum;
    }
#else
    COMPENSATED_LANES((double)x[i] * (double)x[i], n, part);
#endif
}

/* How many are not 0. */
static void OF(count)(const void *from, size_t n, size_t first, reduce_part *part)
{
    const T *x = from;

    (void)first;
    for (size_t at = 0; at < n; at += BLOCK, x += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        uint32_t found = 0;

        for (size_t i = 0; i < count; i++)
            found += x[i] != 0;
        part->value.u += found;
    }
}

#if REAL
#define NAN_OF_T  NAN
#define IS_BAD(v) ((v) != (v))
#define VALUE     real
#define VALUE_T   double
#else
#define NAN_OF_T  0
#define IS_BAD(v) 0
#if SIGNED
#define VALUE   i
#define VALUE_T int64_t
#else
#define VALUE   u
#define VALUE_T uint64_t
#endif
#endif

/* The least or largest of n elements, n > 0; NaN where there is one. */
#define EXTREME_OF(name, BEYOND)                                                                   \
    static T OF(name)(const T *x, size_t n)                                                        \
    {                                                                                              \
        T lane[LANES], best = x[0];                                                                \
        BAD bad[LANES] = {0}, any = 0;                                                             \
        size_t i = 0;                                                                              \
                                                                                                   \
        if (n >= LANES) {                                                                          \
            for (size_t l = 0; l < LANES; l++) {                                                   \
                lane[l] = x[l];                                                                    \
                bad[l] = IS_BAD(x[l]);                                                             \
            }                                                                                      \
            for (i = LANES; i + STREAMS * BLOCK <= n; i += STREAMS * BLOCK)                        \
                STREAMS_OF(x + i, lane[l] = here[l] BEYOND lane[l] ? here[l] : lane[l];            \
                           bad[l] |= IS_BAD(here[l]););                                            \
            for (; i + LANES <= n; i += LANES) {                                                   \
                fetch(x + i, AHEAD, LANES * sizeof(T));                                            \
                for (size_t l = 0; l < LANES; l++) {                                               \
                    lane[l] = x[i + l] BEYOND lane[l] ? x[i + l] : lane[l];                        \
                    bad[l] |= IS_BAD(x[i + l]);                                                    \
                }                                                                                  \
            }                                                                                      \
            for (size_t reach = LANES / 2; reach > 0; reach /= 2)                                  \
                for (size_t l = 0; l < reach; l++) {                                               \
                    lane[l] = lane[l + reach] BEYOND lane[l] ? lane[l + reach] : lane[l];          \
                    bad[l] |= bad[l + reach];                                                      \
                }                                                                                  \
            best = lane[0];                                                                        \
            any = bad[0];                                                                          \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            best = x[i] BEYOND best ? x[i] : best;                                                 \
            any |= IS_BAD(x[i]);                                                                   \
        }                                                                                          \
        return any ? (T)NAN_OF_T : best;                                                           \
    }

EXTREME_OF(least, <)
EXTREME_OF(largest, >)

/* An index is looked for at the end, in the block that holds what is preferred to the rest. */
#define EXTREME_ROWS(name, arg_name, extreme, BEYOND)                                              \
    static void OF(name)(const void *from, size_t n, size_t first, reduce_part *part)              \
    {                                                                                              \
        const T best = n ? OF(extreme)(from, n) : 0;                                               \
        const VALUE_T value = (VALUE_T)best;                                                       \
                                                                                                   \
        if (n == 0 || (part->index >= 0 && !(IS_BAD(value) || value BEYOND part->value.VALUE)))    \
            return;                                                                                \
        part->value.VALUE = value;                                                                 \
        part->index = (int64_t)first;                                                              \
    }                                                                                              \
                                                                                                   \
    static void OF(arg_name)(const void *from, size_t n, size_t first, reduce_part *part)          \
    {                                                                                              \
        const T *x = from;                                                                         \
        size_t i = n;                                                                              \
        T kept = 0;                                                                                \
                                                                                                   \
        for (size_t at = 0; at < n; at += SEARCHED) {                                              \
            const size_t count = n - at < SEARCHED ? n - at : SEARCHED;                            \
            const T best = OF(extreme)(x + at, count);                                             \
            const VALUE_T value = (VALUE_T)best;                                                   \
                                                                                                   \
            if (part->index >= 0 &&                                                                \
                (IS_BAD(part->value.VALUE) || !(IS_BAD(value) || value BEYOND part->value.VALUE))) \
                continue;                                                                          \
            i = at;                                                                                \
            kept = best;                                                                           \
            part->value.VALUE = value;                                                             \
            part->index = (int64_t)(first + i);                                                    \
        }                                                                                          \
        if (i == n)                                                                                \
            return;                                                                                \
        for (BAD found = 0; i + LANES <= n && !IS_BAD(kept); i += LANES) {                         \
            for (size_t l = 0; l < LANES; l++)                                                     \
                found |= x[i + l] == kept;                                                         \
            if (found)                                                                             \
                break;                                                                             \
        }                                                                                          \
        while (IS_BAD(kept) ? !IS_BAD(x[i]) : x[i] != kept)                                        \
            i++;                                                                                   \
        part->index = (int64_t)(first + i);                                                        \
    }

EXTREME_ROWS(min, argmin, least, <)
EXTREME_ROWS(max, argmax, largest, >)

/* ---- columns ------------------------------------------------------------------------------- */

/* Run BODY for each element of the rows, x[j] in column j; the next row is fetched meanwhile. */
#define EACH_ROW(...)                                                                              \
    do {                                                                                           \
        const T *restrict x = from;                                                                \
                                                                                                   \
        for (size_t r = 0; r < rows; r++, x += pitch) {                                            \
            fetch(x, pitch * sizeof(T), width * sizeof(T));                                        \
            for (size_t j = 0; j < width; j++) {                                                   \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* The same of a sum in double precision with a carry. */
#define ADD_COMPENSATED(number)                                                                    \
    const double term = (number)-carry[j], total = sum[j] + term, lost = (total - sum[j]) - term;  \
                                                                                                   \
    carry[j] = fabs(lost) <= DBL_MAX ? lost : 0;                                                   \
    sum[j] = total;

#define COLUMNS(name)                                                                              \
    static void OF(name)(const void *from, size_t rows, size_t width, size_t pitch, size_t first,  \
                         reduce_tile *tile)

COLUMNS(sum_columns)
{
#if REAL
    double *restrict sum = (double *)(void *)tile->value;
#else
    uint64_t *restrict sum = (uint64_t *)(void *)tile->value;
#endif
#if REAL && COMPENSATED
    double *restrict carry = tile->carry;
#endif

    (void)first;
#if REAL && COMPENSATED
    EACH_ROW(ADD_COMPENSATED((double)x[j]));
#elif REAL
    EACH_ROW(sum[j] += (double)x[j];);
#else
    EACH_ROW(sum[j] += (uint64_t)x[j];);
#endif
}

COLUMNS(mean_columns)
{
#if REAL
    OF(sum_columns)(from, rows, width, pitch, first, tile);
#else
    double *restrict sum = (double *)(void *)tile->value, *restrict carry = tile->carry;

    (void)first;
    EACH_ROW(ADD_COMPENSATED((double)x[j]));
#endif
}

COLUMNS(norm2_columns)
{
    double *restrict sum = (double *)(void *)tile->value;
#if REAL && !COMPENSATED
    (void)first;
    EACH_ROW(sum[j] += (double)x[j] * (double)x[j];);
#else
    double *restrict carry = tile->carry;

    (void)first;
    EACH_ROW(ADD_COMPENSATED((double)x[j] * (double)x[j]));
#endif
}

COLUMNS(count_columns)
{
    uint64_t *restrict count = (uint64_t *)(void *)tile->value;

    (void)first;
    EACH_ROW(count[j] += x[j] != 0;);
}

/* tile->index >= 0 says that a column has an element already. */
#define EXTREME_COLUMNS(name, arg_name, BEYOND)                                                    \
    COLUMNS(name)                                                                                  \
    {                                                                                              \
        T *restrict best = (T *)(void *)tile->value;                                               \
                                                                                                   \
        EACH_ROW(best[j] = x[j] BEYOND best[j] || IS_BAD(x[j]) ? x[j] : best[j];);                 \
        for (size_t j = 0; j < width && rows; j++)                                                 \
            tile->index[j] = (int64_t)first;                                                       \
    }                                                                                              \
                                                                                                   \
    COLUMNS(arg_name)                                                                              \
    {                                                                                              \
        T *restrict best = (T *)(void *)tile->value;                                               \
        int64_t *restrict index = tile->index;                                                     \
                                                                                                   \
        EACH_ROW({                                                                                 \
            const bool taken =                                                                     \
                index[j] < 0 || x[j] BEYOND best[j] || (IS_BAD(x[j]) && !IS_BAD(best[j]));         \
                                                                                                   \
            best[j] = taken ? x[j] : best[j];                                                      \
            index[j] = taken ? (int64_t)(first + r) : index[j];                                    \
        });                                                                                        \
    }

EXTREME_COLUMNS(min_columns, argmin_columns, <)
EXTREME_COLUMNS(max_columns, argmax_columns, >)

static void OF(start)(size_t by, size_t width, reduce_tile *tile)
{
    T *best = (T *)(void *)tile->value;
    const bool least = by == TSR_REDUCE_MIN || by == TSR_REDUCE_ARGMIN;
    const bool extreme = least || by == TSR_REDUCE_MAX || by == TSR_REDUCE_ARGMAX;

    for (size_t j = 0; j < width; j++) {
        tile->index[j] = -1;
        tile->carry[j] = 0;
        if (extreme)
            best[j] = least ? (T)LARGEST_OF_T : (T)LEAST_OF_T;
        else
            memset(tile->value + 8 * j, 0, 8);
    }
}

static void OF(part)(size_t by, const reduce_tile *tile, size_t j, reduce_part *out)
{
    *out = (reduce_part){.carry = tile->carry[j], .index = tile->index[j]};
    if (by == TSR_REDUCE_MIN || by == TSR_REDUCE_MAX || by == TSR_REDUCE_ARGMIN ||
        by == TSR_REDUCE_ARGMAX)
        out->value.VALUE = (VALUE_T)((const T *)(const void *)tile->value)[j];
    else
        memcpy(&out->value, tile->value + 8 * j, 8);
}

static const reduce_loops OF(loops) = {
    .row = {OF(sum), OF(min), OF(max), OF(argmin), OF(argmax), OF(mean), OF(norm2), OF(count),
            OF(count), OF(count)},
    .columns = {OF(sum_columns), OF(min_columns), OF(max_columns), OF(argmin_columns),
                OF(argmax_columns), OF(mean_columns), OF(norm2_columns), OF(count_columns),
                OF(count_columns), OF(count_columns)},
    .start = OF(start),
    .part = OF(part)};

#undef EXTREME_OF
#undef NAN_OF_T
#undef IS_BAD
#undef VALUE
#undef VALUE_T
#undef EXTREME_ROWS
#undef EACH_ROW
#undef ADD_COMPENSATED
#undef COLUMNS
#undef EXTREME_COLUMNS
#undef T
#undef OF
#undef EXACT
#undef REAL
#undef SIGNED
#undef BAD
#undef COMPENSATED
#undef LEAST_OF_T
#undef LARGEST_OF_T
