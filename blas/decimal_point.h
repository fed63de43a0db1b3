/**
 * Numbers of the log and of files have a decimal point, whatever the program's locale is.
 */
#ifndef BLAS_DECIMAL_POINT_H
#define BLAS_DECIMAL_POINT_H

#include <locale.h>

typedef struct decimal_point {
    locale_t c, programs;
} decimal_point;

/** From here on in this thread, until decimal_point_end(). */
static inline decimal_point decimal_point_begin(void)
{
    const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);

    return (decimal_point){c, uselocale(c)}; /* 0 changes nothing */
}

static inline void decimal_point_end(decimal_point numbers)
{
    uselocale(numbers.programs);
    if (numbers.c)
        freelocale(numbers.c);
}

#endif
