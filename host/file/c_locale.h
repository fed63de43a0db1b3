/**
 * Numbers in files have a decimal point whatever locale the program has set.
 * uselocale() changes the calling thread alone, so nothing outside is touched.
 */
#ifndef FILE_C_LOCALE_H
#define FILE_C_LOCALE_H

#include <locale.h>
#include <stdbool.h>

typedef struct c_locale {
    locale_t c;
    locale_t before;
} c_locale;

/** Switch this thread to the C locale; false where memory is exhausted. */
static inline bool c_locale_enter(c_locale *l)
{
    l->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (l->c == (locale_t)0)
        return false;
    l->before = uselocale(l->c);
    return true;
}

/** Switch back. */
static inline void c_locale_leave(c_locale *l)
{
    uselocale(l->before);
    freelocale(l->c);
}

#endif
