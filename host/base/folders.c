#include "base/folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
