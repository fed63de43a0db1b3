/** CLBlast on the row's OpenCL device: GEMM and GEMV in float32 and float64. */
#include <clblast_c.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_cl_sets.h"

typedef struct clblast_state {
    peer_cl_sets sets;
    peer_rotation rotation;
} clblast_state;

static CLBlastTranspose transpose(int trans)
{
    return trans ? CLBlastTransposeYes : CLBlastTransposeNo;
}

static CLBlastStatusCode matmul(clblast_state *s, cl_mem a, cl_mem b, cl_mem c)
{
    const peer_problem *p = &s->sets.problem;
    const size_t lda = peer_columns_a(p), ldb = peer_columns_b(p);

    if (p->type == 0)
        return CLBlastSgemm(CLBlastLayoutRowMajor, transpose(p->trans_a), transpose(p->trans_b),
                            p->m, p->n, p->k, (float)p->alpha, a, 0, lda, b, 0, ldb, (float)p->beta,
                            c, 0, p->n, &s->sets.queue, NULL);
    return CLBlastDgemm(CLBlastLayoutRowMajor, transpose(p->trans_a), transpose(p->trans_b), p->m,
                        p->n, p->k, p->alpha, a, 0, lda, b, 0, ldb, p->beta, c, 0, p->n,
                        &s->sets.queue, NULL);
}

static CLBlastStatusCode matvec(clblast_state *s, cl_mem a, cl_mem x, cl_mem y)
{
    const peer_problem *p = &s->sets.problem;

    if (p->type == 0)
        return CLBlastSgemv(CLBlastLayoutRowMajor, transpose(p->trans_a), p->m, p->n,
                            (float)p->alpha, a, 0, p->n, x, 0, 1, (float)p->beta, y, 0, 1,
                            &s->sets.queue, NULL);
    return CLBlastDgemv(CLBlastLayoutRowMajor, transpose(p->trans_a), p->m, p->n, p->alpha, a, 0,
                        p->n, x, 0, 1, p->beta, y, 0, 1, &s->sets.queue, NULL);
}

static int clblast_call(void *state, size_t set)
{
    clblast_state *s = state;

    return (s->sets.problem.op == PEER_MATMUL ? matmul : matvec)(s, peer_cl_set(&s->sets, set, 0),
                                                                 peer_cl_set(&s->sets, set, 1),
                                                                 peer_cl_set(&s->sets, set, 2));
}

static int clblast_wait(void *state)
{
    return clFinish(((clblast_state *)state)->sets.queue);
}

static void clblast_close(void *state)
{
    clblast_state *s = state;

    if (!s)
        return;
    peer_cl_sets_close(&s->sets);
    free(s);
}

static void *clblast_open(const peer_problem *p, char *why, size_t why_size)
{
    clblast_state *s = calloc(1, sizeof(*s));
    peer_problem held = *p;
    double unused;
    int rc;

    if (!s) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    /* Its GEMV multiplies y by beta where that is 0, too: NaN in it would stay. */
    if (p->beta == 0)
        held.operand[2] = NULL;
    if (peer_cl_sets_open(&s->sets, &held, why, why_size) != 0) {
        free(s);
        return NULL;
    }
    peer_rotation_start(&s->rotation, p->sets, 0);
    /* The first call compiles its kernels, which takes seconds. */
    rc = peer_time(&s->rotation, 1, clblast_call, clblast_wait, s, &unused);
    /* It has added to C or y, too. */
    if (rc == 0)
        rc = peer_cl_set_refill(&s->sets, 0, 2);
    if (rc == 0)
        rc = clFinish(s->sets.queue);
    if (rc != 0) {
        peer_say(why, why_size, "its first call failed with status %d", rc);
        clblast_close(s);
        return NULL;
    }
    peer_rotation_start(&s->rotation, p->sets, 0);
    return s;
}

static int clblast_run(void *state, size_t calls, double *wall_ns)
{
    clblast_state *s = state;

    return peer_time(&s->rotation, calls, clblast_call, clblast_wait, s, wall_ns);
}

static int clblast_result(void *state, void *out, void *out2)
{
    (void)out2;
    return peer_cl_set_read(&((clblast_state *)state)->sets, 0, 2, out);
}

/* It has no call that tells its version, but the file that the loader took has it in its name. */
static void find_version(char *out, size_t size)
{
    CLBlastStatusCode (*const function)(void) = CLBlastClearCache;
    void *address;
    Dl_info where;
    char *path = NULL;
    const char *number = NULL;

    /* ISO C has no conversion from a function's address to an object's. */
    memcpy(&address, &function, sizeof(address));
    if (dladdr(address, &where) && where.dli_fname)
        path = realpath(where.dli_fname, NULL);
    if (path && (number = strstr(path, ".so.")))
        snprintf(out, size, "%s", number + strlen(".so."));
    else
        snprintf(out, size, "%d.%d.%d (its header)", CLBLAST_VERSION_MAJOR, CLBLAST_VERSION_MINOR,
                 CLBLAST_VERSION_PATCH);
    free(path);
}

static peer the_peer = {.name = "CLBlast",
                        .place = PEER_OPENCL,
                        .unsupported = peer_blas_unsupported,
                        .open = clblast_open,
                        .run = clblast_run,
                        .result = clblast_result,
                        .close = clblast_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = {PEER_ABI, &the_peer, 1};
    static char version[64];

    find_version(version, sizeof(version));
    the_peer.version = version;
    return &list;
}
