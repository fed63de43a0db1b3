/**
 * A kernel that writes down what it does: its own source, with a record made at each access.
 *
 * The text is changed where a subscript of a pointer to global or local memory is read or written,
 * where an atomic function of OpenCL C 2.0 is called, and at barriers; nothing else.  So kernels
 * are traced as they stand, also a changed copy, and lessons need no kernels of their own.
 *
 * A record is LESSON_WORDS words: the work-item's number in the launch, a code (kind, type, file
 * and line of the source), an address in two words, the value, and a word more.  Records follow
 * LESSON_HEAD words, of which the first counts them and the second is how many there is room for.
 */
#ifndef MEASURE_LESSON_SOURCE_H
#define MEASURE_LESSON_SOURCE_H

#include <stddef.h>

#include "base/text.h"
#include "tessera/status.h"

enum { LESSON_WORDS = 6, LESSON_HEAD = 2, LESSON_FILES_MAX = 32, LESSON_WATCHED_MAX = 8 };

/* Bytes of a file's name, which may be a path of the user's; a longer one is cut. */
enum { LESSON_NAME_SIZE = 1024 };

/** What a record says. */
typedef enum lesson_kind {
    LESSON_LOAD = 1,
    LESSON_STORE,
    LESSON_BARRIER,  /* the work-item has come to it */
    LESSON_VALUE,    /* a watched variable is set; the address is its number and, of an array, its
                       subscript */
    LESSON_ARGUMENT, /* where a pointer argument points to; the value is its number */
    LESSON_LOCAL     /* where an array in local memory begins; the value has its bytes, the word
                       more those of a row and of an element: 16 bits each.  Of an argument the value
                       is its number with LESSON_LOCAL_ARGUMENT */
} lesson_kind;

#define LESSON_LOCAL_ARGUMENT 0x80000000u

/** In the word more of a load or store, beside its bytes: with the record before one access. */
#define LESSON_JOINED 0x10000u

/** Types of elements as far as they are shown: other integers count as unsigned. */
typedef enum lesson_type { LESSON_UNSIGNED, LESSON_SIGNED, LESSON_FLOAT } lesson_type;

/** Beside the type in a code: the address is one of local memory. */
enum { LESSON_IN_LOCAL = 8 };

/* The parts of a code. */
#define LESSON_CODE(kind, type, file, line)                                                        \
    ((unsigned)(kind) << 28 | (unsigned)(type) << 24 | (unsigned)(file) << 16 | (unsigned)(line))
#define LESSON_CODE_KIND(code)  ((code) >> 28)
#define LESSON_CODE_TYPE(code)  ((code) >> 24 & 0x7)
#define LESSON_CODE_LOCAL(code) ((code) >> 24 & LESSON_IN_LOCAL)
#define LESSON_CODE_FILE(code)  ((code) >> 16 & 0xFF)
#define LESSON_CODE_LINE(code)  ((code)&0xFFFF)

/** A variable of a kernel whose values are recorded, and its type in OpenCL C; or a function of two
 *  arguments, whose results are, with the second of them as the subscript.  "uint as float": the
 *  bits of a float, as warps exchange them. */
typedef struct lesson_watched {
    const char *name, *type;
} lesson_watched;

typedef struct lesson_wanted {
    lesson_watched watched[LESSON_WATCHED_MAX];
    size_t watched_count;
    size_t without_barrier; /* number of the barrier in the first file, from 1 on, that is left out.
                               Local memory then holds NaN before it is written.  0: none is */
    size_t of_barriers;     /* how many the file has to have for that number to mean one of them;
                               0: any */
} lesson_wanted;

/** An array in local memory, by where its declaration stands. */
typedef struct lesson_array {
    char name[64];
    unsigned file, line;
    lesson_type type;
} lesson_array;

typedef struct recorded_source {
    text text;                                     /* what is to be compiled */
    char file[LESSON_FILES_MAX][LESSON_NAME_SIZE]; /* names of the files, file_count of them */
    text lines[LESSON_FILES_MAX];                  /* their text, but for #include lines */
    size_t file_count;
    lesson_array *locals; /* local_count of them */
    size_t local_count;
    unsigned removed; /* the line whose barrier was left out; 0: none was */
} recorded_source;

/**
 * Make a kernel file record what it does.  Every kernel then takes a further argument behind its
 * own: the buffer of records.
 *
 * @param source  As source_read gives it.
 * @param out     Receives the text; free with recorded_source_free, also on failure.
 * @return TSR_OK; TSR_ENAME where the file has no such barrier; TSR_EINVAL; TSR_ENOMEM.
 */
tsr_status lesson_source(const char *source, const lesson_wanted *wanted, recorded_source *out,
                         tsr_error *err);

void recorded_source_free(recorded_source *t);

#endif
