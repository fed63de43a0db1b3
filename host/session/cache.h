/**
 * The cache folder: program binaries and probe results, one file each.
 *
 * It is $TESSERA_CACHE_DIR ("off": none), else $XDG_CACHE_HOME/tessera, else
 * ~/.cache/tessera; created with mode 0700; used only where it belongs to the
 * user and nobody else can write it or the folders above it.  An entry holds
 * its whole key, so a foreign, truncated or corrupt file is never taken for
 * another: it reads as absent, and so does what is no regular file, what
 * belongs to another user and what others can write.  Entries are written
 * beside their place and renamed, so that concurrent writers do no harm.
 */
#ifndef SESSION_CACHE_H
#define SESSION_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "tessera/status.h"

typedef struct cache {
    text folder;
    char why_off[256];       /* why nothing is cached, "" while the cache works */
    char why_read_only[128]; /* why no entry can be added to those there, "" while one can */
    bool wanted;             /* nobody asked for no cache */
} cache;

/** Find and, where needed, make the folder.  Never fails: see why_off. */
void cache_open(cache *c);
void cache_close(cache *c);

/**
 * Look an entry up.  True where it is present and whole: *data is then malloced
 * and the caller's, with data_size bytes, and *log the text stored beside it.
 */
bool cache_load(const cache *c, const char *key, unsigned char **data, size_t *data_size,
                text *log);

/** Store an entry.  Failing to is no error of the work at hand: false, and nothing is left behind.
 *  cache_not_stored() then says why. */
bool cache_store(const cache *c, const char *key, const unsigned char *data, size_t size,
                 const char *log);

/** The folder and why an entry that the process had for it could not be stored, as "'FOLDER': No
 * space left on device"; of the first one, "" where there is none. */
const char *cache_not_stored(void);

/** Held by the process that makes an entry.  Zeroed: not held. */
typedef struct cache_lock {
    bool held;
    int file;
} cache_lock;

/**
 * Wait until no other process makes the entry of a key, for two minutes at most, and hold its lock
 * where that can be had: many processes that start at once compile a program once.  A lock that is
 * held already is given up first, so that no two processes wait for each other.  Sessions of one
 * process do not wait for one another.
 */
void cache_lock_entry(const cache *c, const char *key, cache_lock *lock);

/** Nothing where it is not held. */
void cache_unlock(cache_lock *lock);

/** One entry, as `tessera cache` lists it. */
typedef struct cache_entry {
    char file[64];
    uint64_t bytes;
    char title[1024]; /* first line of its key: "program FILE on DEVICE: KERNELS OPTIONS"; plain
                         text that a terminal takes for nothing else */
} cache_entry;

/** List the entries; *out is malloced and the caller's. */
tsr_status cache_list(const cache *c, cache_entry **out, size_t *count, tsr_error *err);

/** Remove every entry (and nothing else that lies in the folder); *count receives how many. */
tsr_status cache_clear(const cache *c, size_t *count, tsr_error *err);

#endif
