#include "measure/programs_met.h"

#include <search.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "core/registry.h"

enum { WORDS_MAX = 128 };

/* Hashes stand in the tree in the place of pointers to keys. */
static int compare(const void *x, const void *y)
{
    return ((uintptr_t)x > (uintptr_t)y) - ((uintptr_t)x < (uintptr_t)y);
}

/* False where memory runs out.  *is_new where it was not there. */
static bool add(programs_met *m, uint64_t hash, bool *is_new)
{
    const void *key = (const void *)(uintptr_t)hash;

    if (tfind(key, &m->hashes, compare))
        return true;
    *is_new = true;
    return tsearch(key, &m->hashes, compare) != NULL;
}

/* The hashes of the words of a text, each once. */
static size_t words_of(const char *of, uint64_t out[WORDS_MAX])
{
    size_t count = 0;

    for (of += strspn(of, " "); *of && count < WORDS_MAX; of += strspn(of, " ")) {
        const size_t length = strcspn(of, " ");
        const uint64_t hash = hash_bytes(HASH_START, of, length);
        size_t i = 0;

        while (i < count && out[i] != hash)
            i++;
        out[i] = hash;
        count += i == count;
        of += length;
    }
    return count;
}

tsr_status programs_met_shows(programs_met *m, const variant *v, const device_facts *d,
                              const plan *p, bool singly, bool *out, tsr_error *err)
{
    uint64_t words[WORDS_MAX], program = 0;
    text all = {0};
    bool there = false, new_pair = false, ok;
    size_t count = 0;

    /* " -DNAME=VALUE"... " ENTRY:32:1:1"... */
    plan_options(v, d, p, &all);
    for (size_t i = 0; i < p->count; i++) {
        const command *c = &p->commands[i];

        if (c->kind == COMMAND_LAUNCH)
            text_format(&all, " %s:%zu:%zu:%zu", v->entries[c->entry], c->local[0], c->local[1],
                        c->local[2]);
    }
    ok = !all.failed;
    if (ok) {
        count = words_of(text_get(&all), words);
        program = hash_bytes(HASH_START, words, count * sizeof(*words));
        there = tfind((const void *)(uintptr_t)program, &m->hashes, compare) != NULL;
    }
    text_free(&all);
    for (size_t i = 0; i < count && !there; i++) {
        for (size_t k = i; k < (singly ? i + 1 : count) && ok; k++) {
            /* The 0 makes it differ from a program of two words. */
            const uint64_t pair[] = {0, words[i], words[k]};

            ok = add(m, hash_bytes(HASH_START, pair, sizeof(pair)), &new_pair);
        }
    }
    *out = there || new_pair || !count || count == WORDS_MAX;
    /* One that is left out is left out again. */
    if (ok && *out && !there)
        ok = add(m, program, &new_pair);
    return ok ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for what a sweep has met");
}

void programs_met_free(programs_met *m)
{
    while (m->hashes)
        tdelete(*(void **)m->hashes, &m->hashes, compare);
}
