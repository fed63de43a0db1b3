/** A short, printable excerpt of what a file holds, for messages. */
#ifndef FILE_EXCERPT_H
#define FILE_EXCERPT_H

#include <stddef.h>

typedef struct excerpt {
    char text[44];
} excerpt;

/** The first 40 of `length` bytes, "..." where that is not all; unprintable bytes become '?'. */
excerpt excerpt_of(const char *bytes, size_t length);

#endif
