/**
 * Tuned parameters: which variant and values are fastest for a device and a
 * class of problems, as `tessera tune` found them.
 *
 * Entries come from the user's folder ($TESSERA_TUNING_DIR, else
 * $XDG_CONFIG_HOME/tessera/tuning, else ~/.config/tessera/tuning) and from
 * data/tuning/ embedded in the library.  A look-up tries the device's name and
 * driver, its name, its family ("sm_90", "cpu haswell"...), its vendor, entries
 * for every device, and gives up: the caller then uses operation.prefer.  At
 * each of these levels entries of the problem's class go before those of every
 * class, and the user's before the embedded ones.
 *
 * No state: every call reads what is there now.  core/tuning_memo.h remembers for
 * a session.  The format of the files: data/tuning/README.md.
 */
#ifndef CORE_TUNING_H
#define CORE_TUNING_H

#include "core/variant.h"

typedef struct tuning {
    char op[16];
    char problem_class[64]; /* operation.classify; "" fits every class */
    char variant[32];
    char parameters[160]; /* "TILE=16 ITEMS=4" */
    char device[128], driver[128], family[64], vendor[128];
    char kind[16];        /* "cpu", "gpu", "accelerator", "host" */
    char problem[128];    /* what was timed: "1024x1024x1024 float32" */
    double median_ns;     /* of it */
    char faster_than[32]; /* the C code (operation.prefer_c) that calls on arrays were measured to
                             be slower with; "": none, and C code goes before this kernel */
    char where[256];      /* the file it came from: a path, or a name where it is embedded */
    bool embedded;
    char level[16]; /* which step of the look-up found it: "device", "name", "family", "vendor",
                       "default" */
} tuning;

/** Every entry that fits a problem on a device, best first; *out is malloced and the caller's.
 *  Returns their number: 0 where memory runs out, too. */
size_t tuning_candidates(const problem *p, const device_facts *d, tuning **out);

/** The best entry of each class of an operation that has one for this device; as above. */
size_t tuning_in_force(const operation *op, const device_facts *d, tuning **out);

/** Report each file of the user's in which a look-up for a problem on a device passes something
 *  over: it cannot be read, or an entry is broken or stale.  Once a file, with the first reason. */
void tuning_trouble(const problem *p, const device_facts *d,
                    void (*report)(const char *file, const char *why, void *context),
                    void *context);

/** Fill in whose entry it is: device, driver, family, vendor and kind. */
void tuning_owner(const device_facts *d, tuning *out);

/** "NAME=VALUE ..." over a variant's defaults; TSR_ENAME where one is not legal any more. */
tsr_status tuning_params(const variant *v, const char *parameters, params *out, tsr_error *err);

/** NULL, or why an entry names what its operation does not have any more; kept in *reason. */
const char *tuning_stale(const operation *op, const tuning *t, text *reason);

/** The family of a device: "sm_90" for NVIDIA, "gfx90a" for AMD, "cpu haswell" where PoCL says so,
 *  "" where nothing says. */
void tuning_family(const device_facts *d, char *out, size_t size);

#endif
