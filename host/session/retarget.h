/**
 * Instructions that NVIDIA's OpenCL compiler refuses, though its assembler knows them.
 *
 * It compiles for .target sm_90, and wgmma wants sm_90a.  A kernel therefore writes such an
 * instruction into its inline assembly as a PTX comment,
 *
 *     "//@sm_90a wgmma.commit_group.sync.aligned;"
 *
 * with its operands, which the compiler fills in all the same.  A program with marked lines is
 * built twice: from source, and from the PTX of that, with the marks taken off and the target
 * raised.  The second is what runs and what the cache keeps.
 */
#ifndef SESSION_RETARGET_H
#define SESSION_RETARGET_H

#include <stdbool.h>

#include "base/text.h"
#include "tessera/status.h"

enum { RETARGET_NAME = 16 };

/** The target that the first mark of a source names ("sm_90a"); false where nothing is marked. */
bool retarget_wanted(const char *source, char target[RETARGET_NAME]);

/**
 * PTX for another target: marks off, `.target sm_NN,` raised, and after each `.reqntid` a
 * `.minnctapersm 1`, by which a work-item gets as many registers as one work-group leaves it; or
 * 2 to 9, where the text has a comment `//@groups 2`, as many as so many work-groups leave.
 *
 * @return TSR_OK; TSR_EUNSUPPORTED where the text is no PTX for the target's chip, or has no mark;
 *         TSR_ENOMEM.
 */
tsr_status retarget_ptx(const char *ptx, const char *target, text *out, tsr_error *err);

#endif
