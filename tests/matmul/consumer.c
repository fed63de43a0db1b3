/* Multiplies two small matrices on the device `host`, and prints the library's version and the
 * product. */
#include <stdio.h>

#include <tessera/tessera.h>

int main(void)
{
    tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
    double c[4];
    const tsr_device *device;
    tsr_devices *list = NULL;
    tsr_session *session = NULL;
    tsr_error err = {0};
    size_t n;
    int failed = 1;

    p.type = TSR_F64;
    p.m = p.n = 2;
    p.k = 3;
    if (tsr_devices_find(&list, &err) || tsr_devices_select(list, "host", &device, 1, &n, &err) ||
        tsr_session_open(device, NULL, &session, &err) ||
        tsr_matmul(session, &p, a, b, c, NULL, NULL, &err)) {
        fprintf(stderr, "%s\n", err.message);
        goto cleanup;
    }
    printf("%s\n", tsr_version());
    printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
    failed = 0;

cleanup:
    tsr_session_close(session);
    tsr_devices_close(list);
    return failed;
}
