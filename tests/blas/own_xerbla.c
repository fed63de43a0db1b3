/* A program's own handlers of illegal arguments: they keep what they are told, for
 * illegal_calls.py. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern int RowMajorStrg, CBLAS_CallFromC;
extern char told[256];

char told[256];

void xerbla_(const char *name, const int *info, size_t length);
void cblas_xerbla(int info, const char *routine, const char *form, ...);

void xerbla_(const char *name, const int *info, size_t length)
{
    snprintf(told, sizeof told, "xerbla '%.*s' %d%s%s", (int)length, name, *info,
             CBLAS_CallFromC ? " from C" : "", RowMajorStrg ? " row-major" : "");
}

void cblas_xerbla(int info, const char *routine, const char *form, ...)
{
    va_list arguments;
    size_t at = (size_t)snprintf(told, sizeof told, "cblas_xerbla '%s' %d%s: ", routine, info,
                                 RowMajorStrg ? " row-major" : "");

    va_start(arguments, form);
    vsnprintf(told + at, sizeof told - at, form, arguments);
    va_end(arguments);
    told[strcspn(told, "\n")] = '\0';
}
