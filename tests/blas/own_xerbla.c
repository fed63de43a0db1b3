/* Error handlers of a program, which record the arguments that they receive: for
 * illegal_calls.py. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern int RowMajorStrg, CBLAS_CallFromC;
extern char received[256];

char received[256];

void xerbla_(const char *name, const int *info, size_t length);
void cblas_xerbla(int info, const char *routine, const char *form, ...);

void xerbla_(const char *name, const int *info, size_t length)
{
    snprintf(received, sizeof received, "xerbla '%.*s' %d%s%s", (int)length, name, *info,
             CBLAS_CallFromC ? " from C" : "", RowMajorStrg ? " row-major" : "");
}

void cblas_xerbla(int info, const char *routine, const char *form, ...)
{
    va_list arguments;
    size_t at = (size_t)snprintf(received, sizeof received, "cblas_xerbla '%s' %d%s: ", routine,
                                 info, RowMajorStrg ? " row-major" : "");

    va_start(arguments, form);
    vsnprintf(received + at, sizeof received - at, form, arguments);
    va_end(arguments);
    received[strcspn(received, "\n")] = '\0';
}
