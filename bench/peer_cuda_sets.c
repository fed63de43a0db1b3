#include "peer_cuda_sets.h"

#include <CL/cl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of cl_nv_device_attribute_query; the slot holds device << 3 | function. */
#define PCI_BUS    0x4008
#define PCI_SLOT   0x4009
#define PCI_DOMAIN 0x400A

#define VENDOR_NVIDIA 0x10DE

const char *peer_cuda_unsupported(const peer_problem *p)
{
    cl_uint vendor = 0;
    int count = 0;

    if (p->cl_device && (clGetDeviceInfo(p->cl_device, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor,
                                         NULL) != CL_SUCCESS ||
                         vendor != VENDOR_NVIDIA))
        return "the OpenCL device is not NVIDIA's";
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
        return "CUDA finds no device";
    return NULL;
}

/* The CUDA device that sits where the OpenCL device does; 0 on success. */
static int find_device(const peer_problem *p, int *device)
{
    cl_uint bus = 0, slot = 0, domain = 0;
    char place[32];
    int count = 0;

    *device = 0;
    if (!p->cl_device || (cudaGetDeviceCount(&count) == cudaSuccess && count == 1))
        return 0;
    if (clGetDeviceInfo(p->cl_device, PCI_BUS, sizeof(bus), &bus, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(p->cl_device, PCI_SLOT, sizeof(slot), &slot, NULL) != CL_SUCCESS)
        return -1;
    /* Drivers without the domain have one. */
    if (clGetDeviceInfo(p->cl_device, PCI_DOMAIN, sizeof(domain), &domain, NULL) != CL_SUCCESS)
        domain = 0;
    snprintf(place, sizeof(place), "%04x:%02x:%02x.%u", (unsigned)domain, (unsigned)bus,
             (unsigned)(slot >> 3), (unsigned)(slot & 7));
    return cudaDeviceGetByPCIBusId(device, place) == cudaSuccess ? 0 : -1;
}

void *peer_cuda_set(const peer_cuda_sets *c, size_t set, size_t operand)
{
    return c->memory[set * PEER_OPERANDS + operand];
}

/* From host memory, or of what is written alone zeros. */
static cudaError_t fill(const peer_cuda_sets *c, size_t operand, void *memory)
{
    const void *original = c->problem.operand[operand];
    const size_t bytes = c->problem.bytes[operand];

    return original ? cudaMemcpyAsync(memory, original, bytes, cudaMemcpyHostToDevice, c->stream)
                    : cudaMemsetAsync(memory, 0, bytes, c->stream);
}

/* Sets of which there are few are large: no room for one more, and soon filled from the host. */
enum { FEW_SETS = 2 };

static cudaError_t make_fresh(peer_cuda_sets *c, size_t operand)
{
    if (c->fresh[operand] || c->problem.sets <= FEW_SETS)
        return cudaSuccess;
    if (cudaMalloc(&c->fresh[operand], c->problem.bytes[operand]) != cudaSuccess) {
        c->fresh[operand] = NULL;
        cudaGetLastError(); /* without it, it is only slower */
        return cudaSuccess;
    }
    return fill(c, operand, c->fresh[operand]);
}

cudaError_t peer_cuda_set_refill(peer_cuda_sets *c, size_t set, size_t operand)
{
    void *memory = peer_cuda_set(c, set, operand);
    cudaError_t rc;

    if (!memory)
        return cudaSuccess;
    rc = make_fresh(c, operand);
    if (rc != cudaSuccess || !c->fresh[operand])
        return rc != cudaSuccess ? rc : fill(c, operand, memory);
    return cudaMemcpyAsync(memory, c->fresh[operand], c->problem.bytes[operand],
                           cudaMemcpyDeviceToDevice, c->stream);
}

static cudaError_t create(peer_cuda_sets *c, size_t set, size_t operand, const char **call)
{
    const size_t bytes = c->problem.bytes[operand];
    cudaError_t rc;

    if (bytes == 0)
        return cudaSuccess;
    *call = "cudaMalloc";
    rc = cudaMalloc(&c->memory[set * PEER_OPERANDS + operand], bytes);
    if (rc != cudaSuccess)
        return rc;
    *call = "cudaMemcpyAsync";
    /* From the host once, from there to every other set. */
    return set == 0 ? fill(c, operand, peer_cuda_set(c, 0, operand))
                    : cudaMemcpyAsync(peer_cuda_set(c, set, operand), peer_cuda_set(c, 0, operand),
                                      bytes, cudaMemcpyDeviceToDevice, c->stream);
}

static cudaError_t create_all(peer_cuda_sets *c, const char **call)
{
    cudaError_t rc;

    *call = "cudaSetDevice";
    rc = cudaSetDevice(c->device);
    if (rc == cudaSuccess) {
        *call = "cudaStreamCreateWithFlags";
        rc = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    }
    for (size_t i = 0; i < c->problem.sets * PEER_OPERANDS && rc == cudaSuccess; i++)
        rc = create(c, i / PEER_OPERANDS, i % PEER_OPERANDS, call);
    if (rc == cudaSuccess) {
        *call = "cudaStreamSynchronize";
        rc = cudaStreamSynchronize(c->stream);
    }
    return rc;
}

int peer_cuda_sets_open(peer_cuda_sets *c, const peer_problem *p, char *why, size_t why_size)
{
    const char *call = "";
    cudaError_t rc;

    *c = (peer_cuda_sets){.problem = *p};
    if (find_device(p, &c->device) != 0) {
        peer_say(why, why_size, "no CUDA device is found at the OpenCL device's place");
        return -1;
    }
    c->memory = calloc(p->sets, PEER_OPERANDS * sizeof(void *));
    if (!c->memory) {
        peer_say(why, why_size, "no memory for %zu sets", p->sets);
        return -1;
    }
    rc = create_all(c, &call);
    if (rc != cudaSuccess) {
        peer_say(why, why_size, "%s: %s", call, cudaGetErrorString(rc));
        peer_cuda_sets_close(c);
        return -1;
    }
    return 0;
}

cudaError_t peer_cuda_set_read(peer_cuda_sets *c, size_t set, size_t operand, void *out)
{
    const cudaError_t rc =
        cudaMemcpyAsync(out, peer_cuda_set(c, set, operand), c->problem.bytes[operand],
                        cudaMemcpyDeviceToHost, c->stream);

    return rc == cudaSuccess ? cudaStreamSynchronize(c->stream) : rc;
}

void peer_cuda_sets_close(peer_cuda_sets *c)
{
    if (!c->memory)
        return;
    cudaSetDevice(c->device);
    if (c->stream) {
        cudaStreamSynchronize(c->stream);
        cudaStreamDestroy(c->stream);
    }
    for (size_t i = 0; i < c->problem.sets * PEER_OPERANDS; i++)
        cudaFree(c->memory[i]);
    for (size_t i = 0; i < PEER_OPERANDS; i++)
        cudaFree(c->fresh[i]);
    free(c->memory);
    c->memory = NULL;
    c->stream = NULL;
}

/* What holds a stream back, on a thread of the driver. */
typedef struct gate {
    atomic_int open;
    int gave_up; /* read once the stream has been waited for */
} gate;

enum { GATE_TRIES = 10000, GATE_PAUSE_NS = 100000 }; /* a second together, or more */

static void CUDART_CB wait_at(void *data)
{
    const struct timespec pause = {.tv_nsec = GATE_PAUSE_NS};
    gate *g = data;

    for (int i = 0; i < GATE_TRIES; i++) {
        if (atomic_load(&g->open))
            return;
        nanosleep(&pause, NULL);
    }
    g->gave_up = 1;
}

/* Between the events; both are enqueued on the stream. */
static int time_between(const peer_cuda_sets *c, cudaEvent_t begin, cudaEvent_t end,
                        peer_rotation *r, size_t calls, peer_call *call, void *state,
                        double *device_ns)
{
    gate *g = calloc(1, sizeof(*g));
    double enqueued_ns;
    float ms = 0;
    int rc, waited;

    if (!g)
        return (int)cudaErrorMemoryAllocation;
    rc = (int)cudaLaunchHostFunc(c->stream, wait_at, g);
    if (rc == 0)
        rc = (int)cudaEventRecord(begin, c->stream);
    if (rc == 0)
        rc = peer_time(r, calls, call, NULL, state, &enqueued_ns);
    if (rc == 0)
        rc = (int)cudaEventRecord(end, c->stream);
    atomic_store(&g->open, 1);
    waited = (int)cudaStreamSynchronize(c->stream);
    if (waited)
        return rc ? rc : waited; /* wait_at may be under way still: it keeps its gate */
    if (rc == 0 && g->gave_up)
        rc = (int)cudaErrorLaunchTimeout;
    free(g);
    if (rc == 0)
        rc = (int)cudaEventElapsedTime(&ms, begin, end);
    if (rc == 0)
        *device_ns = (double)ms * 1e6;
    return rc;
}

int peer_cuda_time_held(const peer_cuda_sets *c, peer_rotation *r, size_t calls, peer_call *call,
                        void *state, double *device_ns)
{
    cudaEvent_t begin = NULL, end = NULL;
    int rc = (int)cudaEventCreate(&begin);

    if (rc == 0)
        rc = (int)cudaEventCreate(&end);
    if (rc == 0)
        rc = time_between(c, begin, end, r, calls, call, state, device_ns);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return rc;
}
