#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool folders_make(const char *path)
{
    char *copy = strdup(path);
    bool made = copy != NULL;

    for (char *c = copy ? copy + 1 : NULL; made && c && *c; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        made = mkdir(copy, 0700) == 0 || errno == EEXIST;
        *c = '/';
    }
    made = made && (mkdir(path, 0700) == 0 || errno == EEXIST);
    free(copy);
    return made;
}

/* Whether nobody else can write a file or folder that is the user's. */
static bool is_private(const struct stat *st, text *why)
{
    if (st->st_uid != geteuid())
        text_format(why, "it belongs to another user (%u)", (unsigned)st->st_uid);
    else if (st->st_mode & (S_IWGRP | S_IWOTH))
        text_format(why, "others can write it (mode %03o)", (unsigned)(st->st_mode & 0777));
    else
        return true;
    return false;
}

/* Whether a group is the one that has its user's name and no other member, which Debian gives each
 * user: its members may write what a umask of 002 makes. */
static bool is_own_group(gid_t gid)
{
    char names[2][4096];
    struct passwd user, *u = NULL;
    struct group group, *g = NULL;

    if (getpwuid_r(geteuid(), &user, names[0], sizeof(names[0]), &u) || !u || u->pw_gid != gid ||
        getgrgid_r(gid, &group, names[1], sizeof(names[1]), &g) || !g)
        return false;
    return strcmp(g->gr_name, u->pw_name) == 0 &&
           (!g->gr_mem[0] || (strcmp(g->gr_mem[0], u->pw_name) == 0 && !g->gr_mem[1]));
}

/* Whether nobody but the user and root can replace what lies in a folder. */
static bool keeps_entries(const char *folder, text *why)
{
    struct stat st;

    if (stat(folder, &st) != 0)
        text_format(why, "the folder %s above it: %s", folder, strerror(errno));
    else if (st.st_uid != geteuid() && st.st_uid != 0)
        text_format(why, "the folder %s above it belongs to another user (%u)", folder,
                    (unsigned)st.st_uid);
    else if ((st.st_mode & S_IWOTH || (st.st_mode & S_IWGRP && !is_own_group(st.st_gid))) &&
             !(st.st_mode & S_ISVTX))
        text_format(why, "others can write the folder %s above it (mode %03o)", folder,
                    (unsigned)(st.st_mode & 0777));
    else
        return true;
    return false;
}

bool folders_trusted(const char *path, text *why)
{
    char *real = realpath(path, NULL);
    bool trusted = false;
    struct stat st;

    if (!real || stat(real, &st) != 0)
        text_append(why, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        text_append(why, "it is no folder");
    else
        trusted = is_private(&st, why);
    while (trusted && real[1]) {
        char *slash = strrchr(real, '/');

        slash[slash == real] = '\0';
        trusted = keeps_entries(real, why);
    }
    free(real);
    return trusted;
}

bool file_read(const char *path, size_t max, file_writer writer, char **out, size_t *size,
               text *why)
{
    /* O_NONBLOCK: opening a pipe does not wait for a writer. */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *bytes = NULL;
    size_t done = 0;
    ssize_t n = 1;
    struct stat st;
    const bool found = fd >= 0 && fstat(fd, &st) == 0;

    if (!found && errno != ENXIO) { /* which opening a socket gives */
        text_append(why, strerror(errno));
    } else if (!found || !S_ISREG(st.st_mode)) {
        text_append(why, "it is no regular file");
    } else if (writer == FILE_OF_USER && !is_private(&st, why)) {
        /* why says it. */
    } else if ((uintmax_t)st.st_size > max) {
        text_format(why, "it has %jd bytes, and at most %zu are read", (intmax_t)st.st_size, max);
    } else if (!(bytes = malloc((size_t)st.st_size + 1))) {
        text_append(why, "no memory to read it");
    } else {
        while (n && done < (size_t)st.st_size) {
            n = read(fd, bytes + done, (size_t)st.st_size - done);
            if (n < 0 && errno != EINTR) {
                text_append(why, strerror(errno));
                free(bytes);
                bytes = NULL;
                break;
            }
            done += n > 0 ? (size_t)n : 0;
        }
    }
    if (fd >= 0)
        close(fd);
    if (!bytes)
        return false;
    bytes[done] = '\0';
    *out = bytes;
    *size = done;
    return true;
}
