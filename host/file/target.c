#include "file/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static tsr_status cannot(const char *path, const char *what, int code, tsr_error *err)
{
    return tsr_fail(err, TSR_EFILE, 0, "%s: cannot %s: %s", path, what, strerror(code));
}

static tsr_status resolve_stdout(target *t, tsr_error *err)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    if (flags < 0 || fstat(STDOUT_FILENO, &t->stat) != 0)
        return cannot("standard output", "write", errno, err);
    if ((flags & O_ACCMODE) == O_RDONLY)
        return cannot("standard output", "write", EBADF, err);
    t->kind = TARGET_STDOUT;
    t->exists = true;
    return TSR_OK;
}

/* Split an absolute or relative path at its last slash and resolve the directory. */
static tsr_status split(const char *path, const char *name, target *t, tsr_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    char parent[PATH_MAX] = ".";

    if (strlen(base) > NAME_MAX)
        return cannot(name, "create", ENAMETOOLONG, err);
    if (*base == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return tsr_fail(err, TSR_EFILE, 0, "%s: cannot create: names no file", name);
    strcpy(t->base, base);
    if (slash) {
        size_t length = slash == path ? 1 : (size_t)(slash - path);

        if (length >= sizeof(parent))
            return cannot(name, "create", ENAMETOOLONG, err);
        memcpy(parent, path, length);
        parent[length] = '\0';
    }
    if (!realpath(parent, t->directory)) {
        if (errno != ENAMETOOLONG)
            return cannot(name, "create", errno, err);
        strcpy(t->directory, parent); /* deep folders are reached by short names */
    }
    if (stat(t->directory, &t->parent) != 0)
        return cannot(name, "create", errno, err);
    return TSR_OK;
}

/* Follow links, also those that lead nowhere, to where a file stands or will stand. */
static tsr_status resolve_links(const char *name, target *t, tsr_error *err)
{
    enum { LINKS_MAX = 40 };
    char path[PATH_MAX], link[PATH_MAX];

    if (strlen(name) >= sizeof(path))
        return cannot(name, "create", ENAMETOOLONG, err);
    strcpy(path, name);
    for (int links = 0; links < LINKS_MAX; links++) {
        tsr_status status = split(path, name, t, err);
        ssize_t n;
        int length;

        if (status)
            return status;
        n = readlink(path, link, sizeof(link) - 1);
        if (n < 0)
            return TSR_OK;
        link[n] = '\0';
        length = snprintf(path, sizeof(path), "%s%s%s", link[0] == '/' ? "" : t->directory,
                          link[0] == '/' ? "" : "/", link);
        if (length < 0 || (size_t)length >= sizeof(path))
            return cannot(name, "create", ENAMETOOLONG, err);
    }
    return cannot(name, "create", ELOOP, err);
}

static tsr_status resolve_existing(const char *name, target *t, tsr_error *err)
{
    char path[PATH_MAX];

    t->exists = true;
    if (S_ISDIR(t->stat.st_mode))
        return cannot(name, "write", EISDIR, err);
    if (S_ISSOCK(t->stat.st_mode))
        return tsr_fail(err, TSR_EFILE, 0, "%s: cannot write: is a socket", name);
    /* Renaming over a file that may not be written would succeed. */
    if (access(name, W_OK) != 0)
        return cannot(name, "write", errno, err);
    if (!S_ISREG(t->stat.st_mode)) {
        t->kind = TARGET_INPLACE;
        return TSR_OK;
    }
    if (realpath(name, path))
        return split(path, name, t, err);
    return errno == ENAMETOOLONG ? resolve_links(name, t, err) : cannot(name, "write", errno, err);
}

tsr_status target_resolve(const char *path, target *t, tsr_error *err)
{
    *t = (target){.kind = TARGET_FILE};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
        strcmp(path, "/dev/fd/1") == 0)
        return resolve_stdout(t, err);
    if (*path == '\0')
        return tsr_fail(err, TSR_EFILE, 0, "output: the path is empty");
    if (stat(path, &t->stat) == 0)
        return resolve_existing(path, t, err);
    if (errno != ENOENT)
        return cannot(path, "create", errno, err);
    return resolve_links(path, t, err);
}

bool target_same(const target *a, const target *b)
{
    if (a->exists && b->exists)
        return a->stat.st_dev == b->stat.st_dev && a->stat.st_ino == b->stat.st_ino;
    return !a->exists && !b->exists && a->parent.st_dev == b->parent.st_dev &&
           a->parent.st_ino == b->parent.st_ino && strcmp(a->base, b->base) == 0;
}
