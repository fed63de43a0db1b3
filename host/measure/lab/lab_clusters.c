/* Clusters of work-groups, which read each other's local memory. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "measure/lab/experiments.h"
#include "session/program.h"

/* The walk ends at another word than it began. */
enum {
    WORDS = 256,
    STEPS = 1000,
    END = 33 * STEPS % WORDS,
    BARRIERS = 64,
    MEMBERS = 32,
    CLUSTER_MAX = 8
};

/* NVIDIA's OpenCL driver launches clusters from a kernel alone, and its compiler has no word for
 * them.  So the PTX of the member says how many groups a cluster has, and a kernel that launches it
 * is added, as the compiler makes one of enqueue_kernel: from a block literal, whose parameters
 * follow its head of 24 bytes, and the range, of 16 bytes and three sizes each of all and of a
 * group (found out by prototypes; no document says it). */
static const char parent[] =
    "\n.func (.param .b32 r) __cuda_syscall_enqueue_kernel(.param .b64 p0, .param .b32 p1, "
    ".param .b32 p2, .param .b64 p3, .param .b64 p4, .param .b64 p5, .param .b64 p6);\n"
    ".func (.param .b64 r) __cuda_syscall_get_default_queue();\n"
    ".entry lab_clusters_parent(.param .u64 .ptr .global .align 8 given)\n"
    "{\n"
    ".local .align 8 .b8 room[160];\n"
    ".reg .b32 %size, %align, %result;\n"
    ".reg .b64 %at, %room, %given, %word, %none, %one, %member, %range, %wait, %queue;\n"
    "mov.u64 %at, room;\n"
    "cvta.local.u64 %room, %at;\n"
    "ld.param.u64 %given, [given];\n"
    /* The block: its size and alignment, nothing, the kernel, five parameters. */
    "mov.u32 %size, 64;\n"
    "mov.u32 %align, 8;\n"
    "mov.u64 %none, 0;\n"
    "mov.u64 %one, 1;\n"
    "mov.u64 %member, lab_clusters_member;\n"
    "st.local.v2.u32 [%at], {%size, %align};\n"
    "st.local.u64 [%at+8], %none;\n"
    "st.local.u64 [%at+16], %member;\n"
    "ld.global.u64 %word, [%given];\n"
    "st.local.u64 [%at+24], %word;\n"
    "ld.global.u64 %word, [%given+8];\n"
    "st.local.u64 [%at+32], %word;\n"
    "ld.global.u64 %word, [%given+16];\n"
    "st.local.u64 [%at+40], %word;\n"
    "ld.global.u64 %word, [%given+24];\n"
    "st.local.u64 [%at+48], %word;\n"
    "st.local.u64 [%at+56], %none;\n"
    /* The range: no offset, work-items of all groups, of one. */
    "st.local.u32 [%at+64], %size;\n"
    "st.local.u64 [%at+72], %none;\n"
    "st.local.u64 [%at+80], %none;\n"
    "st.local.u64 [%at+88], %none;\n"
    "ld.global.u64 %word, [%given+32];\n"
    "st.local.u64 [%at+96], %word;\n"
    "st.local.u64 [%at+104], %one;\n"
    "st.local.u64 [%at+112], %one;\n"
    "ld.global.u64 %word, [%given+40];\n"
    "st.local.u64 [%at+120], %word;\n"
    "st.local.u64 [%at+128], %one;\n"
    "st.local.u64 [%at+136], %one;\n"
    "add.u64 %range, %room, 64;\n"
    "add.u64 %wait, %room, 72;\n"
    "{\n"
    ".param .b64 q;\n"
    "call.uni (q), __cuda_syscall_get_default_queue, ();\n"
    "ld.param.b64 %queue, [q];\n"
    "}\n"
    "{\n"
    ".param .b64 a0;\nst.param.b64 [a0], %member;\n"
    ".param .b32 a1;\nst.param.b32 [a1], 1;\n"
    ".param .b32 a2;\nst.param.b32 [a2], 1;\n"
    ".param .b64 a3;\nst.param.b64 [a3], %range;\n"
    ".param .b64 a4;\nst.param.b64 [a4], %room;\n"
    ".param .b64 a5;\nst.param.b64 [a5], %wait;\n"
    ".param .b64 a6;\nst.param.b64 [a6], %queue;\n"
    ".param .b32 r;\n"
    "call.uni (r), __cuda_syscall_enqueue_kernel, (a0, a1, a2, a3, a4, a5, a6);\n"
    "ld.param.b32 %result, [r];\n"
    "}\n"
    "st.global.u32 [%given+48], %result;\n"
    "ret;\n"
    "}\n";

/* The member's PTX with clusters of `size`, and the parent before the metadata. */
static void add_parent(const char *ptx, size_t size, text *out)
{
    static const char range[] = ".reqntid";
    const char *end = strstr(ptx, ".metadata_section");

    if (!end)
        end = ptx + strlen(ptx);
    for (const char *line = ptx; line < end;) {
        const size_t length = strcspn(line, "\n");

        text_append_bytes(out, line, length);
        text_append(out, "\n");
        if (strncmp(line, range, strlen(range)) == 0)
            text_format(out, ".explicitcluster\n.reqnctapercluster %zu, 1, 1\n", size);
        line += length + (line[length] == '\n');
    }
    text_append(out, parent);
    text_append(out, end);
}

static tsr_status build_parent(const lab *l, size_t size, cl_kernel *out, tsr_error *err)
{
    tsr_session *s = l->rig.session;
    const program_entry *entry;
    unsigned char *binary = NULL;
    program *p = NULL;
    text options = {0}, ptx = {0};
    size_t bytes;
    tsr_status st;

    text_format(&options, "-cl-std=CL3.0 -DWORDS=%d -DSIZE=%zu", WORDS, size);
    st = program_get(s, l->what->source, text_get(&options), " lab_clusters_member", &p, err);
    st = st ? st : program_binary(p, &binary, &bytes, err);
    if (!st)
        add_parent((const char *)binary, size, &ptx);
    st = st ? st : program_from_ptx(s, p, &ptx, "for clusters", err);
    st = st ? st : program_kernel(p, "lab_clusters_parent", &entry, err);
    if (!st)
        *out = entry->kernel;
    free(binary);
    text_free(&options);
    text_free(&ptx);
    return st;
}

/* What the parent takes, and the word that it writes behind it. */
typedef struct launch {
    cl_ulong out, distance, steps, barriers, items, group;
    cl_uint refused, unused;
} launch;

/* What the member writes. */
typedef struct seen {
    cl_uint size, walk_cycles, away, barrier_cycles;
} seen;

typedef struct cluster_point {
    const lab *l;
    cl_kernel kernel; /* lab_clusters_alone, or the parent */
    cl_kernel address;
    cl_mem launch, out;
    size_t size, distance; /* of the cluster; to the group whose ring is walked */
    bool barriers;         /* they are what is timed */
    cl_uint steps;
} cluster_point;

static tsr_status write(const lab *l, cl_mem to, const void *from, size_t bytes, tsr_error *err)
{
    const cl_int rc =
        clEnqueueWriteBuffer(l->rig.timed, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "clEnqueueWriteBuffer(%zu bytes)", bytes);
}

static tsr_status run_alone(void *state, double *ns, tsr_error *err)
{
    const cluster_point *x = state;

    return rig_launch(&x->l->rig, x->kernel, MEMBERS, MEMBERS, ns, err);
}

static tsr_status check_alone(void *state, tsr_error *err)
{
    const cluster_point *x = state;
    cl_uint at = 0;
    double ns;
    tsr_status st = run_alone(state, &ns, err);

    st = st ? st : rig_read(&x->l->rig, x->out, &at, sizeof(at), err);
    if (!st && at != END)
        st = tsr_fail(err, TSR_EBOUND, 0, "the walk ended at word %u, not %d", at, END);
    return st;
}

static tsr_status run_cluster(void *state, double *ns, tsr_error *err)
{
    const cluster_point *x = state;
    launch given = {.distance = x->distance,
                    .steps = x->steps,
                    .barriers = BARRIERS,
                    .items = x->size * MEMBERS,
                    .group = MEMBERS,
                    .refused = 1};
    const seen none = {0};
    seen got = {0};
    tsr_status st = write(x->l, x->launch, &given, sizeof(given), err);

    st = st ? st : write(x->l, x->out, &none, sizeof(none), err);
    st = st ? st : rig_launch(&x->l->rig, x->address, 1, 1, ns, err);
    st = st ? st : rig_launch(&x->l->rig, x->kernel, 1, 1, ns, err);
    st = st ? st : rig_read(&x->l->rig, x->launch, &given, sizeof(given), err);
    st = st ? st : rig_read(&x->l->rig, x->out, &got, sizeof(got), err);
    if (!st && given.refused)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "the device refused the launch: %u", given.refused);
    if (!st && (got.size != x->size || got.away != END * sizeof(cl_uint)))
        st = tsr_fail(err, TSR_EBOUND, 0,
                      "a cluster of %u groups, not %zu, whose walk ended %u bytes from its start, "
                      "not %zu",
                      got.size, x->size, got.away, END * sizeof(cl_uint));
    *ns = (x->barriers ? got.barrier_cycles : got.walk_cycles) * x->l->cycle_ns;
    return st;
}

static tsr_status check_cluster(void *state, tsr_error *err)
{
    double ns;

    return run_cluster(state, &ns, err);
}

static tsr_status measure_alone(lab *l, cluster_point *x, tsr_error *err)
{
    char options[32];
    tsr_status st;

    snprintf(options, sizeof(options), "-DWORDS=%d", WORDS);
    st = lab_kernel(l, options, "lab_clusters_alone", &x->kernel, err);
    st = st ? st
            : rig_args(x->kernel,
                       (rig_arg[]){{&x->out, sizeof(x->out)}, {&x->steps, sizeof(x->steps)}}, 2,
                       err);
    return st ? st
              : lab_measure(l,
                            &(lab_point){.series = "no cluster",
                                         .x = "1",
                                         .run = run_alone,
                                         .check = check_alone,
                                         .state = x,
                                         .amount = x->steps,
                                         .claim = 30},
                            err);
}

/* The kernel that writes where the result goes: no host knows addresses of the device. */
static tsr_status build_address(const lab *l, cluster_point *x, tsr_error *err)
{
    tsr_status st = lab_kernel(l, "-DWORDS=1", "lab_clusters_address", &x->address, err);

    return st ? st
              : rig_args(x->address,
                         (rig_arg[]){{&x->launch, sizeof(x->launch)}, {&x->out, sizeof(x->out)}}, 2,
                         err);
}

static tsr_status measure_clusters_of(lab *l, cluster_point *x, tsr_error *err)
{
    const struct {
        const char *series;
        size_t distance, amount;
        bool barriers;
        double claim;
    } points[] = {{"own memory", 0, x->steps, false, 30},
                  {"another group's", 1, x->steps, false, 30},
                  {"barrier", 0, BARRIERS, true, 0}};
    const lab_text size = lab_number(x->size);
    tsr_status st = build_parent(l, x->size, &x->kernel, err);

    st = st ? st : rig_args(x->kernel, (rig_arg[]){{&x->launch, sizeof(x->launch)}}, 1, err);
    for (size_t i = 0; i < sizeof(points) / sizeof(*points) && !st; i++) {
        x->distance = points[i].distance;
        x->barriers = points[i].barriers;
        st = lab_measure(l,
                         &(lab_point){.series = points[i].series,
                                      .x = size.at,
                                      .run = run_cluster,
                                      .check = check_cluster,
                                      .state = x,
                                      .amount = (double)points[i].amount,
                                      .claim = points[i].claim},
                         err);
    }
    return st;
}

static tsr_status measure_clusters(lab *l, tsr_error *err)
{
    const device_facts *d = l->rig.facts;
    cluster_point x = {.l = l, .steps = STEPS};
    cl_command_queue on_device = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_READ_WRITE, sizeof(seen), &x.out, err);

    st = st ? st : rig_buffer(&l->rig, CL_MEM_READ_WRITE, sizeof(launch), &x.launch, err);
    st = st ? st : measure_alone(l, &x, err);
    if (!st && !(d->nvidia && d->kind == DEVICE_GPU && d->nv_capability >= 90))
        lab_skip(l, "another group's", "",
                 "it has no clusters: NVIDIA's GPUs have them from compute capability 9.0 on");
    else if (!st && !(on_device = lab_device_queue(l)))
        lab_skip(l, "another group's", "", "the device has no queues of its own");
    else
        st = st ? st : build_address(l, &x, err);
    if (on_device)
        for (x.size = 2; x.size <= CLUSTER_MAX && !st; x.size *= 2)
            st = measure_clusters_of(l, &x, err);
    if (on_device)
        clReleaseCommandQueue(on_device);
    if (x.launch)
        clReleaseMemObject(x.launch);
    if (x.out)
        clReleaseMemObject(x.out);
    return st;
}

const experiment lab_clusters = {
    .name = "clusters",
    .summary =
        "cycles to local memory, one's own and another group's, in clusters of 2 to 8 groups",
    .knob = "groups",
    .group = MEMBERS,
    .unit = "cycles",
    .claims_values = true,
    .claim =
        "From compute capability 9.0 on, groups of a cluster run at the same time on neighbouring "
        "units. They can meet at a barrier, and read each other's local memory in about 30 "
        "cycles, where global memory takes 400.",
    .on_cpu = "A CPU has no clusters. Its local memory is ordinary memory, in the first cache.",
    .on_gpu = "A load from another group's memory goes through the network between units: it takes "
              "most of what one from the second cache does. What clusters save is the way through "
              "that cache for what several units need, not the wait.",
    .source = "lab/lab_clusters.cl",
    .measure = measure_clusters,
};
