/* Built as C and as C++ with every warning an error: each initialiser names every member of its
 * problem, sets alpha to 1, of pictures three channels of uint8, and all else to 0. */
#include <stdio.h>
#include <string.h>

#include <tessera/tessera.h>

static tsr_matmul_problem matmul = TSR_MATMUL_PROBLEM_INIT;
static tsr_matvec_problem matvec = TSR_MATVEC_PROBLEM_INIT;
static tsr_sort_problem sort = TSR_SORT_PROBLEM_INIT;
static tsr_topk_problem topk = TSR_TOPK_PROBLEM_INIT;
static tsr_segsort_problem segsort = TSR_SEGSORT_PROBLEM_INIT;
static tsr_reduce_problem reduce = TSR_REDUCE_PROBLEM_INIT;
static tsr_scan_problem scan = TSR_SCAN_PROBLEM_INIT;
static tsr_select_problem selection = TSR_SELECT_PROBLEM_INIT;
static tsr_axpy_problem axpy = TSR_AXPY_PROBLEM_INIT;
static tsr_histogram_problem histogram = TSR_HISTOGRAM_PROBLEM_INIT;
static tsr_transpose_problem transpose = TSR_TRANSPOSE_PROBLEM_INIT;
static tsr_grayscale_problem grayscale = TSR_GRAYSCALE_PROBLEM_INIT;

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

    if (matmul.alpha != 1.0 || matvec.alpha != 1.0 || axpy.alpha != 1.0) {
        printf("alpha is %g of matmul, %g of matvec and %g of axpy\n", matmul.alpha, matvec.alpha,
               axpy.alpha);
        failed = 1;
    }
    if (grayscale.type != TSR_U8 || grayscale.channels != 3) {
        printf("grayscale has %zu channels of %s\n", grayscale.channels,
               tsr_type_name(grayscale.type));
        failed = 1;
    }
    matmul.alpha = 0;
    matvec.alpha = 0;
    axpy.alpha = 0;
    grayscale.type = TSR_F32;
    grayscale.channels = 0;
    if (!is_zero(&matmul, sizeof(matmul)) || !is_zero(&matvec, sizeof(matvec)) ||
        !is_zero(&sort, sizeof(sort)) || !is_zero(&topk, sizeof(topk)) ||
        !is_zero(&segsort, sizeof(segsort)) || !is_zero(&reduce, sizeof(reduce)) ||
        !is_zero(&scan, sizeof(scan)) || !is_zero(&selection, sizeof(selection)) ||
        !is_zero(&axpy, sizeof(axpy)) || !is_zero(&histogram, sizeof(histogram)) ||
        !is_zero(&transpose, sizeof(transpose)) || !is_zero(&grayscale, sizeof(grayscale))) {
        printf("more is set\n");
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
