/**
 * A peer module does what bench/peer.h says: its results are right, set after
 * set, it refuses what it cannot do, and it never times a call on inputs that
 * an earlier one has used up.
 *
 *     test_peers_OPERATION MODULE.so
 *
 * 77 where every problem is refused because its device is not here.
 */
/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <bench/peer.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/facts.h"
#include "measure/result.h"
#include "peer_examples.h"

enum { SETS = 3 };

static int failures;

/* A check of peer `who` on problem number `at`. */
static bool expect(bool ok, const peer *who, size_t at, const char *what)
{
    if (ok)
        return true;
    failures++;
    fprintf(stderr, "%s: problem %zu: %s\n", who->name, at, what);
    return false;
}

/* The device that peers on OpenCL get; of zeros where there is none. */
typedef struct cl_target {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} cl_target;

static void open_target(cl_target *out)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;

    memset(out, 0, sizeof(*out));
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < 16 && !out->device; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &out->device, NULL) != CL_SUCCESS)
            out->device = NULL;
    if (out->device)
        out->context = clCreateContext(NULL, 1, &out->device, NULL, NULL, NULL);
    if (out->context)
        out->queue = clCreateCommandQueue(out->context, out->device, 0, NULL);
}

/* A problem as a peer gets it, with the operands before and after its calls. */
typedef struct trial {
    problem problem;
    operand operand[OPERANDS_MAX];
    size_t count;
    void *before[OPERANDS_MAX], *after[OPERANDS_MAX];
    char precision[16];
    peer_problem described;
} trial;

static void describe(trial *t, const cl_target *target)
{
    result_row row = {0};

    result_problem(&row, &t->problem);
    snprintf(t->precision, sizeof(t->precision), "%s", row.precision);
    t->count = t->problem.op->operands(&t->problem, t->operand);
    t->described = (peer_problem){.problem = t->problem.bytes,
                                  .type = (int)t->operand[0].type,
                                  .precision = t->precision,
                                  .sets = SETS,
                                  .cl_context = target->context,
                                  .cl_device = target->device,
                                  .cl_queue = target->queue};
    for (size_t i = 0; i < t->count; i++)
        t->described.bytes[i] = t->operand[i].bytes;
}

static void prepare(trial *t, size_t seed)
{
    for (size_t i = 0; i < t->count; i++) {
        t->before[i] = malloc(t->operand[i].bytes + 1);
        t->after[i] = malloc(t->operand[i].bytes + 1);
        t->described.operand[i] = t->before[i];
    }
    t->problem.op->fill(&t->problem, seed, t->problem.inputs, t->before);
}

static void release(trial *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->before[i]);
        free(t->after[i]);
    }
}

/* What set 0 holds is right. */
static void judge(const peer *who, void *state, const trial *t, size_t at)
{
    const device_facts facts = {.denormals_f32 = true, .denormals_f64 = true};
    verdict v = {0};

    for (size_t i = 0; i < t->count; i++)
        memcpy(t->after[i], t->before[i], t->operand[i].bytes);
    if (!expect(who->result(state, t->after) == 0, who, at, "result() fails"))
        return;
    expect(t->problem.op->verify(&t->problem, &facts, (const void *const *)t->before,
                                 (const void *const *)t->after, NULL, &v, NULL) == TSR_OK &&
               v.ok,
           who, at, v.detail);
}

/* Whether the result of a call on the result of another is another problem's. */
static bool accumulates(const trial *t)
{
    return !t->problem.op->uses_up && (t->operand[t->problem.op->result].access & ACCESS_READ);
}

static void call(const peer *who, void *state, const trial *t, size_t at)
{
    double ns = -1;

    if (expect(who->run(state, 1, &ns) == 0, who, at, "run(1) fails"))
        judge(who, state, t, at);
    expect(ns > 0, who, at, "run() gives no time");
    expect(who->run(state, SETS - 1, &ns) == 0, who, at, "run() fails on the other sets");
    if (who->restore) {
        expect(who->run(state, 1, &ns) != 0, who, at, "a used-up set is timed");
        expect(who->restore(state) == 0, who, at, "restore() fails");
        expect(who->run(state, SETS + 1, &ns) != 0, who, at, "more calls than sets are timed");
        expect(who->run(state, SETS, &ns) == 0, who, at, "run() fails after restore()");
    } else {
        expect(who->run(state, 2 * SETS, &ns) == 0, who, at, "run() fails in later rounds");
    }
    if (who->run_held) {
        ns = -1;
        expect(who->run_held(state, 2 * SETS, &ns) == 0, who, at, "run_held() fails");
        expect(ns > 0, who, at, "run_held() gives no time");
    }
    if (!accumulates(t))
        judge(who, state, t, at);
}

/* Whether the peer did the problem. */
static bool try_example(const peer *who, const cl_target *target, size_t at, const problem *p)
{
    char why[256] = "";
    const char *refusal;
    trial t = {.problem = *p};
    void *state;

    describe(&t, target);
    prepare(&t, at);
    if (who->place == PEER_CUDA && access("/dev/nvidiactl", F_OK) != 0)
        t.described.cl_device = NULL;
    refusal = who->unsupported(&t.described);
    if (!refusal) {
        state = who->open(&t.described, why, sizeof(why));
        if (expect(state != NULL, who, at, why)) {
            call(who, state, &t, at);
            who->close(state);
        }
    }
    release(&t);
    return !refusal;
}

/* False where the peer's device is not here, so that nothing could be tried. */
static bool try_peer(const peer *who, const cl_target *target)
{
    size_t done = 0, at;
    const void *first;
    problem p;

    expect(who->name && *who->name && who->version && *who->version, who, 0, "has no name");
    for (at = 0; peer_refused(at, &p, &first); at++) {
        trial t = {.problem = p};

        describe(&t, target);
        t.described.operand[0] = first;
        expect(who->unsupported(&t.described) != NULL, who, at,
               "what cannot be done is not refused");
    }
    if (who->place == PEER_OPENCL && !target->queue)
        return false;
    for (at = 0; peer_example(at, &p); at++)
        done += try_example(who, target, at, &p);
    printf("%s %s: %zu problems, %zu refused\n", who->name, who->version, done, at - done);
    if (done == 0 && who->place == PEER_CUDA && access("/dev/nvidiactl", F_OK) != 0)
        return false;
    expect(done > 0, who, 0, "every problem is refused");
    return true;
}

int main(int argc, char **argv)
{
    void *handle = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = handle ? dlsym(handle, "peer_module") : NULL;
    const peer_list *(*module)(void) = NULL;
    const peer_list *list;
    cl_target target;
    bool tried = true;
    problem p;

    if (!symbol) {
        fprintf(stderr, "test_peers: %s\n", argc == 2 ? dlerror() : "usage: test_peers MODULE.so");
        return 1;
    }
    /* ISO C has no conversion from an object's address to a function's. */
    memcpy(&module, &symbol, sizeof(module));
    list = module();
    if (list->abi != PEER_ABI || !peer_example(0, &p) || strcmp(list->operation, p.op->name) != 0 ||
        list->problem_bytes != p.op->command->problem_bytes) {
        fprintf(stderr, "test_peers: %s is of another version or operation\n", argv[1]);
        return 1;
    }
    open_target(&target);
    for (size_t i = 0; i < list->count; i++)
        tried &= try_peer(&list->peers[i], &target);
    if (target.queue)
        clReleaseCommandQueue(target.queue);
    if (target.context)
        clReleaseContext(target.context);
    return failures ? 1 : tried ? 0 : 77;
}
