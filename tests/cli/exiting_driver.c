/* A driver that ends the process which loads it, and says what NVIDIA's would find in the
 * environment. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave(void)
{
    const char *channels = getenv("CUDA_DEVICE_MAX_CONNECTIONS");

    dprintf(STDERR_FILENO, "channels: %s\n", channels ? channels : "as ever");
    _exit(66);
}
