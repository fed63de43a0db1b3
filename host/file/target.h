/** Where an output goes: the file behind the path, and what stands there now. */
#ifndef FILE_TARGET_H
#define FILE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "tessera/status.h"

typedef enum target_kind {
    TARGET_STDOUT,  /* standard output */
    TARGET_INPLACE, /* exists and is no regular file: a pipe, a device */
    TARGET_FILE     /* a regular file, or none yet */
} target_kind;

typedef struct target {
    target_kind kind;
    bool exists;
    struct stat stat;         /* where it exists: its own */
    struct stat parent;       /* TARGET_FILE: of its directory */
    char directory[PATH_MAX]; /* TARGET_FILE: absolute, without symbolic links */
    char base[NAME_MAX + 1];  /* TARGET_FILE: the name in it */
} target;

/**
 * Resolve a path and check that what stands there may be written.
 *
 * "-", "/dev/stdout" and "/dev/fd/1" are standard output.  Symbolic links are
 * followed, a last one that leads nowhere included: its aim is then created.
 *
 * @param path  As the user gave it; also what messages name.
 * @return TSR_OK or TSR_EFILE; then *t is unspecified.
 */
tsr_status target_resolve(const char *path, target *t, tsr_error *err);

/** Whether both are the same file: by identity, not by spelling. */
bool target_same(const target *a, const target *b);

#endif
