/** Work that nobody waits for but the end of the process. */
#ifndef BASE_BACKGROUND_H
#define BASE_BACKGROUND_H

#include <stdbool.h>

/**
 * Do something on a thread of its own.  The process waits for it when it ends, so that neither a
 * driver nor the library is unloaded meanwhile; a forked child has none of the threads and waits
 * for none.
 *
 * @param work  Is called with `with`, which is its own, and no signal reaches it.
 * @return false where no thread can be had: nothing was called.
 */
bool background_start(void (*work)(void *with), void *with);

#endif
