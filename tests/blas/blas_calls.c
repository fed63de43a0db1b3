/*
 * A program that is linked with libtessera-blas: every routine of level 3, of all types, on the
 * device that the environment names, beside the CPU's BLAS alone; from threads, and in a child of
 * the process.  Matrices are as long as the call says and no longer, for address sanitizers.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tessera/blas.h"

enum { SKIPPED = 77, THREADS = 3, CHILD_SECONDS = 60 };

/* Sizes of a call: m x n and m x k, more than a block (TESSERA_BLAS_BLOCK) each way. */
enum { M = 21, N = 13, K = 17 };

typedef void gemm_function(const char *, const char *, const int *, const int *, const int *,
                           const void *, const void *, const int *, const void *, const int *,
                           const void *, void *, const int *, size_t, size_t);
typedef void symm_function(const char *, const char *, const int *, const int *, const void *,
                           const void *, const int *, const void *, const int *, const void *,
                           void *, const int *, size_t, size_t);
typedef void syrk_function(const char *, const char *, const int *, const int *, const void *,
                           const void *, const int *, const void *, void *, const int *, size_t,
                           size_t);
typedef void syr2k_function(const char *, const char *, const int *, const int *, const void *,
                            const void *, const int *, const void *, const int *, const void *,
                            void *, const int *, size_t, size_t);
typedef void trmm_function(const char *, const char *, const char *, const char *, const int *,
                           const int *, const void *, const void *, const int *, void *,
                           const int *, size_t, size_t, size_t, size_t);

/* One matrix of each size in memory of its own. */
typedef struct matrices {
    void *a, *b, *c;
} matrices;

static size_t element_size(char type)
{
    return type == 's' ? 4 : type == 'z' ? 16 : 8;
}

/* Numbers from -1 to 1; the diagonal of a square matrix dominates, for solving. */
static void *fill(char type, int rows, int columns, unsigned *seed)
{
    const int parts = type == 'c' || type == 'z' ? 2 : 1;
    const bool wide = type == 'd' || type == 'z';
    void *memory = malloc((size_t)rows * (size_t)columns * element_size(type));

    for (int i = 0; memory && i < rows * columns * parts; i++) {
        const bool diagonal = rows == columns && i % parts == 0 && i / parts % (rows + 1) == 0;
        double x;

        *seed = *seed * 1103515245u + 12345u;
        x = (double)(*seed >> 16 & 0x7fff) / 16384 - 1 + (diagonal ? 9 : 0);
        if (wide)
            ((double *)memory)[i] = x;
        else
            ((float *)memory)[i] = (float)x;
    }
    return memory;
}

/* A routine by its name, of the library that this program is linked with or of another. */
static void *routine_of(void *library, char type, const char *name)
{
    char symbol[16];

    snprintf(symbol, sizeof symbol, "%c%s_", type, name);
    return dlsym(library, symbol);
}

static void call(void *function, char type, const char *name, int way, matrices x)
{
    const int m = M, n = N, k = K;
    const double wide[2] = {1.5, 0};
    const float narrow[2] = {1.5f, 0};
    const void *alpha = type == 'd' || type == 'z' ? (const void *)wide : narrow;
    const char *side = way & 1 ? "R" : "L", *uplo = way & 2 ? "U" : "L";
    const bool hermitian = name[0] == 'h', complex = type == 'c' || type == 'z';
    const char *trans = way & 4 ? hermitian ? "C" : "T" : "N";
    const char *other = way & 1 ? complex ? "C" : "T" : "N";
    const int order = way & 1 ? n : m;
    const int rows = way & 4 ? k : m;

    if (strcmp(name, "gemm") == 0) {
        gemm_function *f;

        memcpy(&f, &function, sizeof f);
        f(trans, other, &m, &n, &k, alpha, x.a, way & 4 ? &k : &m, x.b, way & 1 ? &n : &k, alpha,
          x.c, &m, 1, 1);
    } else if (strcmp(name + 2, "mm") == 0 && name[0] != 't') {
        symm_function *f;

        memcpy(&f, &function, sizeof f);
        f(side, uplo, &m, &n, alpha, x.a, &order, x.b, &m, alpha, x.c, &m, 1, 1);
    } else if (strcmp(name + 2, "rk") == 0) {
        syrk_function *f;

        memcpy(&f, &function, sizeof f);
        f(uplo, trans, &m, &k, alpha, x.a, &rows, alpha, x.c, &m, 1, 1);
    } else if (strcmp(name + 2, "r2k") == 0) {
        syr2k_function *f;

        memcpy(&f, &function, sizeof f);
        f(uplo, trans, &m, &k, alpha, x.a, &rows, x.b, &rows, alpha, x.c, &m, 1, 1);
    } else {
        trmm_function *f;

        memcpy(&f, &function, sizeof f);
        f(side, uplo, way & 4 ? "C" : "N", way & 8 ? "U" : "N", &m, &n, alpha, x.a, &order, x.c, &m,
          1, 1, 1, 1);
    }
}

static matrices make(char type, const char *name, int way, unsigned seed)
{
    const bool gemm = strcmp(name, "gemm") == 0, update = name[2] == 'r' && name[0] != 't';
    const int order = way & 1 ? N : M;

    if (gemm)
        return (matrices){fill(type, way & 4 ? K : M, way & 4 ? M : K, &seed),
                          fill(type, way & 1 ? N : K, way & 1 ? K : N, &seed),
                          fill(type, M, N, &seed)};
    if (update)
        return (matrices){fill(type, way & 4 ? K : M, way & 4 ? M : K, &seed),
                          fill(type, way & 4 ? K : M, way & 4 ? M : K, &seed),
                          fill(type, M, M, &seed)};
    return (matrices){fill(type, order, order, &seed), fill(type, M, N, &seed),
                      fill(type, M, N, &seed)};
}

static void free_matrices(matrices x)
{
    free(x.a);
    free(x.b);
    free(x.c);
}

/* How far C is from another, beside its largest element. */
static double difference(char type, size_t elements, const void *c, const void *other)
{
    const size_t count = elements * (type == 'c' || type == 'z' ? 2 : 1);
    double largest = 0, far = 0;

    for (size_t i = 0; i < count; i++) {
        const bool wide = type == 'd' || type == 'z';
        const double x = wide ? ((const double *)c)[i] : (double)((const float *)c)[i];
        const double y = wide ? ((const double *)other)[i] : (double)((const float *)other)[i];

        largest = fmax(largest, fabs(y));
        far = fabs(x - y) <= far ? far : fabs(x - y); /* NaN is far */
    }
    return far / largest;
}

static void *cpu_blas;

/* Every routine in each of its ways; returns how many are wrong. */
static int call_all(void)
{
    static const char *const names[] = {"gemm", "symm", "syrk", "syr2k", "trmm",
                                        "trsm", "hemm", "herk", "her2k"};
    int wrong = 0;

    for (const char *type = "sdcz"; *type; type++) {
        const double bound = *type == 's' || *type == 'c' ? 1e-5 : 1e-13;

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            void *ours = routine_of(RTLD_DEFAULT, *type, names[i]);
            void *theirs = routine_of(cpu_blas, *type, names[i]);

            if (names[i][0] == 'h' && (*type == 's' || *type == 'd'))
                continue;
            if (!ours || !theirs || ours == theirs) {
                fprintf(stderr, "%c%s: there is none\n", *type, names[i]);
                return 1;
            }
            for (int way = 0; way < 16; way++) {
                const bool update = names[i][2] == 'r' && names[i][0] != 't';
                matrices x = make(*type, names[i], way, 1), y = make(*type, names[i], way, 1);
                double far;

                call(ours, *type, names[i], way, x);
                call(theirs, *type, names[i], way, y);
                far = difference(*type, (size_t)M * (update ? M : N), x.c, y.c);
                if (!(far <= bound)) {
                    fprintf(stderr, "%c%s, way %d: off by %.3g\n", *type, names[i], way, far);
                    wrong++;
                }
                free_matrices(x);
                free_matrices(y);
            }
        }
    }
    return wrong;
}

static void *call_all_in_thread(void *wrong)
{
    *(int *)wrong = call_all();
    return NULL;
}

/* Keep a matrix, multiply with it in a thread of its own, and drop it. */
static void *keep_in_thread(void *wrong)
{
    const int n = 64;
    const double one = 1, zero = 0;
    const size_t bytes = sizeof(double) * (size_t)n * (size_t)n;
    void *function = routine_of(RTLD_DEFAULT, 'd', "gemm");
    gemm_function *dgemm;

    memcpy(&dgemm, &function, sizeof dgemm);
    for (int round = 0; round < 8; round++) {
        double *a = malloc(bytes), *c = malloc(bytes);

        for (int i = 0; a && i < n * n; i++)
            a[i] = 1 + round;
        if (!a || !c || tsr_blas_keep(a, bytes) != TSR_OK)
            *(int *)wrong = 1;
        for (int i = 0; i < 2 && a && c; i++)
            dgemm("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
        for (int i = 0; a && c && i < n * n; i++)
            *(int *)wrong |= c[i] != n * (1.0 + round) * (1.0 + round);
        tsr_blas_drop(a);
        free(a);
        free(c);
    }
    return NULL;
}

static int call_from_threads(void)
{
    pthread_t threads[THREADS + 1];
    int wrong[THREADS + 1] = {0}, sum = 0;

    for (int i = 0; i <= THREADS; i++)
        pthread_create(&threads[i], NULL, i == THREADS ? keep_in_thread : call_all_in_thread,
                       &wrong[i]);
    for (int i = 0; i <= THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += wrong[i];
    }
    return sum;
}

static int call_in_child(void)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(call_all() != 0);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

int main(void)
{
    int wrong;

    cpu_blas = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!cpu_blas) {
        puts("no libblas.so.3");
        return SKIPPED;
    }
    wrong = call_from_threads(); /* several at the first call */
    if (call_in_child()) {
        fputs("the child failed\n", stderr);
        wrong++;
    }
    wrong += call_all();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
