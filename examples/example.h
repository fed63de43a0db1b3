/**
 * What the examples share: choosing a device, opening a session on it, and
 * printing what failed.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdbool.h>

#include "tessera/tessera.h"

/**
 * What one example does, on `device` through `session`.
 *
 * @param folder    The folder data/.
 * @param as_known  Receives whether the result is the known one.
 */
typedef tsr_status example_job(tsr_session *session, const tsr_device *device, const char *folder,
                               bool *as_known, tsr_error *err);

/**
 * The main() of an example `name`, of which the usage is "name DATA_FOLDER [DEVICE]".
 *
 * DEVICE is as in tsr_devices_select.  A failure goes to standard error.
 *
 * @return an exit status: EXIT_SUCCESS only where the result is the known one;
 *         2 where the usage is another.
 */
int example_main(int argc, char **argv, const char *name, example_job *job);

/** Fill in *err as the library's calls do, with a message in printf's way.  Returns status. */
tsr_status example_fail(tsr_error *err, tsr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
