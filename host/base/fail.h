/** Recording a failure: the one place where messages are written. */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include "tessera/status.h"

/**
 * Fill *err (NULL allowed) with a status, OpenCL's code (0: none) and a
 * printf-style message of one line, and return the status.
 *
 * With an OpenCL code, its name and number are appended: "WHAT: CL_OUT_OF_RESOURCES (-5)".
 * Line ends in the message become spaces and control characters '?'.  One that is too long loses
 * its middle: it begins with what failed, a path often, and ends with the cause.
 */
tsr_status tsr_fail(tsr_error *err, tsr_status status, int cl, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Name of an OpenCL error code, such as "CL_OUT_OF_RESOURCES"; "unknown code" otherwise. Static.
 */
const char *cl_code_name(int code);

#endif
