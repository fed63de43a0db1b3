#include "peer_cl_sets.h"

#include <stdlib.h>

cl_mem peer_cl_set(const peer_cl_sets *c, size_t set, size_t operand)
{
    return c->buffer[set * PEER_OPERANDS + operand];
}

cl_int peer_cl_set_refill(peer_cl_sets *c, size_t set, size_t operand)
{
    const cl_mem buffer = peer_cl_set(c, set, operand);
    const void *original = c->problem.operand[operand];
    const unsigned char zero = 0;

    if (!buffer)
        return CL_SUCCESS;
    /* An output without an original: filled, so that its memory exists before the first call. */
    if (!original)
        return clEnqueueFillBuffer(c->queue, buffer, &zero, 1, 0, c->problem.bytes[operand], 0,
                                   NULL, NULL);
    return clEnqueueWriteBuffer(c->queue, buffer, CL_FALSE, 0, c->problem.bytes[operand], original,
                                0, NULL, NULL);
}

static cl_int create(peer_cl_sets *c, size_t set, size_t operand, const char **call)
{
    cl_int rc = CL_SUCCESS;

    if (c->problem.bytes[operand] == 0)
        return CL_SUCCESS;
    *call = "clCreateBuffer";
    c->buffer[set * PEER_OPERANDS + operand] = clCreateBuffer(
        c->problem.cl_context, CL_MEM_READ_WRITE, c->problem.bytes[operand], NULL, &rc);
    if (rc != CL_SUCCESS)
        return rc;
    *call = "clEnqueueWriteBuffer";
    return peer_cl_set_refill(c, set, operand);
}

int peer_cl_sets_open(peer_cl_sets *c, const peer_problem *p, char *why, size_t why_size)
{
    const char *call = "clFinish";
    cl_int rc = CL_SUCCESS;

    c->problem = *p;
    c->queue = p->cl_queue;
    c->buffer = calloc(p->sets, PEER_OPERANDS * sizeof(cl_mem));
    if (!c->buffer) {
        peer_say(why, why_size, "no memory for %zu sets", p->sets);
        return -1;
    }
    for (size_t i = 0; i < p->sets * PEER_OPERANDS && rc == CL_SUCCESS; i++) {
        rc = create(c, i / PEER_OPERANDS, i % PEER_OPERANDS, &call);
        if (rc != CL_SUCCESS)
            peer_say(why, why_size, "%s of %zu bytes: OpenCL error %d", call,
                     p->bytes[i % PEER_OPERANDS], rc);
    }
    if (rc == CL_SUCCESS) {
        rc = clFinish(c->queue);
        if (rc != CL_SUCCESS)
            peer_say(why, why_size, "clFinish: OpenCL error %d", rc);
    }
    if (rc != CL_SUCCESS)
        peer_cl_sets_close(c);
    return rc == CL_SUCCESS ? 0 : -1;
}

cl_int peer_cl_set_read(peer_cl_sets *c, size_t set, size_t operand, void *out)
{
    return clEnqueueReadBuffer(c->queue, peer_cl_set(c, set, operand), CL_TRUE, 0,
                               c->problem.bytes[operand], out, 0, NULL, NULL);
}

void peer_cl_sets_close(peer_cl_sets *c)
{
    if (!c->buffer)
        return;
    clFinish(c->queue);
    for (size_t i = 0; i < c->problem.sets * PEER_OPERANDS; i++)
        if (c->buffer[i])
            clReleaseMemObject(c->buffer[i]);
    free(c->buffer);
    c->buffer = NULL;
}
