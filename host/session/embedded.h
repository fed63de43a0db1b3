/** Files of the source tree that the build puts into the library (cmake/embed.cmake). */
#ifndef SESSION_EMBEDDED_H
#define SESSION_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *name; /* without folder: "OP/OP_VARIANT.cl" */
    const char *text; /* NUL-terminated */
} embedded_file;

/** Kernel sources: cl/. */
extern const embedded_file embedded_files[];
extern const size_t embedded_file_count;

/** Tuning files: data/tuning/. */
extern const embedded_file embedded_tunings[];
extern const size_t embedded_tuning_count;

/** Courses: data/course/.  Of the command alone. */
extern const embedded_file embedded_courses[];
extern const size_t embedded_course_count;

#endif
