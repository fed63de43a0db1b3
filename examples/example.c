#include "example.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

tsr_status example_fail(tsr_error *err, tsr_status status, const char *format, ...)
{
    va_list arguments;

    if (err) {
        err->status = status;
        err->cl = 0;
        va_start(arguments, format);
        vsnprintf(err->message, sizeof(err->message), format, arguments);
        va_end(arguments);
    }
    return status;
}

int example_main(int argc, char **argv, const char *name, example_job *job)
{
    const char *wanted = argc > 2 ? argv[2] : NULL; /* NULL: TESSERA_DEVICE, else the best */
    tsr_devices *devices = NULL;
    const tsr_device *device = NULL; /* borrowed from devices */
    tsr_session *session = NULL;
    tsr_error err = {0};
    bool as_known = false;
    size_t found;
    tsr_status st;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "Usage: %s DATA_FOLDER [DEVICE]\n", name);
        return 2;
    }
    st = tsr_devices_find(&devices, &err);
    if (st == TSR_OK)
        st = tsr_devices_select(devices, wanted, &device, 1, &found, &err);
    if (st == TSR_OK)
        st = tsr_session_open(device, NULL, &session, &err);
    if (st == TSR_OK)
        st = job(session, device, argv[1], &as_known, &err);
    if (st != TSR_OK)
        fprintf(stderr, "%s: %s\n", name, err.message);
    tsr_session_close(session); /* before the list that its device is in */
    tsr_devices_close(devices);
    return st == TSR_OK && as_known ? EXIT_SUCCESS : EXIT_FAILURE;
}
