/* A driver that ends the process which loads it, and says what NVIDIA's would find in the
 * environment. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave(void)
{
    const char *channels = getenv("CUDA_DEVICE_MAX_CONNECTIONS");

    fprintf(stderr, "channels: %s\n", channels ? channels : "as ever");
    _exit(66);
}
