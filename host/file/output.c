#include "file/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "base/text.h"
#include "file/encode.h"
#include "file/image.h"
#include "file/target.h"
#include "file/temporaries.h"

struct output {
    char *name; /* the path as given, for messages and for opening in place */
    target target;
    int fd;           /* TARGET_FILE: of the temporary file */
    int slot;         /* of its name among the temporaries, -1 while it has none */
    text held;        /* otherwise: what output_commit writes */
    bool filled;      /* the last write has succeeded */
    char unnamed[32]; /* /proc's link to a temporary file without a name, "" where it has one */
    char temporary[TEMPORARY_PATH];
};

static tsr_status cannot(const output *o, const char *what, tsr_error *err)
{
    return tsr_fail(err, TSR_EFILE, 0, "%s: cannot %s: %s", o->name, what, strerror(errno));
}

/* Nobody else reads what replaces a file that nobody else may read.  mkstemp() creates 0600 always
 * and leaves it to the caller to find the umask, which cannot be read without setting it for every
 * thread.  open() applies it. */
static mode_t mode_of_temporary(const output *o)
{
    return o->target.exists ? 0600 : 0666;
}

/* A file without a name in the directory, which goes with the process however that ends.  False
 * where the file system has none, or where it could not be given a name later. */
static bool create_unnamed(output *o)
{
#ifdef O_TMPFILE
    struct stat st;

    o->fd = open(o->target.directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode_of_temporary(o));
    if (o->fd < 0)
        return false;
    snprintf(o->unnamed, sizeof(o->unnamed), "/proc/self/fd/%d", o->fd);
    if (stat(o->unnamed, &st) == 0)
        return true;
    close(o->fd);
    o->fd = -1;
    o->unnamed[0] = '\0';
#else
    (void)o;
#endif
    return false;
}

/* Give the file a name beside its place: that of the unnamed one, or a new one's. */
static tsr_status create_name(output *o, tsr_error *err)
{
    enum { ATTEMPTS = 100 };
    uint64_t state = clock_ns() ^ (uint64_t)getpid() << 32;

    for (int i = 0; i < ATTEMPTS; i++) {
        int n = snprintf(o->temporary, sizeof(o->temporary), "%s/.tessera-%016llx",
                         o->target.directory, (unsigned long long)random_u64(&state));

        if (n < 0 || (size_t)n >= sizeof(o->temporary)) {
            errno = ENAMETOOLONG;
            break;
        }
        /* Listed before it exists, so that no signal finds it unlisted. */
        o->slot = temporaries_add(o->temporary);
        if (o->slot < 0)
            return tsr_fail(err, TSR_EFILE, 0,
                            "%s: cannot create: %d temporary files are open already", o->name,
                            TEMPORARIES_MAX);
        if (o->unnamed[0]) {
            if (linkat(AT_FDCWD, o->unnamed, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0)
                return TSR_OK;
        } else {
            o->fd =
                open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_of_temporary(o));
            if (o->fd >= 0)
                return TSR_OK;
        }
        temporaries_drop(o->slot);
        o->slot = -1;
        if (errno != EEXIST)
            break;
    }
    return tsr_fail(err, TSR_EFILE, 0, "%s: cannot create a file in %s: %s", o->name,
                    o->target.directory, strerror(errno));
}

tsr_status output_open(const char *path, output **out, tsr_error *err)
{
    tsr_status status;
    output *o = calloc(1, sizeof(*o));

    if (!o)
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for an output", path);
    o->fd = -1;
    o->slot = -1;
    status = target_resolve(path, &o->target, err);
    if (status)
        goto cleanup;
    o->name = strdup(o->target.kind == TARGET_STDOUT ? "standard output" : path);
    if (!o->name) {
        status = tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for its name", path);
        goto cleanup;
    }
    if (o->target.kind == TARGET_FILE) {
        status = create_unnamed(o) ? TSR_OK : create_name(o, err);
        if (status)
            goto cleanup;
    }
    *out = o;
    o = NULL; /* moved to the caller */

cleanup:
    output_discard(o);
    return status;
}

int output_same(const output *a, const output *b)
{
    return target_same(&a->target, &b->target);
}

int output_is(const output *o, const char *path)
{
    const struct stat *there = &o->target.stat;
    struct stat s;

    /* A terminal or a null device may well be both. */
    return o->target.exists && S_ISREG(there->st_mode) &&
           (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &s) : stat(path, &s)) == 0 &&
           s.st_dev == there->st_dev && s.st_ino == there->st_ino;
}

static tsr_status write_fully(const output *o, int fd, const char *bytes, size_t size,
                              tsr_error *err)
{
    enum { WRITE_MAX = 1 << 30 };

    while (size) {
        ssize_t n = write(fd, bytes, size_min(size, WRITE_MAX));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot(o, "write", err);
        bytes += n;
        size -= (size_t)n;
    }
    return TSR_OK;
}

/* An encode_put. */
static tsr_status put(void *to, const void *bytes, size_t size, tsr_error *err)
{
    output *o = to;

    if (o->target.kind == TARGET_FILE)
        return write_fully(o, o->fd, bytes, size, err);
    text_append_bytes(&o->held, bytes, size);
    if (o->held.failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory to hold %zu more bytes", o->name, size);
    return TSR_OK;
}

tsr_status output_write(output *o, const array *a, tsr_error *err)
{
    const char *dot = strrchr(o->name, '.');
    tsr_status status;

    assert(!o->filled);
    if (dot && strcmp(dot, ".mtx") == 0)
        status = encode_mtx(a, put, o, err);
    else if (dot && image_suffix(dot))
        status = image_encode(dot, a, put, o, err);
    else
        status = encode_npy(a, put, o, err);
    o->filled = !status;
    return status;
}

tsr_status output_write_bytes(output *o, const void *bytes, size_t size, tsr_error *err)
{
    tsr_status status = put(o, bytes, size, err);

    o->filled = !status;
    return status;
}

/* The rename itself reaches the disk with the directory.  The file is in place
 * by then, so a file system that cannot do this fails nothing. */
static void flush_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* Writing it in place would keep both, and leave half a file where it fails, perhaps in a copy of
 * the folder that was made of hard links. */
static void tell_lost(const output *o, int fd, text *lost)
{
    const struct stat *old = &o->target.stat;
    struct stat new;

    if (old->st_nlink > 1)
        text_format(lost,
                    "%s: the file that was there has other names (hard links), which keep the "
                    "old content",
                    o->name);
    if (fstat(fd, &new) == 0 && (new.st_uid != old->st_uid || new.st_gid != old->st_gid))
        text_format(lost, "%s%s: its owner was %u:%u and is %u:%u: only root can give a file away",
                    lost->length ? "; " : "", o->name, (unsigned)old->st_uid, (unsigned)old->st_gid,
                    (unsigned)new.st_uid, (unsigned)new.st_gid);
}

/* What close() would report, asked through a duplicate: a file without a name has to stay open to
 * be linked. */
static bool closes(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return copy >= 0 && close(copy) == 0;
}

/* No temporary name ever exists where the output is new and the file has none so far. */
static bool link_in_place(const output *o, const char *path)
{
    return o->unnamed[0] && !o->target.exists &&
           linkat(AT_FDCWD, o->unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

static tsr_status rename_in_place(output *o, const char *path, tsr_error *err)
{
    if (o->slot < 0) {
        tsr_status status = create_name(o, err);

        if (status)
            return status;
    }
    if (rename(o->temporary, path) != 0)
        return cannot(o, "put in place", err);
    temporaries_drop(o->slot);
    o->slot = -1;
    return TSR_OK;
}

static tsr_status commit_file(output *o, text *lost, tsr_error *err)
{
    char path[PATH_MAX + NAME_MAX + 2];
    int fd = o->fd;

    if (o->target.exists) {
        const struct stat *old = &o->target.stat;

        /* Only root can give a file away; anybody else's replacement is their own.  Before the
         * mode, of which a change of owner clears bits. */
        (void)!fchown(fd, old->st_uid, old->st_gid);
        if (fchmod(fd, old->st_mode & 07777) != 0)
            return cannot(o, "set its mode", err);
        if (lost)
            tell_lost(o, fd, lost);
    }
    if (fsync(fd) != 0)
        return cannot(o, "flush", err);
    if (!closes(fd))
        return cannot(o, "close", err);
    snprintf(path, sizeof(path), "%s/%s", o->target.directory, o->target.base);
    if (!link_in_place(o, path)) {
        tsr_status status = rename_in_place(o, path, err);

        if (status)
            return status;
    }
    flush_directory(o->target.directory);
    return TSR_OK;
}

static tsr_status commit_in_place(output *o, tsr_error *err)
{
    int fd = open(o->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    tsr_status status;

    if (fd < 0)
        return cannot(o, "open", err);
    status = write_fully(o, fd, text_get(&o->held), o->held.length, err);
    if (close(fd) != 0 && !status)
        status = cannot(o, "close", err);
    return status;
}

int output_is_stream(const output *o)
{
    return o->target.kind != TARGET_FILE;
}

tsr_status output_commit(output *o, text *lost, tsr_error *err)
{
    tsr_status status;

    assert(o->filled);
    if (o->target.kind == TARGET_FILE)
        status = commit_file(o, lost, err);
    else if (o->target.kind == TARGET_INPLACE)
        status = commit_in_place(o, err);
    else
        status = write_fully(o, STDOUT_FILENO, text_get(&o->held), o->held.length, err);
    output_discard(o); /* removes what a failure leaves */
    return status;
}

void output_discard(output *o)
{
    if (!o)
        return;
    if (o->fd >= 0)
        close(o->fd);
    if (o->slot >= 0) {
        unlink(o->temporary);
        temporaries_drop(o->slot);
    }
    text_free(&o->held);
    free(o->name);
    free(o);
}
