/**
 * What a device can do, as plain data: everything that a variant may ask when
 * it decides whether and how it runs.  No OpenCL handle in it, so tests make
 * devices up.
 */
#ifndef DEVICE_FACTS_H
#define DEVICE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum device_kind { DEVICE_HOST, DEVICE_CPU, DEVICE_GPU, DEVICE_ACCELERATOR } device_kind;

/**
 * Features that drivers under- or over-report.  A probe compiles, runs and
 * checks each, once per device and driver (session/probe.h).
 */
typedef enum feature {
    FEATURE_FP16,             /* arithmetic on half */
    FEATURE_SUBGROUPS,        /* sub_group_reduce_add and its kin */
    FEATURE_PTX,              /* inline PTX assembly, NVIDIA */
    FEATURE_ASYNC_COPY,       /* copies to local memory beside the work-items, by inline PTX */
    FEATURE_LARGE_LOCAL,      /* static local memory beyond the reported limit, NVIDIA */
    FEATURE_WGMMA,            /* warp-group matrix instructions through a PTX retarget, NVIDIA */
    FEATURE_TENSOR_COPY,      /* boxes of matrices copied by the chip (TMA), likewise */
    FEATURE_DEVICE_SCOPE,     /* atomics that order what work-groups write */
    FEATURE_SUBGROUP_SHUFFLE, /* sub_group_shuffle_xor among eight work-items */
    FEATURE_LOAD_ONCE,        /* loads past the first-level cache, by inline PTX */
    FEATURE_REDUX,            /* a warp's minimum and maximum by one instruction, by inline PTX */
    FEATURE_COUNT
} feature;

/** Work-items that FEATURE_SUBGROUP_SHUFFLE lets hand values on: a sub-group has a multiple. */
enum { SHUFFLE_TEAM = 8 };

typedef enum feature_state { FEATURE_UNKNOWN = 0, FEATURE_NO, FEATURE_YES } feature_state;

typedef struct device_facts {
    device_kind kind;
    char name[128];
    char vendor[128];
    char platform[128];
    char platform_version[128]; /* "OpenCL 3.0 PoCL 5.0 ..." */
    char driver[128];
    unsigned cl_version;  /* of the device: 100 * major + 10 * minor: 120, 200, 300 */
    unsigned clc_version; /* highest OpenCL C that the device compiles, alike */
    size_t compute_units;
    size_t max_work_group; /* work-items in a work-group */
    size_t max_work_item[3];
    size_t local_memory;       /* bytes a work-group can use, as reported */
    bool local_memory_on_chip; /* false where local memory is carved out of global memory (CPUs) */
    uint64_t global_memory;    /* bytes */
    uint64_t max_allocation;   /* bytes of the largest buffer */
    size_t image_width, image_height; /* of the largest 2-D image; 0: it has none of one channel */
    bool fp64;
    bool denormals_f32; /* FP32 keeps denormal numbers */
    bool denormals_f64;
    bool unified_memory;    /* shares physical memory with the host */
    bool native_kernels;    /* a CPU of which a queue calls functions of the host */
    bool nvidia;            /* the vendor is NVIDIA */
    bool compiles_late;     /* a kernel is compiled when it is first launched, and its driver keeps
                               what it compiled: PoCL */
    unsigned nv_capability; /* compute capability as 10 * major + minor, 0 elsewhere */
    size_t warp_size;   /* work-items that run in step, as the driver reports it: a warp, wavefront
                           or sub-group; 1 on CPUs */
    size_t vector_bits; /* of a vector register for float, as the device reports it; 0 unknown */
    size_t subgroup_size; /* seen by the sub-group probe, 0 otherwise */
    size_t large_local;   /* bytes of local memory that the probe got, 0 otherwise */
    feature_state feature[FEATURE_COUNT];
    char feature_why[FEATURE_COUNT][96]; /* why a feature is absent, "" otherwise */
} device_facts;

/** Whether its work runs on the cores of the host. */
static inline bool is_host_processor(const device_facts *d)
{
    return d->kind == DEVICE_HOST || d->kind == DEVICE_CPU;
}

/** The name of a feature in output and cache: "fp16", "sub-groups", "inline PTX", "async
 * copies", "large local memory", "wgmma", "tensor copies", "device-scope atomics", "sub-group
 * shuffles", "loads past L1", "warp reductions". */
const char *feature_name(feature f);

#endif
