/** Files and folders that the library keeps for itself, and the small files that it is given. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/** mkdir -p, each new folder for the user alone (mode 0700).  False with errno where one cannot be
 * made. */
bool folders_make(const char *path);

/**
 * Whether nobody but the user and root can change what a folder's path leads to.
 *
 * The folder must be the user's and writable by nobody else; each folder above it must belong to
 * the user or root and be writable by no others, unless its sticky bit keeps them from renaming
 * what is not theirs (/tmp).  False, and `why` names the folder.
 */
bool folders_trusted(const char *path, text *why);

/** Who may have written a file that is read. */
typedef enum file_writer { FILE_OF_ANYBODY, FILE_OF_USER } file_writer;

/**
 * Read a whole regular file of at most `max` bytes.
 *
 * A pipe, a socket, a device or a link to one is refused at once: opening never waits.
 * FILE_OF_USER refuses what belongs to another user or what others can write, too.
 *
 * @param out  Receives the bytes, malloced, and a NUL behind them.
 * @return false, and `why`, where it cannot be read.
 */
bool file_read(const char *path, size_t max, file_writer writer, char **out, size_t *size,
               text *why);

#endif
