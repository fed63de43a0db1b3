/** The commands: what each does with its options.  Each returns an exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

int cmd_devices(const options *o);
int cmd_kernels(const options *o);
int cmd_run(const options *o); /* the operation that o->command names */
int cmd_verify(const options *o);
int cmd_bench(const options *o);
int cmd_roofline(const options *o);
int cmd_tune(const options *o);
int cmd_compare(const options *o);
int cmd_cache(const options *o);
int cmd_blas(const options *o); /* returns where the program cannot be run */

#endif
