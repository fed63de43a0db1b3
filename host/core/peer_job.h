/** A problem as peers take it (bench/peer.h). */
#ifndef CORE_PEER_JOB_H
#define CORE_PEER_JOB_H

#include <bench/peer.h>

#include "core/operation.h"

typedef struct peer_job {
    peer_problem problem; /* type, operands, sets and device are the caller's to set */
    unsigned second;      /* the operand that the second array of peer.result is */
    void *owned;          /* what the problem points to, malloced and the caller's; or NULL */
} peer_job;

#endif
