/** The modules that there may be, and what brings the library of each. */
#ifndef BENCH_PEER_CATALOG_H
#define BENCH_PEER_CATALOG_H

#include "peer.h"

typedef struct peer_catalog_entry {
    const char *module;  /* its file, without ".so" */
    const char *library; /* what it compares with */
    const char *package; /* Debian's and Ubuntu's package, or who else has it */
    unsigned ops;        /* 1u << peer_op for each operation that it knows */
} peer_catalog_entry;

/* Those on the device first: what a budget does not reach is then the host's. */
static const peer_catalog_entry peer_catalog[] = {
    {"peer_clblast", "CLBlast", "libclblast-dev", 1u << PEER_MATMUL | 1u << PEER_MATVEC},
    {"peer_boost_compute", "Boost.Compute", "libboost-dev", 1u << PEER_SORT},
    {"peer_cublas", "cuBLAS", "NVIDIA's CUDA toolkit", 1u << PEER_MATMUL | 1u << PEER_MATVEC},
    {"peer_cub", "CUB", "NVIDIA's CUDA toolkit", 1u << PEER_SORT},
    {"peer_openblas", "OpenBLAS", "libopenblas-dev", 1u << PEER_MATMUL | 1u << PEER_MATVEC},
    {"peer_tbb", "parallel std::sort (TBB)", "libtbb-dev", 1u << PEER_SORT},
    {"peer_std", "std::sort", "g++", 1u << PEER_SORT},
    {"peer_vqsort", "vqsort", "libhwy-dev", 1u << PEER_SORT},
};

enum { PEER_CATALOG_COUNT = sizeof(peer_catalog) / sizeof(peer_catalog[0]) };

#endif
