/** Host memory that a device copies from and to by itself, at the full rate of the link. */
#ifndef SESSION_PINNED_H
#define SESSION_PINNED_H

#include <stdbool.h>

#include "session/state.h"

/** A block of it.  OpenCL has it as a buffer that is mapped as long as it lives. */
typedef struct pinned {
    cl_mem buffer;
    unsigned char *at;
    size_t bytes;
} pinned;

/** TSR_OK, TSR_ECL; on a host without a queue TSR_EUNSUPPORTED.  The caller drops it. */
tsr_status pinned_take(tsr_session *s, size_t bytes, pinned *out, tsr_error *err);

/** Give it back; one that is zero is allowed. */
void pinned_drop(tsr_session *s, pinned *p);

/** Whether all these bytes lie in one block that the caller has from tsr_pinned_alloc. */
bool pinned_holds(const tsr_session *s, const void *at, size_t bytes);

/** Give back what the caller has not freed. */
void pinned_release(tsr_session *s);

#endif
