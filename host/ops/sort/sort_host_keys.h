/*
 * Keys of one size and the words that stand for them: included by sort_host_words.c once for each
 * size, with KEY the unsigned integer of that size.  NAMED(name) is the name with the size at its
 * end.
 */

static inline KEY NAMED(unmap)(const sort_map *m, KEY word)
{
    const KEY bits = (KEY)((KEY)(word ^ (KEY)m->down) + (KEY)m->bias);

    return bits ^ SORT_FLIP(KEY, *m, (KEY)~bits); /* the sign bit is flipped, if any is */
}

static uint64_t NAMED(load_alone)(const sort_map *map, const void *keys, size_t first, size_t n,
                                  void *words)
{
    const sort_map m = *map;
    const KEY *from = (const KEY *)keys;
    KEY *to = (KEY *)words;
    const KEY one = SORT_WORD(KEY, m, from[0]);
    KEY varies = 0;

    OMP(simd reduction(| : varies))
    for (size_t i = first; i < first + n; i++) {
        const KEY word = SORT_WORD(KEY, m, from[i]);

        to[i] = word;
        varies |= word ^ one;
    }
    return varies;
}

static void NAMED(unload_alone)(const sort_map *map, const void *words, size_t first, size_t n,
                                void *keys, int64_t *index)
{
    const sort_map m = *map;
    const KEY *from = (const KEY *)words; /* perhaps the keys */
    KEY *to = (KEY *)keys;

    (void)index;
    OMP(simd)
    for (size_t i = first; i < first + n; i++)
        to[i] = NAMED(unmap)(&m, from[i]);
}

static uint64_t NAMED(load_pairs)(const sort_map *map, const void *keys, size_t first, size_t n,
                                  void *words)
{
    const sort_map m = *map;
    const KEY *from = (const KEY *)keys;
    word_pair *to = words;
    const KEY one = SORT_WORD(KEY, m, from[0]);
    KEY varies = 0;

    for (size_t i = first; i < first + n; i++) {
        const KEY word = SORT_WORD(KEY, m, from[i]);

        to[i] = (word_pair){word, i};
        varies |= word ^ one;
    }
    return varies;
}

static void NAMED(unload_pairs)(const sort_map *map, const void *words, size_t first, size_t n,
                                void *keys, int64_t *index)
{
    const sort_map m = *map;
    const word_pair *from = words;
    KEY *to = (KEY *)keys;

    for (size_t i = first; i < first + n; i++)
        to[i] = NAMED(unmap)(&m, (KEY)from[i].key);
    for (size_t i = first; index && i < first + n; i++)
        index[i] = (int64_t)from[i].index;
}

#ifdef KEY_LEAVES_ROOM /* for an index in a word of 64 bits */
static uint64_t NAMED(load_indexed)(const sort_map *map, const void *keys, size_t first, size_t n,
                                    void *words)
{
    const sort_map m = *map;
    const KEY *from = (const KEY *)keys;
    uint64_t *to = words;
    const KEY one = SORT_WORD(KEY, m, from[0]);
    KEY varies = 0;

    OMP(simd reduction(| : varies))
    for (size_t i = first; i < first + n; i++) {
        const KEY word = SORT_WORD(KEY, m, from[i]);

        to[i] = (uint64_t)word << INDEX_BITS | i;
        varies |= word ^ one;
    }
    return (uint64_t)varies << INDEX_BITS;
}

static void NAMED(unload_indexed)(const sort_map *map, const void *words, size_t first, size_t n,
                                  void *keys, int64_t *index)
{
    const sort_map m = *map;
    const uint64_t *from = words;
    KEY *to = (KEY *)keys;

    for (size_t i = first; i < first + n; i++)
        to[i] = NAMED(unmap)(&m, (KEY)(from[i] >> INDEX_BITS));
    for (size_t i = first; index && i < first + n; i++)
        index[i] = (int64_t)(uint32_t)from[i];
}
#endif
