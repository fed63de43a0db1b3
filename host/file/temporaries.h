/**
 * Temporary files that are not in their place yet, for a signal handler to remove.
 *
 * The one mutable global of this layer: a handler reaches nothing else.  A
 * fixed table of lock-free atomics, safe in signal handlers and threads.
 */
#ifndef FILE_TEMPORARIES_H
#define FILE_TEMPORARIES_H

#include <stddef.h>

/** How many files can be registered at a time. */
enum { TEMPORARIES_MAX = 16 };

/** Longest path that can be registered, its NUL included. */
enum { TEMPORARY_PATH = 4096 };

/** Register a path; returns its slot, or -1 where none is free or the path is too long. */
int temporaries_add(const char *path);

/** Take a slot's path out again.  A slot of -1 is ignored. */
void temporaries_drop(int slot);

/** Remove the files of all registered paths: of outputs, where the file system has no unnamed
 * files, and of entries of the cache.  Async-signal-safe: for a handler that exits, and for
 * atexit(). */
void temporaries_remove(void);

#endif
