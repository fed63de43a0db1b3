/* A driver that ends the process which loads it. */
#include <unistd.h>

__attribute__((constructor)) static void leave(void)
{
    _exit(66);
}
