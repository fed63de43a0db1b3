/** The commands: what each does with its options.  Each returns an exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <limits.h>

#include "base/text.h"
#include "cli/options.h"
#include "tessera/status.h"

int cmd_devices(const options *o);
int cmd_kernels(const options *o);
int cmd_run(const options *o); /* the operation that o->command names */
int cmd_verify(const options *o);
int cmd_bench(const options *o);
int bench_overlap(const options *o); /* `bench overlap`: copies that hide behind compute */
int cmd_roofline(const options *o);
int cmd_tune(const options *o);
int cmd_compare(const options *o);
int cmd_cache(const options *o);
int cmd_lab(const options *o);
int cmd_lesson(const options *o);
void lesson_names(text *out); /* append ", first, second or third" */
int cmd_course(const options *o);
int cmd_occupancy(const options *o);
int cmd_diagnose(const options *o);
int cmd_trace(const options *o);
int cmd_blas(const options *o); /* returns where the program cannot be run */
int tune_blas(const options *o);
int tune_blas_help(void);

/** libtessera-blas: in the folder of this program, as it is built, or where it is installed. */
tsr_status blas_library_find(char out[PATH_MAX], tsr_error *err);

#endif
