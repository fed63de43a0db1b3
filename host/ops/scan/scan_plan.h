/** What the plans of scan's general kernels share: cl/scan/scan.clh. */
#ifndef OPS_SCAN_PLAN_H
#define OPS_SCAN_PLAN_H

#include "ops/scan/scan_problem.h"

/** Bytes of a value that is combined. */
size_t scan_value_bytes(const tsr_scan_problem *p);

/** NULL and the -Ds of scan.clh, or why the device has no such elements. */
const char *scan_define(const job *j, plan *out);

#endif
