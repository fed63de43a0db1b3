/** Making folders for what the library keeps. */
#ifndef BASE_FOLDERS_H
#define BASE_FOLDERS_H

#include <stdbool.h>

/** mkdir -p, each new folder for the user alone (mode 0700).  False with errno where one cannot be
 * made. */
bool folders_make(const char *path);

#endif
