/** How many work-items a compute unit of a device holds at once. */
#ifndef MEASURE_OCCUPANCY_H
#define MEASURE_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>

enum {
    OCCUPANCY_GROUP_MAX = 1024,    /* work-items of a group, and */
    OCCUPANCY_REGISTERS_MAX = 255, /* registers of one, that NVIDIA's devices have at most */
    OCCUPANCY_LOCAL_MAX = 1 << 20, /* bytes of local memory that are asked about at most */
    OCCUPANCY_WARP = 32            /* work-items of a warp: a group takes whole ones */
};

/** What a compute unit holds at once. */
typedef struct unit_capacity {
    size_t items, groups; /* work-items, and work-groups */
    size_t registers;     /* of 32 bits */
    size_t local;         /* bytes of local memory for all groups ... */
    size_t local_each;    /* ... of which each group takes these beside its own */
    size_t local_group;   /* of a group at most */
} unit_capacity;

/**
 * Of an NVIDIA device by its compute capability (10 * major + minor), from "CUDA
 * C++ Programming Guide", technical specifications per compute capability.
 * False, *out untouched, of others: OpenCL does not report it.
 */
bool occupancy_capacity(unsigned capability, unit_capacity *out);

/** The i-th compute capability that occupancy_capacity knows, in order; 0 behind the last. */
unsigned occupancy_capability_at(size_t i);

/**
 * The part of the unit's work-items that groups of a kernel can have at once, 0
 * to 1: an estimate, from what is given out as the CUDA occupancy calculator
 * does it.
 *
 * @param group      Work-items of a group.
 * @param registers  Of a work-item; 0: unknown, and not counted.
 * @param local      Bytes of local memory of a group.
 * @param bound      Receives what runs out first: "work-items", "groups",
 *                   "registers", "local memory".  A group of more local memory
 *                   than one may have does not fit at all.
 */
double occupancy_of(const unit_capacity *unit, size_t group, size_t registers, size_t local,
                    const char **bound);

/**
 * Registers of a work-item and bytes spilled, from the log of NVIDIA's compiler
 * (-cl-nv-verbose).  False, and both untouched, where it says nothing of the kernel.
 */
bool occupancy_read_log(const char *log, const char *kernel, size_t *registers, size_t *spilled);

#endif
