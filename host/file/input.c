#include "file/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "file/block.h"

/* One read() may take at most SSIZE_MAX; Linux stops at 2 GiB in any case. */
enum { READ_MAX = 1 << 30, FIRST_BLOCK = 1 << 16 };

static tsr_status read_fully(input *s, unsigned char *to, size_t most, size_t *got, tsr_error *err)
{
    size_t n = 0;

    while (n < most) {
        ssize_t r = read(s->fd, to + n, size_min(most - n, READ_MAX));

        if (r == 0)
            break;
        if (r > 0)
            n += (size_t)r;
        else if (errno != EINTR)
            return tsr_fail(err, TSR_EFILE, 0, "%s: cannot read: %s", s->name, strerror(errno));
    }
    *got = n;
    return TSR_OK;
}

/* What kind of file it is, and its size where that is known. */
static tsr_status inspect(input *s, tsr_error *err)
{
    struct stat st;

    if (fstat(s->fd, &st) != 0)
        return tsr_fail(err, TSR_EFILE, 0, "%s: cannot read: %s", s->name, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return tsr_fail(err, TSR_EFILE, 0, "%s: is a directory", s->name);
    /* Standard input may be a file that is read from its middle.  Files of /proc say size 0. */
    if (!S_ISREG(st.st_mode) || st.st_size <= 0 || s->fd == STDIN_FILENO)
        return TSR_OK;
    s->sized = true;
    s->size = (uintmax_t)st.st_size > SIZE_MAX ? SIZE_MAX : (size_t)st.st_size;
    return TSR_OK;
}

tsr_status input_open(const char *path, input *s, tsr_error *err)
{
    tsr_status status;
    input new = {.name = path, .fd = -1};

    if (strcmp(path, "-") == 0) {
        new.name = "standard input";
        new.fd = STDIN_FILENO;
    } else {
        new.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (new.fd < 0)
            return tsr_fail(err, TSR_EFILE, 0, "%s: cannot open: %s", *path ? path : "''",
                            strerror(errno));
    }
    status = inspect(&new, err);
    if (status)
        goto cleanup;
    new.owned = malloc(SOURCE_HEAD);
    if (!new.owned) {
        status = tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for %d bytes", new.name, SOURCE_HEAD);
        goto cleanup;
    }
    new.head = new.owned;
    status = read_fully(&new, new.owned, SOURCE_HEAD, &new.head_size, err);
    if (status)
        goto cleanup;
    if (new.head_size == 0) {
        status = tsr_fail(err, TSR_EFILE, 0, "%s: is empty", new.name);
        goto cleanup;
    }
    *s = new;
    new = (input){.fd = -1}; /* moved to the caller */

cleanup:
    input_close(&new);
    return status;
}

input input_of_memory(const char *name, const unsigned char *bytes, size_t size)
{
    return (input){
        .name = name, .fd = -1, .sized = true, .size = size, .head = bytes, .head_size = size};
}

tsr_status input_take(input *s, void *to, size_t most, size_t *got, tsr_error *err)
{
    size_t have = s->taken < s->head_size ? s->head_size - s->taken : 0;
    size_t n = size_min(have, most);
    size_t rest = 0;
    tsr_status status;

    if (n)
        memcpy(to, s->head + s->taken, n);
    if (n < most && s->fd >= 0) {
        status = read_fully(s, (unsigned char *)to + n, most - n, &rest, err);
        if (status)
            return status;
    }
    s->taken += n + rest;
    *got = n + rest;
    return TSR_OK;
}

/* Replace *block, which holds `size` bytes, by one of `capacity`. */
static tsr_status enlarge(const input *s, void **block, size_t size, size_t capacity,
                          tsr_error *err)
{
    void *larger;
    tsr_status status = block_allocate(s->name, capacity, &larger, err);

    if (status)
        return status;
    if (size)
        memcpy(larger, *block, size);
    free(*block);
    *block = larger;
    return TSR_OK;
}

tsr_status input_take_block(input *s, size_t most, void **out, size_t *got, tsr_error *err)
{
    size_t left = s->sized && s->size > s->taken ? s->size - s->taken : FIRST_BLOCK;
    size_t capacity = size_min(most, left);
    size_t size = 0, n;
    void *block = NULL;
    tsr_status status = TSR_OK;

    while (size < most) {
        unsigned char probe;

        /* A full block grows only once another byte has come: a file of the
         * size that it claims takes exactly that. */
        status = input_take(s, &probe, 1, &n, err);
        if (status)
            goto cleanup;
        if (n == 0)
            break;
        if (block)
            capacity = capacity > most / 2 ? most : capacity * 2;
        status = enlarge(s, &block, size, capacity, err);
        if (status)
            goto cleanup;
        ((unsigned char *)block)[size++] = probe;
        status = input_take(s, (unsigned char *)block + size, capacity - size, &n, err);
        if (status)
            goto cleanup;
        size += n;
        if (size < capacity)
            break;
    }
    *out = block;
    *got = size;
    block = NULL; /* moved to the caller */

cleanup:
    free(block);
    return status;
}

void input_close(input *s)
{
    if (!s)
        return;
    if (s->fd >= 0 && s->fd != STDIN_FILENO)
        close(s->fd);
    free(s->owned);
    *s = (input){.fd = -1};
}
