/**
 * Where the bytes of an input come from: a file, standard input or memory.
 *
 * The first bytes are at hand before anything is taken, so that the content
 * can be recognised and a header checked before memory is spent on the rest.
 */
#ifndef FILE_INPUT_H
#define FILE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/status.h"

/** Bytes of a file that input.head shows, where the file has as many. */
enum { SOURCE_HEAD = 1 << 17 };

typedef struct input {
    const char *name;          /* in messages; borrowed */
    int fd;                    /* -1 where head is all there is */
    bool sized;                /* size is known */
    size_t size;               /* bytes in all */
    const unsigned char *head; /* the first bytes */
    size_t head_size;
    size_t taken;         /* bytes that input_take gave out */
    unsigned char *owned; /* memory of head, or NULL */
} input;

/**
 * Open a file for reading, "-" being standard input, and read its head.
 *
 * @param path  Borrowed until input_close.
 * @param s     Receives the input; the caller closes it.
 * @return TSR_OK, TSR_ENOMEM, or TSR_EFILE where it cannot be read, is a directory or is empty.
 */
tsr_status input_open(const char *path, input *s, tsr_error *err);

/** An input over `size` bytes of memory, which stay the caller's. */
input input_of_memory(const char *name, const unsigned char *bytes, size_t size);

/** Take the next bytes: `most`, or fewer where the input ends; *got says how many. */
tsr_status input_take(input *s, void *to, size_t most, size_t *got, tsr_error *err);

/**
 * Take the next `most` bytes, or all there are, into memory aligned to 64.
 *
 * Memory grows with what arrives, not with what is asked for.
 *
 * @param out  Receives the memory, which the caller frees; NULL where nothing was left.
 * @param got  Receives the number of bytes.
 * @return TSR_OK, TSR_EFILE, TSR_EOVERFLOW beyond physical memory, TSR_ENOMEM.
 */
tsr_status input_take_block(input *s, size_t most, void **out, size_t *got, tsr_error *err);

/** Close the file.  NULL is allowed. */
void input_close(input *s);

#endif
