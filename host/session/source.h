/** Kernel sources: embedded in the library, or read from a folder; or embedded but for one. */
#ifndef SESSION_SOURCE_H
#define SESSION_SOURCE_H

#include <stdbool.h>

#include "base/text.h"
#include "tessera/status.h"

/**
 * Text of one kernel file with its `#include "x.clh"` lines expanded, each
 * file once, with #line directives so that compiler messages name the file.
 *
 * @param folder  Read from here; "" or NULL: the embedded sources; "OP/OP_IDEA.cl=PATH": these,
 * with the file at PATH in place of one.
 * @return TSR_OK, TSR_EFILE or TSR_ENOMEM.
 */
tsr_status source_read(const char *folder, const char *file, text *out, tsr_error *err);

/**
 * Check what sources are to be read from before any is: a folder, or "SOURCE=PATH", of a source
 * that the library has and a file that can be read.  A folder of such a name is one.
 *
 * @return TSR_OK, also for NULL and ""; TSR_EFILE.
 */
tsr_status source_check(const char *folder, tsr_error *err);

/** The PATH of "SOURCE=PATH" where SOURCE is this file; else NULL. */
const char *source_replacement(const char *folder, const char *file);

/**
 * Leave kernels out that are not to run: compilers take as long for each as for one that is, up to
 * seconds in all.  A kernel begins with a line `__kernel` and ends with a line `}`; empty lines
 * take its place.  One that holds the end of an #if before it, or its #else, stays.
 *
 * @param runs  Names of those that stay, each after a space; "": all.
 * @return TSR_OK or TSR_ENOMEM.
 */
tsr_status source_keep(text *source, const char *runs, tsr_error *err);

#endif
