#include <clblast_c.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_blas.h"
#include "peer_cl_sets.h"

typedef struct clblast_state {
    peer_cl_sets sets; /* first: what the call is given */
    peer_rotation rotation;
    peer_call *call;
} clblast_state;

static int clblast_wait(void *state)
{
    return clFinish(((clblast_state *)state)->sets.queue);
}

void clblast_close(void *state)
{
    clblast_state *s = state;

    if (!s)
        return;
    peer_cl_sets_close(&s->sets);
    free(s);
}

void *clblast_open(const peer_problem *p, peer_call *call, int beta_zero, char *why,
                   size_t why_size)
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
    if (beta_zero)
        held.operand[BLAS_RESULT] = NULL;
    if (peer_cl_sets_open(&s->sets, &held, why, why_size) != 0) {
        free(s);
        return NULL;
    }
    s->call = call;
    peer_rotation_start(&s->rotation, p->sets, 0);
    /* The first call compiles its kernels, which takes seconds. */
    rc = peer_time(&s->rotation, 1, s->call, clblast_wait, s, &unused);
    /* It has added to C or y, too. */
    if (rc == 0)
        rc = peer_cl_set_refill(&s->sets, 0, BLAS_RESULT);
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

int clblast_run(void *state, size_t calls, double *wall_ns)
{
    clblast_state *s = state;

    return peer_time(&s->rotation, calls, s->call, clblast_wait, s, wall_ns);
}

int clblast_result(void *state, void *const out[])
{
    return peer_cl_set_read(&((clblast_state *)state)->sets, 0, BLAS_RESULT, out[BLAS_RESULT]);
}

/* It has no call for its version, but the file that the loader took has it in its name. */
const char *clblast_version(void)
{
    static char version[64];
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
        snprintf(version, sizeof(version), "%s", number + strlen(".so."));
    else
        snprintf(version, sizeof(version), "%d.%d.%d (its header)", CLBLAST_VERSION_MAJOR,
                 CLBLAST_VERSION_MINOR, CLBLAST_VERSION_PATCH);
    free(path);
    return version;
}
