/**
 * Processes that forked: a child has none of its parent's threads.
 *
 * OpenCL drivers wait for threads of theirs, and so would hang in a child of a
 * process that used them; a team of OpenMP would, too.
 */
#ifndef BASE_FORKS_H
#define BASE_FORKS_H

#include "tessera/status.h"

/** How many forks lie between the first process that asked and this one. */
unsigned forks_so_far(void);

/** From now on OpenCL is in use: in children of this process forks_check_opencl() fails. */
void forks_note_opencl(void);

/** TSR_EUNSUPPORTED where a process that this one was forked from has used OpenCL before. */
tsr_status forks_check_opencl(tsr_error *err);

/** What forks_check_opencl() says, of a session opened after `opened` forks. */
tsr_status forks_check_since(unsigned opened, tsr_error *err);

#endif
