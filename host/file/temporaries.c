#include "file/temporaries.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Only a lock-free atomic may be touched by a handler. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler needs lock-free atomics");

enum { FREE, CLAIMED, LISTED };

static atomic_int states[TEMPORARIES_MAX];
static char paths[TEMPORARIES_MAX][TEMPORARY_PATH];

int temporaries_add(const char *path)
{
    size_t length = strlen(path);

    if (length >= TEMPORARY_PATH)
        return -1;
    for (int slot = 0; slot < TEMPORARIES_MAX; slot++) {
        int expected = FREE;

        if (!atomic_compare_exchange_strong(&states[slot], &expected, CLAIMED))
            continue;
        memcpy(paths[slot], path, length + 1);
        /* A handler that sees LISTED sees the whole path. */
        atomic_store(&states[slot], LISTED);
        return slot;
    }
    return -1;
}

void temporaries_drop(int slot)
{
    if (slot >= 0)
        atomic_store(&states[slot], FREE);
}

void temporaries_remove(void)
{
    for (int slot = 0; slot < TEMPORARIES_MAX; slot++) {
        if (atomic_load(&states[slot]) == LISTED)
            unlink(paths[slot]);
    }
}
