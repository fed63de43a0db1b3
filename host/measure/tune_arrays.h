/** Whether what a search found is faster on arrays than the C code that calls run there. */
#ifndef MEASURE_TUNE_ARRAYS_H
#define MEASURE_TUNE_ARRAYS_H

#include "measure/tune.h"

/** Compare found->best with the C code of a CPU device (dispatch_c_code), by whole calls on arrays
 *  of each of these problems, and set what tune_result says of it.  Does nothing where there is no
 *  such code, or the best is no kernel. */
tsr_status tune_on_arrays(tsr_session *s, const problem *problems, size_t count,
                          const tune_options *o, tune_result *found, tsr_error *err);

#endif
