/** Status codes and the error record that every fallible call of the library fills in. */
#ifndef TESSERA_STATUS_H
#define TESSERA_STATUS_H

#include "tessera/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_status {
    TSR_OK = 0,
    TSR_EINVAL,       /* an argument, shape, stride or overlap rule is broken */
    TSR_ENAME,        /* no device, variant, tunable, value or operation has this name */
    TSR_EOVERFLOW,    /* a count or byte size exceeds size_t or what the device holds */
    TSR_ENOMEM,       /* host memory is exhausted */
    TSR_EFILE,        /* a file cannot be read, is malformed, or cannot be written */
    TSR_EUNSUPPORTED, /* the variant cannot run this problem on this device */
    TSR_EBUILD,       /* the device's compiler refused a kernel */
    TSR_ECL,          /* any other OpenCL failure; its code is in tsr_error.cl */
    TSR_ENODEVICE,    /* no usable OpenCL device */
    TSR_EBOUND        /* a result is outside the bound that its operation promises */
} tsr_status;

/**
 * What failed, in one line.  The caller owns it; every call that takes one
 * accepts NULL.  Calls write it only when they fail.
 */
typedef struct tsr_error {
    tsr_status status;
    int cl;             /* OpenCL's error code, 0 where none is involved */
    char message[1024]; /* one line, no newline at its end */
} tsr_error;

/**
 * Name of a status code, such as "TSR_EBUILD".  Static.
 *
 * @param status  What a call returned.
 */
TSR_API const char *tsr_status_name(tsr_status status);

#ifdef __cplusplus
}
#endif
#endif
