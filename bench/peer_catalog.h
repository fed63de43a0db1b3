/** The modules that there may be, and what brings the library of each. */
#ifndef BENCH_PEER_CATALOG_H
#define BENCH_PEER_CATALOG_H

typedef struct peer_catalog_entry {
    const char *module;  /* its file, without ".so" */
    const char *library; /* what it compares with */
    const char *package; /* Debian's and Ubuntu's package, or who else has it */
    const char *ops;     /* names of the operations that it knows, blanks between them */
} peer_catalog_entry;

/* Those on the device first: what a budget does not reach is then the host's. */
static const peer_catalog_entry peer_catalog[] = {
    {"peer_clblast", "CLBlast", "libclblast-dev", "matmul matvec"},
    {"peer_boost_compute", "Boost.Compute", "libboost-dev", "sort"},
    {"peer_cublas", "cuBLAS", "NVIDIA's CUDA toolkit", "matmul matvec"},
    {"peer_cub", "CUB", "NVIDIA's CUDA toolkit", "sort"},
    {"peer_openblas", "OpenBLAS", "libopenblas-dev", "matmul matvec"},
    {"peer_tbb", "parallel std::sort (TBB)", "libtbb-dev", "sort"},
    {"peer_std", "std::sort", "g++", "sort"},
    {"peer_vqsort", "vqsort", "libhwy-dev", "sort"},
};

enum { PEER_CATALOG_COUNT = sizeof(peer_catalog) / sizeof(peer_catalog[0]) };

#endif
