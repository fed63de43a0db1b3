#include "blas/xerbla.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/cpu.h"

int RowMajorStrg;
int CBLAS_CallFromC;

/* That of a library which the program is linked with, such as R's or a BLAS, and which comes behind
 * this one where this one is preloaded; else that of the CPU's BLAS. */
static void *next_handler(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    return symbol ? symbol : blas_cpu_symbol(name);
}

/* OpenBLAS prints and returns, the reference ends the program. */
void xerbla_(const char *name, const int *info, size_t length)
{
    void *symbol = next_handler("xerbla_");
    void (*f)(const char *, const int *, size_t);

    if (symbol) {
        memcpy(&f, &symbol, sizeof f);
        f(name, info, length);
        return;
    }
    fprintf(stderr, " ** On entry to %.*s parameter number %2d had an illegal value\n",
            (int)(length < 32 ? length : 32), name, *info);
    exit(EXIT_FAILURE);
}

void xerbla_array_(const char *name, const int *length, const int *info)
{
    xerbla_(name, info, *length > 0 ? (size_t)*length : 0);
}

int lsame_(const char *a, const char *b, size_t length_a, size_t length_b)
{
    const char lower_a = *a >= 'A' && *a <= 'Z' ? *a + ('a' - 'A') : *a;
    const char lower_b = *b >= 'A' && *b <= 'Z' ? *b + ('a' - 'A') : *b;

    (void)length_a;
    (void)length_b;
    return lower_a == lower_b;
}

/* The reference's and OpenBLAS's end the program. */
void cblas_xerbla(int info, const char *routine, const char *form, ...)
{
    void *symbol = next_handler("cblas_xerbla");
    void (*f)(int, const char *, const char *, ...);
    char text[512];
    va_list arguments;

    va_start(arguments, form);
    vsnprintf(text, sizeof text, form, arguments);
    va_end(arguments);
    if (symbol) {
        memcpy(&f, &symbol, sizeof f);
        f(info, routine, "%s", text);
        return;
    }
    if (info)
        fprintf(stderr, "Parameter %d to routine %s was incorrect\n", info, routine);
    fputs(text, stderr);
    exit(EXIT_FAILURE);
}
