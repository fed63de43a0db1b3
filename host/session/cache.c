#include "session/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/sizes.h"
#include "file/temporaries.h"

/* What stands at the start of every entry; the number is the format's version. */
static const char magic[8] = "TSRC\0001\n";

enum { ENTRY_MAX = 1 << 28 /* bytes; programs have some megabytes at most */ };

static const uint64_t LOCK_WAIT_NS = UINT64_C(120) * 1000000000;

/* Then these, in the machine's byte order, then key, log and data. */
typedef struct header {
    char magic[8];
    uint64_t key_size;
    uint64_t log_size;
    uint64_t data_size;
    uint64_t checksum; /* of key, log and data */
} header;

/* The folder that the environment asks for. */
static void find_folder(text *out)
{
    const char *own = getenv("TESSERA_CACHE_DIR");
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (own && *own)
        text_append(out, own);
    else if (xdg && *xdg == '/')
        text_format(out, "%s/tessera", xdg);
    else if (home && *home == '/')
        text_format(out, "%s/.cache/tessera", home);
}

void cache_open(cache *c)
{
    text why = {0};
    const char *folder;

    *c = (cache){.wanted = true};
    find_folder(&c->folder);
    folder = text_get(&c->folder);
    if (strcmp(folder, "off") == 0) {
        c->wanted = false;
        snprintf(c->why_off, sizeof(c->why_off), "TESSERA_CACHE_DIR says so");
    } else if (!*folder)
        snprintf(c->why_off, sizeof(c->why_off),
                 "none of TESSERA_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder");
    else if (!folders_make(folder))
        snprintf(c->why_off, sizeof(c->why_off), "it cannot be made: %s", strerror(errno));
    else if (!folders_trusted(folder, &why))
        snprintf(c->why_off, sizeof(c->why_off), "%s", text_get(&why));
    else if (access(folder, W_OK) != 0)
        snprintf(c->why_read_only, sizeof(c->why_read_only), "%s", strerror(errno));
    text_free(&why);
}

void cache_close(cache *c)
{
    text_free(&c->folder);
}

/* FOLDER/HASH.tsr of a key. */
static void entry_path(const cache *c, const char *key, text *out)
{
    text_format(out, "%s/%016llx.tsr", text_get(&c->folder),
                (unsigned long long)hash_bytes(HASH_START, key, strlen(key)));
}

static uint64_t checksum(const char *key, size_t key_size, const char *log, size_t log_size,
                         const unsigned char *data, size_t data_size)
{
    return hash_bytes(hash_bytes(hash_bytes(HASH_START, key, key_size), log, log_size), data,
                      data_size);
}

/* The header and body (key, log and data in one block) of an entry file; NULL, and why, where it is
 * not whole, or where somebody else may have written it: what it holds is run as it is. */
static unsigned char *read_entry(const char *path, header *h, text *why)
{
    char *bytes = NULL;
    size_t size, body;
    bool whole;

    if (!file_read(path, ENTRY_MAX, FILE_OF_USER, &bytes, &size, why))
        return NULL;
    whole = size >= sizeof(*h);
    if (whole) {
        memcpy(h, bytes, sizeof(*h));
        memmove(bytes, bytes + sizeof(*h), size + 1 - sizeof(*h));
        whole = memcmp(h->magic, magic, sizeof(magic)) == 0 &&
                size_add(h->key_size, h->log_size, &body) && size_add(body, h->data_size, &body) &&
                body == size - sizeof(*h) &&
                checksum(bytes, h->key_size, bytes + h->key_size, h->log_size,
                         (unsigned char *)bytes + h->key_size + h->log_size,
                         h->data_size) == h->checksum;
    }
    if (!whole) {
        text_append(why, "not whole");
        free(bytes);
        bytes = NULL;
    }
    return (unsigned char *)bytes;
}

bool cache_load(const cache *c, const char *key, unsigned char **data, size_t *data_size, text *log)
{
    text path = {0}, why = {0};
    unsigned char *body;
    header h;

    if (c->why_off[0])
        return false;
    entry_path(c, key, &path);
    body = read_entry(text_get(&path), &h, &why);
    text_free(&path);
    text_free(&why);
    if (!body)
        return false;
    if (h.key_size != strlen(key) || memcmp(body, key, h.key_size) != 0) {
        free(body);
        return false;
    }
    if (log)
        text_append_bytes(log, (char *)body + h.key_size, h.log_size);
    memmove(body, body + h.key_size + h.log_size, h.data_size);
    body[h.data_size] = '\0';
    *data = body;
    *data_size = h.data_size;
    return true;
}

static bool write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size) {
        ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Of the process, for the command to say as it ends: sessions are closed by then. */
static char not_stored[512];
static pthread_mutex_t not_stored_lock = PTHREAD_MUTEX_INITIALIZER;

static void note_not_stored(const cache *c, int error)
{
    pthread_mutex_lock(&not_stored_lock);
    if (!not_stored[0])
        snprintf(not_stored, sizeof(not_stored), "'%.400s': %s", text_get(&c->folder),
                 strerror(error));
    pthread_mutex_unlock(&not_stored_lock);
}

const char *cache_not_stored(void)
{
    return not_stored;
}

/* A new file beside the entries, listed before it exists where the list has room, so that a signal
 * that ends the process finds it; -1, and errno, where there can be none. */
static int create_temporary(const cache *c, text *path, int *slot)
{
    enum { ATTEMPTS = 100 };
    uint64_t state = clock_ns() ^ (uint64_t)getpid() << 32;
    int fd = -1;

    for (int i = 0; i < ATTEMPTS && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        text_free(path);
        text_format(path, "%s/new-%06llx", text_get(&c->folder),
                    (unsigned long long)random_u64(&state) & 0xFFFFFF);
        *slot = temporaries_add(text_get(path));
        fd = open(text_get(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
            temporaries_drop(*slot);
    }
    return fd;
}

bool cache_store(const cache *c, const char *key, const unsigned char *data, size_t size,
                 const char *log)
{
    header h = {.key_size = strlen(key), .log_size = strlen(log), .data_size = size};
    text path = {0}, temporary = {0};
    bool stored = false;
    int fd, slot, error;

    if (c->why_off[0])
        return false;
    memcpy(h.magic, magic, sizeof(magic));
    h.checksum = checksum(key, h.key_size, log, h.log_size, data, size);
    entry_path(c, key, &path);
    fd = create_temporary(c, &temporary, &slot);
    error = errno;
    if (fd >= 0) {
        stored = write_all(fd, &h, sizeof(h)) && write_all(fd, key, h.key_size) &&
                 write_all(fd, log, h.log_size) && write_all(fd, data, size);
        stored = close(fd) == 0 && stored;
        stored = stored && rename(text_get(&temporary), text_get(&path)) == 0;
        error = errno;
        if (!stored)
            unlink(text_get(&temporary));
        temporaries_drop(slot);
    }
    if (!stored && !c->why_read_only[0])
        note_not_stored(c, error);
    text_free(&path);
    text_free(&temporary);
    return stored;
}

/* One file has the locks of all entries, each of the byte that its key's hash numbers, so that no
 * locks are left behind.  They belong to the process, which may have several sessions in one thread
 * that would wait for themselves otherwise. */
static bool try_lock(int file, uint64_t place, bool *busy)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};
    const bool got = fcntl(file, F_SETLK, &lock) == 0;

    *busy = !got && (errno == EAGAIN || errno == EACCES || errno == EINTR);
    return got;
}

void cache_lock_entry(const cache *c, const char *key, cache_lock *lock)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    const uint64_t place = hash_bytes(HASH_START, key, strlen(key)) >> 2; /* off_t has a sign */
    const uint64_t until = clock_ns() + LOCK_WAIT_NS;
    text path = {0};
    bool busy;

    cache_unlock(lock);
    if (c->why_off[0])
        return;
    text_format(&path, "%s/lock", text_get(&c->folder));
    lock->file =
        open(text_get(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    text_free(&path);
    if (lock->file < 0)
        return;
    while (!(lock->held = try_lock(lock->file, place, &busy)) && busy && clock_ns() < until)
        nanosleep(&pause, NULL);
    if (!lock->held)
        close(lock->file);
}

void cache_unlock(cache_lock *lock)
{
    if (lock->held)
        close(lock->file); /* which gives the lock up */
    lock->held = false;
}

/* Whether a file name is one that the cache gives: an entry, or one that was being written. */
static bool is_ours(const char *name)
{
    size_t length = strlen(name);

    return (length == 20 && strspn(name, "0123456789abcdef") == 16 &&
            strcmp(name + 16, ".tsr") == 0) ||
           (length == 10 && strncmp(name, "new-", 4) == 0);
}

static void describe_entry(const char *folder, const char *name, cache_entry *out)
{
    unsigned char *body;
    text path = {0}, why = {0};
    struct stat st = {0};
    header h;

    *out = (cache_entry){0};
    /* is_ours() has let pass names of 20 characters at most. */
    snprintf(out->file, sizeof(out->file), "%.20s", name);
    text_format(&path, "%s/%s", folder, name);
    if (lstat(text_get(&path), &st) == 0)
        out->bytes = (uint64_t)st.st_size;
    body = read_entry(text_get(&path), &h, &why);
    if (!body)
        snprintf(out->title, sizeof(out->title), "%.80s%s", text_get(&why),
                 S_ISDIR(st.st_mode) ? "; nothing can be kept in its place"
                                     : "; it is replaced when it is needed");
    text_free(&path);
    text_free(&why);
    if (!body)
        return;
    for (size_t i = 0; i < h.key_size && body[i] != '\n' && i + 1 < sizeof(out->title); i++)
        out->title[i] = (char)body[i];
    text_make_plain(out->title, ""); /* whatever wrote the entry, it is shown */
    free(body);
}

static int by_title(const void *a, const void *b)
{
    const cache_entry *x = a, *y = b;
    int order = strcmp(x->title, y->title);

    return order ? order : strcmp(x->file, y->file);
}

tsr_status cache_list(const cache *c, cache_entry **out, size_t *count, tsr_error *err)
{
    const char *folder = text_get(&c->folder);
    DIR *dir = opendir(folder);
    cache_entry *list = NULL;
    struct dirent *e;
    size_t n = 0;

    if (!dir)
        return tsr_fail(err, TSR_EFILE, 0, "cache folder '%s': %s", folder, strerror(errno));
    while ((e = readdir(dir))) {
        cache_entry *bigger;

        if (!is_ours(e->d_name))
            continue;
        bigger = realloc(list, (n + 1) * sizeof(*list));
        if (!bigger) {
            free(list);
            closedir(dir);
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory to list the cache");
        }
        list = bigger;
        describe_entry(folder, e->d_name, &list[n++]);
    }
    closedir(dir);
    if (n)
        qsort(list, n, sizeof(*list), by_title);
    *out = list;
    *count = n;
    return TSR_OK;
}

tsr_status cache_clear(const cache *c, size_t *count, tsr_error *err)
{
    const char *folder = text_get(&c->folder);
    cache_entry *list = NULL;
    tsr_status st;
    size_t n = 0;

    *count = 0;
    if (c->why_off[0])
        return tsr_fail(err, TSR_EFILE, 0, "cache folder '%s' is not in use: %s", folder,
                        c->why_off);
    st = cache_list(c, &list, &n, err);
    for (size_t i = 0; i < n && st == TSR_OK; i++) {
        text path = {0};

        text_format(&path, "%s/%s", folder, list[i].file);
        if (unlink(text_get(&path)) == 0)
            ++*count;
        else if (errno != ENOENT)
            st = tsr_fail(err, TSR_EFILE, 0, "'%s': %s", text_get(&path), strerror(errno));
        text_free(&path);
    }
    free(list);
    return st;
}
