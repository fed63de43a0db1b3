/** Tuning files: where they are, what is in them, and how they are written. */
#ifndef CORE_TUNING_FILE_H
#define CORE_TUNING_FILE_H

#include "core/tuning.h"

#define TUNING_SCHEMA "tessera-tuning-1"

/** The user's folder, whether it exists or not; "" where the environment names none. */
void tuning_folder(text *out);

/**
 * What is read: an entry, or (t is NULL) the file or the entry of it that is
 * ignored, and why.
 *
 * @return false to stop.
 */
typedef bool tuning_visit(const tuning *t, const char *file, const char *ignored, void *context);

/**
 * Read the tuning files of an operation, the user's and then the embedded ones.
 *
 * @param problem_class  Files that are known by their name to be of another class are not opened.
 *                       NULL: every file.
 */
void tuning_read(const operation *op, const char *problem_class, tuning_visit *visit,
                 void *context);

/** Read one text of entries; `embedded` and `where` go into each. */
void tuning_read_text(const operation *op, const char *source, size_t size, const char *where,
                      bool embedded, tuning_visit *visit, void *context);

/** The text of a file that holds these entries, with its line end. */
tsr_status tuning_write_text(const tuning *entries, size_t count, text *out, tsr_error *err);

/** Whether the user's folder is there, or can be made, and can be written: TSR_EFILE where not.
 *  Makes nothing. */
tsr_status tuning_check_folder(tsr_error *err);

/**
 * Store an entry in the user's folder, replacing the one of its device, driver,
 * op and class.  The file appears whole or not at all; concurrent stores do no harm.
 *
 * @param where  Receives the path, where it is not NULL.
 */
tsr_status tuning_store(const tuning *t, text *where, tsr_error *err);

/** How many entries this process has stored. */
unsigned tuning_stored(void);

#endif
