/**
 * Tuned parameters: which variant and values are fastest for a device and a
 * class of problems, as `tessera tune` found them.
 *
 * Entries come from the user's folder ($TESSERA_TUNING_DIR, else
 * $XDG_CONFIG_HOME/tessera/tuning, else ~/.config/tessera/tuning) and from
 * data/tuning/ embedded in the library; the user's go first.  A look-up tries
 * the device's name and driver, its name, its family ("sm_90", "cpu avx2"...),
 * its vendor, and gives up: the caller then uses operation.prefer.
 */
#ifndef OPS_TUNING_H
#define OPS_TUNING_H

#include "ops/variant.h"

typedef struct tuning {
    char op[16];
    char problem_class[64]; /* operation.classify; "" fits every class */
    char variant[32];
    char parameters[160]; /* "TILE=16 ITEMS=4" */
    char device[128], driver[128], family[64], vendor[128];
    char where[256]; /* file it came from, or "embedded" */
    char level[16];  /* which step of the look-up found it: "device", "family", "vendor" */
    double median_ns;
} tuning;

/** The best entry for a problem on a device.  False where there is none. */
bool tuning_find(const problem *p, const device_facts *d, tuning *out);

/** Store an entry in the user's folder, replacing the one of its device, driver, op and class. */
tsr_status tuning_store(const tuning *t, tsr_error *err);

/** "NAME=VALUE ..." over a variant's defaults; TSR_ENAME where one is not legal any more. */
tsr_status tuning_params(const variant *v, const char *parameters, params *out, tsr_error *err);

/** The family of a device: "sm_90" for NVIDIA, vendor and vector width for CPUs. */
void tuning_family(const device_facts *d, char *out, size_t size);

#endif
