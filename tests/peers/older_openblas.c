/* Loaded before OpenBLAS, has it say that it takes the processor for an old one, but where
 * OPENBLAS_CORETYPE names another that it has. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *openblas_get_corename(void);

char *openblas_get_corename(void)
{
    static char older[] = "Prescott";
    char *(*real)(void) = NULL;
    const char *set = getenv("OPENBLAS_CORETYPE");
    void *library = set ? dlopen("libopenblas.so.0", RTLD_NOW) : NULL;
    void *found = library ? dlsym(library, "openblas_get_corename") : NULL;

    memcpy(&real, &found, sizeof(found));
    return real && !strcasecmp(real(), set) ? real() : older;
}
