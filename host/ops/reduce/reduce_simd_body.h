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
        EXACT lane[LANES] = {0};

        STREAMS_OF(x, lane[l] += (EXACT)here[l];);
        JOIN_LANES(lane, LANES, 1);
#if REAL
        part->value.real += (double)lane[0];
#else
        part->value.u += (uint64_t)lane[0];
#endif
    }
    for (; at < n; at += BLOCK, x += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        EXACT lane[LANES] = {0};
        size_t i = 0;

        for (; i + LANES <= count; i += LANES) {
            fetch(x + i, AHEAD, LANES * sizeof(T));
            for (size_t l = 0; l < LANES; l++)
                lane[l] += (EXACT)x[i + l];
        }
        if (i > 0)
            JOIN_LANES(lane, LANES, FEW_LANES);
        for (; i + FEW_LANES <= count; i += FEW_LANES)
            for (size_t l = 0; l < FEW_LANES; l++)
                lane[l] += (EXACT)x[i + l];
        if (i > 0)
            JOIN_LANES(lane, FEW_LANES, 1);
        for (; i < count; i++)
            lane[0] += (EXACT)x[i];
#if REAL
        part->value.real += (double)lane[0];
#else
        part->value.u += (uint64_t)lane[0];
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
        double lane[LANES] = {0};

        STREAMS_OF(x, lane[l] += (double)here[l] * (double)here[l];);
        JOIN_LANES(lane, LANES, 1);
        part->value.real += lane[0];
    }
    for (; at < n; at += BLOCK, x += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        double lane[LANES] = {0};
        size_t i = 0;

        for (; i + LANES <= count; i += LANES) {
            fetch(x + i, AHEAD, LANES * sizeof(T));
            for (size_t l = 0; l < LANES; l++)
                lane[l] += (double)x[i + l] * (double)x[i + l];
        }
        if (i > 0)
            JOIN_LANES(lane, LANES, FEW_LANES);
        for (; i + FEW_LANES <= count; i += FEW_LANES)
            for (size_t l = 0; l < FEW_LANES; l++)
                lane[l] += (double)x[i + l] * (double)x[i + l];
        if (i > 0)
            JOIN_LANES(lane, FEW_LANES, 1);
        for (; i < count; i++)
            lane[0] += (double)x[i] * (double)x[i];
        part->value.real += lane[0];
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

/* The sum of VALUE(x) of each column, where nothing has to be carried: four rows are added to each
 * other before they are to what is there, some columns at a time, and the next four are fetched. */
#define ADD_ROWS(S, VALUE)                                                                         \
    do {                                                                                           \
        const T *restrict x = from;                                                                \
        size_t r = 0;                                                                              \
                                                                                                   \
        for (; r + 4 <= rows; r += 4, x += 4 * pitch) {                                            \
            const T *restrict x1 = x + pitch, *restrict x2 = x1 + pitch,                           \
                              *restrict x3 = x2 + pitch;                                           \
                                                                                                   \
            for (size_t c = 0; c < width; c += COLUMNS_AT_ONCE) {                                  \
                const size_t end = width - c < COLUMNS_AT_ONCE ? width : c + COLUMNS_AT_ONCE;      \
                                                                                                   \
                for (size_t i = 0; i < 4; i++)                                                     \
                    fetch(x + i * pitch + c, 4 * pitch * sizeof(T), (end - c) * sizeof(T));        \
                for (size_t j = c; j < end; j++)                                                   \
                    sum[j] +=                                                                      \
                        (VALUE((S)x[j]) + VALUE((S)x1[j])) + (VALUE((S)x2[j]) + VALUE((S)x3[j]));  \
            }                                                                                      \
        }                                                                                          \
        for (; r < rows; r++, x += pitch)                                                          \
            for (size_t j = 0; j < width; j++)                                                     \
                sum[j] += VALUE((S)x[j]);                                                          \
    } while (0)
#define ITSELF(v) (v)
#define SQUARE(v) ((v) * (v))

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
    ADD_ROWS(double, ITSELF);
#else
    ADD_ROWS(uint64_t, ITSELF);
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
    ADD_ROWS(double, SQUARE);
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

    for (size_t j = 0; j < width && extreme; j++) {
        best[j] = least ? (T)LARGEST_OF_T : (T)LEAST_OF_T;
        tile->index[j] = -1;
    }
    if (!extreme) {
        memset(tile->value, 0, 8 * width);
        memset(tile->carry, 0, sizeof(double) * width);
    }
}

static void OF(part)(size_t by, const reduce_tile *tile, size_t j, reduce_part *out)
{
    if (by == TSR_REDUCE_MIN || by == TSR_REDUCE_MAX || by == TSR_REDUCE_ARGMIN ||
        by == TSR_REDUCE_ARGMAX) {
        *out = (reduce_part){.index = tile->index[j]};
        out->value.VALUE = (VALUE_T)((const T *)(const void *)tile->value)[j];
    } else {
        *out = (reduce_part){.carry = tile->carry[j], .index = -1};
        memcpy(&out->value, tile->value + 8 * j, 8);
    }
}

static void OF(join)(size_t by, size_t width, const reduce_tile *later, reduce_tile *tile)
{
    const bool least = by == TSR_REDUCE_MIN || by == TSR_REDUCE_ARGMIN;

    if (least || by == TSR_REDUCE_MAX || by == TSR_REDUCE_ARGMAX) {
        const T *restrict next = (const T *)(const void *)later->value;
        T *restrict best = (T *)(void *)tile->value;

        for (size_t j = 0; j < width; j++) {
            const bool beyond = least ? next[j] < best[j] : next[j] > best[j];
            const bool taken =
                later->index[j] >= 0 &&
                (tile->index[j] < 0 || ((beyond || IS_BAD(next[j])) && !IS_BAD(best[j])));

            best[j] = taken ? next[j] : best[j];
            tile->index[j] = taken ? later->index[j] : tile->index[j];
        }
    } else if ((REAL && by == TSR_REDUCE_SUM) || by == TSR_REDUCE_MEAN || by == TSR_REDUCE_NORM2) {
        const double *restrict next = (const double *)(const void *)later->value;
        double *restrict sum = (double *)(void *)tile->value, *restrict carry = tile->carry;

        for (size_t j = 0; j < width; j++) {
            ADD_COMPENSATED(-later->carry[j])
        }
        for (size_t j = 0; j < width; j++) {
            ADD_COMPENSATED(next[j])
        }
    } else {
        const uint64_t *restrict next = (const uint64_t *)(const void *)later->value;
        uint64_t *restrict sum = (uint64_t *)(void *)tile->value;

        for (size_t j = 0; j < width; j++)
            sum[j] += next[j];
    }
}

/* What a sum is of: floats themselves, integers as 64 bits. */
#if REAL
#define SUM_T  double
#define OUT_T  T
#define REAL_T T
#else
#define SUM_T  uint64_t
#define OUT_T  uint64_t
#define REAL_T double
#endif

#define STORE(type, value)                                                                         \
    for (size_t j = 0; j < width; j++)                                                             \
        ((type *)result)[j] = (type)(value);                                                       \
    break

static void OF(store)(size_t by, size_t n, size_t width, const reduce_tile *tile, void *result)
{
    const T *restrict best = (const T *)(const void *)tile->value;
    const SUM_T *restrict sum = (const SUM_T *)(const void *)tile->value;
    const double *restrict real = (const double *)(const void *)tile->value;
    const uint64_t *restrict count = (const uint64_t *)(const void *)tile->value;

    switch (by) {
    case TSR_REDUCE_SUM:
        STORE(OUT_T, sum[j]);
    case TSR_REDUCE_MIN:
    case TSR_REDUCE_MAX:
        STORE(T, best[j]);
    case TSR_REDUCE_ARGMIN:
    case TSR_REDUCE_ARGMAX:
        STORE(int64_t, tile->index[j]);
    case TSR_REDUCE_MEAN:
        STORE(REAL_T, n ? real[j] / (double)n : (double)NAN);
    case TSR_REDUCE_NORM2:
        STORE(REAL_T, sqrt(real[j]));
    case TSR_REDUCE_ANY:
        STORE(uint8_t, count[j] > 0);
    case TSR_REDUCE_ALL:
        STORE(uint8_t, count[j] == n);
    default:
        STORE(uint64_t, count[j]);
    }
}

/* Sums of VALUE(x) of ROWS rows in as many lanes; what is left over has lanes that are not stored.
 */
#if REAL && COMPENSATED
#define ADD_ACROSS(VALUE)                                                                          \
    const double term = VALUE((double)x[l * stride]) - carry[l], total = lane[l] + term;           \
    const double lost = (total - lane[l]) - term;                                                  \
                                                                                                   \
    carry[l] = fabs(lost) <= DBL_MAX ? lost : 0;                                                   \
    lane[l] = total;
#else
#define ADD_ACROSS(VALUE) lane[l] += VALUE((SUM_T)x[l * stride]);
#endif

#define ACROSS(name, VALUE)                                                                        \
    static void OF(name)(const void *from, size_t rows, size_t n, size_t stride, size_t step,      \
                         reduce_tile *tile)                                                        \
    {                                                                                              \
        for (size_t r = 0; r < rows; r += ROWS) {                                                  \
            const T *x = (const T *)from + r * stride;                                             \
            SUM_T lane[ROWS] = {0};                                                                \
            double carry[ROWS] = {0};                                                              \
            const size_t count = rows - r < ROWS ? rows - r : ROWS;                                \
                                                                                                   \
            (void)carry;                                                                           \
            if (count == ROWS)                                                                     \
                for (size_t i = 0; i < n; i++, x += step)                                          \
                    for (size_t l = 0; l < ROWS; l++) {                                            \
                        ADD_ACROSS(VALUE)                                                          \
                    }                                                                              \
            else                                                                                   \
                for (size_t i = 0; i < n; i++, x += step)                                          \
                    for (size_t l = 0; l < count; l++) {                                           \
                        ADD_ACROSS(VALUE)                                                          \
                    }                                                                              \
            memcpy(tile->value + 8 * r, lane, 8 * count);                                          \
        }                                                                                          \
    }

ACROSS(sum_across, ITSELF)
#if REAL
ACROSS(norm2_across, SQUARE)
#endif

static const reduce_loops OF(loops) = {
    .row = {OF(sum), OF(min), OF(max), OF(argmin), OF(argmax), OF(mean), OF(norm2), OF(count),
            OF(count), OF(count)},
    .columns = {OF(sum_columns), OF(min_columns), OF(max_columns), OF(argmin_columns),
                OF(argmax_columns), OF(mean_columns), OF(norm2_columns), OF(count_columns),
                OF(count_columns), OF(count_columns)},
#if REAL
    .across = {[TSR_REDUCE_SUM] = OF(sum_across),
               [TSR_REDUCE_MEAN] = OF(sum_across),
               [TSR_REDUCE_NORM2] = OF(norm2_across)},
#else
    .across = {[TSR_REDUCE_SUM] = OF(sum_across)},
#endif
    .start = OF(start),
    .part = OF(part),
    .join = OF(join),
    .store = OF(store)};

#undef EXTREME_OF
#undef NAN_OF_T
#undef IS_BAD
#undef VALUE
#undef VALUE_T
#undef EXTREME_ROWS
#undef EACH_ROW
#undef ADD_COMPENSATED
#undef ADD_ROWS
#undef ADD_ACROSS
#undef ACROSS
#undef ITSELF
#undef SQUARE
#undef COLUMNS
#undef SUM_T
#undef OUT_T
#undef REAL_T
#undef STORE
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
