/* Built as C and as C++ with every warning an error: each initialiser names every member of its
 * problem, sets alpha to 1 and all else to 0. */
#include <stdio.h>
#include <string.h>

#include <tessera/tessera.h>

static tsr_matmul_problem matmul = TSR_MATMUL_PROBLEM_INIT;
static tsr_matvec_problem matvec = TSR_MATVEC_PROBLEM_INIT;
static tsr_sort_problem sort = TSR_SORT_PROBLEM_INIT;
static tsr_topk_problem topk = TSR_TOPK_PROBLEM_INIT;
static tsr_segsort_problem segsort = TSR_SEGSORT_PROBLEM_INIT;
static tsr_reduce_problem reduce = TSR_REDUCE_PROBLEM_INIT;

static int is_zero(const void *bytes, size_t size)
{
    const unsigned char *byte = (const unsigned char *)bytes;

    for (size_t i = 0; i < size; i++)
        if (byte[i])
            return 0;
    return 1;
}

int main(void)
{
    char header[32];
    int failed = 0;

    if (matmul.alpha != 1.0 || matvec.alpha != 1.0) {
        printf("alpha is %g of matmul and %g of matvec\n", matmul.alpha, matvec.alpha);
        failed = 1;
    }
    matmul.alpha = 0;
    matvec.alpha = 0;
    if (!is_zero(&matmul, sizeof(matmul)) || !is_zero(&matvec, sizeof(matvec)) ||
        !is_zero(&sort, sizeof(sort)) || !is_zero(&topk, sizeof(topk)) ||
        !is_zero(&segsort, sizeof(segsort)) || !is_zero(&reduce, sizeof(reduce))) {
        printf("more than alpha is set\n");
        failed = 1;
    }
    snprintf(header, sizeof(header), "%d.%d.%d", TSR_VERSION_MAJOR, TSR_VERSION_MINOR,
             TSR_VERSION_PATCH);
    if (strcmp(tsr_version(), header) != 0) {
        printf("the library is %s and its headers %s\n", tsr_version(), header);
        failed = 1;
    }
    return failed;
}
