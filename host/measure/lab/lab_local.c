/* Experiments on what work-items of one group share: local memory, barriers, sub-groups. */
#include <stdio.h>

#include "base/sizes.h"
#include "measure/lab/experiments.h"

/* ---- banks ---------------------------------------------------------------------------------- */

enum { BANKS_READS = 8, BANKS_TILE = 1024, BANKS_COPY = BANKS_TILE + 32 };

typedef struct banked {
    uint32_t stride, rounds;
} banked;

/* Rounds are even: half of them read the second copy, whose words are larger by 1. */
static uint32_t expect_banks(const void *context, size_t item)
{
    const banked *x = context;
    uint32_t sum = 0;

    for (uint32_t r = 0; r < BANKS_READS; r++)
        sum += ((uint32_t)(item % 32) * x->stride + r * 32) % BANKS_TILE * 2654435761u;
    return sum * x->rounds + x->rounds / 2 * BANKS_READS;
}

static tsr_status measure_banks(lab *l, tsr_error *err)
{
    static const uint32_t strides[] = {1, 2, 3, 4, 8, 16, 32, 0};
    static const char *const layouts[] = {"plain", "padded", "XOR"};
    const cl_uint rounds = (cl_uint)size_round_up(l->size, 2), other = BANKS_COPY;
    const size_t local = size_min(256, l->group_max / 32 * 32);
    const size_t items = l->units * (l->rig.cpu ? 2 : 16) * local;
    cl_mem sums = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, items * 4, &sums, err);

    l->size = rounds;
    for (int layout = 0; layout < 3; layout++) {
        for (size_t i = 0; i < sizeof strides / sizeof *strides && !st; i++) {
            const banked x = {strides[i], rounds};
            const bool conflicts = layout == 0 && x.stride % 2 == 0 && x.stride;
            const rig_arg args[] = {
                {&sums, sizeof(sums)}, {&rounds, sizeof(rounds)}, {&other, sizeof(other)}};
            char options[64];

            snprintf(options, sizeof(options), "-DSTRIDE=%u -DREADS=%d -DLAYOUT=%d", x.stride,
                     BANKS_READS, layout);
            st =
                lab_measure_kernel(l,
                                   (lab_launch){.entry = "lab_banks",
                                                .options = options,
                                                .args = args,
                                                .arg_count = 3,
                                                .global = items,
                                                .local = local,
                                                .out = sums,
                                                .words = items,
                                                .expected = expect_banks,
                                                .context = &x},
                                   (lab_point){.series = layouts[layout],
                                               .x = lab_number(x.stride).at,
                                               .amount = 4.0 * BANKS_READS * rounds * (double)items,
                                               .base = layout == 0 && x.stride == 1,
                                               .claim = conflicts ? 1.0 / x.stride : 1},
                                   err);
        }
    }
    if (sums)
        clReleaseMemObject(sums);
    return st;
}

const experiment lab_banks = {
    .name = "banks",
    .summary = "neighbouring work-items read words of local memory that lie apart: bank conflicts",
    .knob = "stride",
    .counted = "rounds",
    .size_cpu = 128,
    .size = 4096,
    .group = 32,
    .unit = "GB/s",
    .claim =
        "Local memory has 32 banks of one word. Words that lie 2, 4 or 32 apart share 16, 8 or 1 "
        "of "
        "them, and reads of one bank wait for each other: 2, 4 or 32 times as long. One word for "
        "all (stride 0) is a broadcast, and costs nothing; neither does an odd stride. One more "
        "word a row (padded), or the column exclusive-ored with the row (XOR), and a column is as "
        "fast as a row.",
    .on_cpu =
        "A CPU has no such memory: its local memory is ordinary memory, mostly in the first "
        "cache, and a core reads the words of its work-items one after another, wherever they "
        "lie. So there are no conflicts, and nothing is gained by avoiding them.",
    .on_gpu =
        "Where the conflicts are few, the reads are not all that a round costs: addresses and "
        "sums take their own time, so a conflict costs less than its number of turns.",
    .source = "lab/lab_banks.cl",
    .measure = measure_banks,
};

/* ---- barriers ------------------------------------------------------------------------------- */

typedef struct rotated {
    uint32_t group, rounds;
} rotated;

/* Each round hands the values on by one place, and adds 1. */
static uint32_t expect_rotated(const void *context, size_t item)
{
    const rotated *x = context;

    return (uint32_t)((item + x->rounds) % x->group) + x->rounds;
}

static tsr_status measure_barriers(lab *l, tsr_error *err)
{
    const cl_uint rounds = (cl_uint)l->size;
    cl_mem out = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, 1024 * 4, &out, err);

    for (size_t group = 32; group <= 1024 && !st; group *= 2) {
        const rotated x = {(uint32_t)group, rounds};
        char options[32];

        if (group > l->group_max) {
            lab_skip(l, "two a round", lab_number(group).at, "groups of the device are smaller");
            continue;
        }
        snprintf(options, sizeof(options), "-DGROUP=%zu", group);
        st = lab_measure_kernel(
            l,
            (lab_launch){.entry = "lab_barriers",
                         .options = options,
                         .args = (rig_arg[]){{&out, sizeof(out)}, {&rounds, sizeof(rounds)}},
                         .arg_count = 2,
                         .global = group,
                         .local = group,
                         .out = out,
                         .words = group,
                         .expected = expect_rotated,
                         .context = &x},
            (lab_point){.series = "two a round",
                        .x = lab_number(group).at,
                        .amount = 2.0 * rounds,
                        .base = group == 32},
            err);
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_barriers = {
    .name = "barriers",
    .summary =
        "cycles of a barrier, of two a round, with the store or load that it orders, by the size "
        "of the group",
    .knob = "group",
    .counted = "rounds",
    .size_cpu = 512,
    .size = 4096,
    .unit = "cycles",
    .claim =
        "A barrier waits for the slowest work-item of the group, and costs a few cycles beyond "
        "that. "
        "Two of them stand in each step of a tiled loop: one so that what is read was written, one "
        "so that what is overwritten was read.",
    .on_cpu =
        "A core of a CPU runs the work-items of a group one after another. At a barrier it ends "
        "the "
        "loop over all of them and begins another, after it saved what each of them keeps: so a "
        "barrier costs as much as the group is large, and a kernel with many is slow here. Up to "
        "about 48 work-items (PoCL 3.1) the compiler unrolls these loops completely and keeps the "
        "values in registers; beyond that it reads the neighbours' values from memory, which takes "
        "three times as long per work-item.",
    .on_gpu =
        "All warps of the group have to arrive, and those of a large group issue the same few "
        "instructions one after another: so a large group waits longer. A group of one warp "
        "hardly waits at all.",
    .source = "lab/lab_barriers.cl",
    .measure = measure_barriers,
};

/* ---- exchange ------------------------------------------------------------------------------- */

typedef struct exchanged {
    lab_affine step; /* of all exchanges of a value */
    uint32_t mask;   /* between where it began and where it ended */
} exchanged;

static uint32_t expect_exchanged(const void *context, size_t item)
{
    const exchanged *x = context;

    return ((uint32_t)item ^ x->mask) * x->step.mul + x->step.add;
}

/* How the device can exchange registers: KIND of the kernel, 0 where it cannot. */
static tsr_status registers_kind(lab *l, int *kind, tsr_error *err)
{
    const device_facts *d = l->rig.facts;
    const tsr_status st =
        session_probe(l->rig.session, 1u << FEATURE_PTX | 1u << FEATURE_SUBGROUP_SHUFFLE, err);

    *kind = d->feature[FEATURE_PTX] == FEATURE_YES                ? 1
            : d->feature[FEATURE_SUBGROUP_SHUFFLE] == FEATURE_YES ? 2
                                                                  : 0;
    return st;
}

static tsr_status measure_exchange(lab *l, tsr_error *err)
{
    /* Odd: after two rounds a value is back where it began, as one that never moved. */
    const cl_uint rounds = (cl_uint)l->size | 1;
    const device_facts *d = l->rig.facts;
    const exchanged x = {lab_affine_power((lab_affine){5, 1}, 3 * (size_t)rounds), 7};
    const size_t most = size_min(512, l->group_max), items = lab_full_items(l, 512);
    cl_mem out = NULL;
    int registers;
    tsr_status st = registers_kind(l, &registers, err);

    l->size = rounds;
    st = st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, items * 4, &out, err);
    for (size_t group = 32; group <= most && !st; group *= 2) {
        for (int shuffle = 0; shuffle < 2 && !st; shuffle++) {
            const rig_arg args[] = {{&out, sizeof(out)}, {&rounds, sizeof(rounds)}};
            char options[64];

            if (shuffle && !registers) {
                if (group == 32) {
                    snprintf(options, sizeof(options), "no sub-group shuffles: %.40s",
                             d->feature_why[FEATURE_SUBGROUP_SHUFFLE]);
                    lab_skip(l, "registers", "", options);
                }
                continue;
            }
            snprintf(options, sizeof(options), "-DKIND=%d -DGROUP=%zu%s", shuffle ? registers : 0,
                     group, shuffle && registers == 2 ? " -cl-std=CL3.0" : "");
            st = lab_measure_kernel(l,
                                    (lab_launch){.entry = "lab_exchange",
                                                 .options = options,
                                                 .args = args,
                                                 .arg_count = 2,
                                                 .global = items,
                                                 .local = group,
                                                 .out = out,
                                                 .words = items,
                                                 .expected = expect_exchanged,
                                                 .context = &x},
                                    (lab_point){.series = shuffle ? "registers" : "local memory",
                                                .x = lab_number(group).at,
                                                .amount = 3.0 * rounds * (double)items,
                                                .base = !shuffle,
                                                .claim = shuffle ? 5 : 0},
                                    err);
        }
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_exchange = {
    .name = "exchange",
    .summary =
        "values go from work-item to work-item, through local memory or from register to register",
    .knob = "group",
    .counted = "rounds",
    .size_cpu = 64,
    .size = 1024,
    .group = 32,
    .unit = "Gop/s",
    .claim = "A shuffle takes about one cycle, and needs no barrier; through local memory the same "
             "takes "
             "about five, and two barriers besides.",
    .on_cpu =
        "On a CPU a sub-group is a group or a part of it that one core runs: there are no "
        "registers "
        "of neighbours to read, so a shuffle, where there is one, is a loop over its work-items "
        "and memory, as a barrier is. `tessera lab barriers` says why a "
        "small group is faster still.",
    .on_gpu =
        "A shuffle goes through the same crossbar as local memory, at about its rate for one "
        "access; what it saves are the second access and the barriers, which cost the more, the "
        "larger the group is.",
    .source = "lab/lab_exchange.cl",
    .measure = measure_exchange,
};

/* Report that the device lacks what a series needs. */
static void skip_without(lab *l, const char *series, const device_facts *d, feature what)
{
    char why[160];

    snprintf(why, sizeof(why), "it needs %s: %s",
             what == FEATURE_REDUX ? "a warp's reduction in one instruction" : "NVIDIA's warps",
             d->feature_why[what]);
    lab_skip(l, series, "", why);
}

/* ---- votes --------------------------------------------------------------------------------- */

/* The values of the lanes of a warp, which are the same in each. */
typedef struct voted {
    uint32_t value[32];
} voted;

static voted vote(uint32_t rounds)
{
    voted x;

    for (uint32_t lane = 0; lane < 32; lane++)
        x.value[lane] = lane;
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t count = 0;

        for (uint32_t lane = 0; lane < 32; lane++)
            count += (x.value[lane] ^ x.value[lane] >> 7) & 1;
        for (uint32_t lane = 0; lane < 32; lane++)
            x.value[lane] = x.value[lane] * 5 + count + 1;
    }
    return x;
}

static uint32_t expect_voted(const void *context, size_t item)
{
    return ((const voted *)context)->value[item % 32];
}

static tsr_status measure_votes(lab *l, tsr_error *err)
{
    static const char *const series[] = {"local memory", "vote", "reduction", "shuffles"};
    const cl_uint rounds = (cl_uint)l->size;
    const device_facts *d = l->rig.facts;
    const voted x = vote(rounds);
    const size_t most = size_min(512, l->group_max), items = lab_full_items(l, 512);
    cl_mem out = NULL;
    tsr_status st = session_probe(l->rig.session, 1u << FEATURE_PTX | 1u << FEATURE_REDUX, err);

    st = st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, items * 4, &out, err);
    for (size_t group = 32; group <= most && !st; group *= 4) {
        for (int kind = 0; kind < 4 && !st; kind++) {
            const feature needs = kind == 2 ? FEATURE_REDUX : FEATURE_PTX;
            const rig_arg args[] = {{&out, sizeof(out)}, {&rounds, sizeof(rounds)}};
            char options[64];

            if (kind && d->feature[needs] != FEATURE_YES) {
                if (group == 32)
                    skip_without(l, series[kind], d, needs);
                continue;
            }
            snprintf(options, sizeof(options), "-DKIND=%d -DGROUP=%zu", kind, group);
            st = lab_measure_kernel(l,
                                    (lab_launch){.entry = "lab_votes",
                                                 .options = options,
                                                 .args = args,
                                                 .arg_count = 2,
                                                 .global = items,
                                                 .local = group,
                                                 .out = out,
                                                 .words = items,
                                                 .expected = expect_voted,
                                                 .context = &x},
                                    (lab_point){.series = series[kind],
                                                .x = lab_number(group).at,
                                                .amount = (double)rounds * (double)items,
                                                .base = !kind},
                                    err);
        }
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_votes = {
    .name = "votes",
    .summary =
        "how many work-items of a warp say yes: by local memory, votes, reductions, shuffles",
    .knob = "group",
    .counted = "rounds",
    .size_cpu = 64,
    .size = 1024,
    .group = 32,
    .unit = "Gop/s",
    .claim =
        "A vote asks all work-items of a warp in one instruction: __ballot_sync and a count of "
        "bits say how many. __reduce_add_sync adds up integers of a warp in one instruction "
        "too, from compute capability 8.0 on, where shuffles take five; there is none for "
        "floats.",
    .on_cpu =
        "A CPU has no warps that could vote: work-items of a group run one after another, and "
        "what is left is local memory with barriers.",
    .on_gpu = "A vote and the instruction that adds are each about as fast as two shuffles, where "
              "five are "
              "needed. Atomic operations on one word of local memory for each warp come up to the "
              "shuffles in "
              "large groups.",
    .source = "lab/lab_votes.cl",
    .measure = measure_votes,
};

/* ---- masks --------------------------------------------------------------------------------- */

typedef struct turned {
    uint32_t group, team, rounds;
} turned;

static uint32_t expect_turned(const void *context, size_t item)
{
    const turned *x = context;
    const uint32_t own = (uint32_t)(item % x->group), first = own / x->team * x->team;

    return first + (own - first + x->rounds) % x->team + x->rounds;
}

static tsr_status measure_masks(lab *l, tsr_error *err)
{
    static const char *const series[] = {"barrier of the group", "mask of the team"};
    const size_t group = size_min(256, l->group_max / 32 * 32);
    /* Odd: after a number that the team divides a value is back where it began. */
    const cl_uint rounds = (cl_uint)l->size | 1;
    const device_facts *d = l->rig.facts;
    cl_mem out = NULL;
    tsr_status st = session_probe(l->rig.session, 1u << FEATURE_PTX, err);

    l->size = rounds;
    st = st ? st : rig_buffer(&l->rig, CL_MEM_WRITE_ONLY, group * 4, &out, err);
    for (int masked = 0; masked < 2 && !st; masked++) {
        if (masked && d->feature[FEATURE_PTX] != FEATURE_YES) {
            skip_without(l, series[masked], d, FEATURE_PTX);
            break;
        }
        for (uint32_t team = 2; team <= 32 && !st; team *= 2) {
            const turned x = {(uint32_t)group, team, rounds};
            const rig_arg args[] = {{&out, sizeof(out)}, {&rounds, sizeof(rounds)}};
            char options[64];

            snprintf(options, sizeof(options), "-DTEAM=%u -DMASKED=%d -DGROUP=%zu", team, masked,
                     group);
            st = lab_measure_kernel(l,
                                    (lab_launch){.entry = "lab_masks",
                                                 .options = options,
                                                 .args = args,
                                                 .arg_count = 2,
                                                 .global = group,
                                                 .local = group,
                                                 .out = out,
                                                 .words = group,
                                                 .expected = expect_turned,
                                                 .context = &x},
                                    (lab_point){.series = series[masked],
                                                .x = lab_number(team).at,
                                                .amount = 2.0 * rounds,
                                                .base = !masked && team == 2},
                                    err);
        }
    }
    if (out)
        clReleaseMemObject(out);
    return st;
}

const experiment lab_masks = {
    .name = "masks",
    .summary =
        "cycles of a wait for 2 to 32 neighbours: a barrier of the group, or a mask of lanes",
    .knob = "team",
    .counted = "rounds",
    .size_cpu = 512,
    .size = 4096,
    .group = 32,
    .unit = "cycles",
    .claim =
        "Work-items of a warp that exchange with each other alone need no barrier of the group: "
        "__syncwarp with a mask waits for the lanes that the mask names, and only these have to "
        "come.",
    .on_cpu = "A CPU has no warps: any wait is a barrier of the group, which is a loop over its "
              "work-items, and all of these cost the same.",
    .on_gpu = "Teams of one warp that have masks of their own wait one after another: sixteen "
              "teams of two "
              "lanes take longer than a barrier of the group, one mask of all lanes takes less "
              "than half of it.",
    .source = "lab/lab_masks.cl",
    .measure = measure_masks,
};

/* ---- atomics -------------------------------------------------------------------------------- */

/* By compare-and-swap those who meet begin again, each as often as others are faster: so only as
 * many work-items as SWAP_GROUPS have. */
enum { ATOMIC_ADDS = 16, SWAP_ADDS = 4, SWAP_GROUPS = 4, ATOMIC_COUNTERS_MAX = 1024 };

/* What a kernel of atomic operations leaves in each word, which begins with 0xFFFFFFFF and gets
 * `each` of them. */
typedef struct atomic_way {
    const char *series, *entry;
    uint32_t (*expected)(const void *each, size_t word);
    bool one;  /* it is about one sum */
    bool swap; /* by compare-and-swap */
    bool warp; /* needs a warp's shuffle */
} atomic_way;

static uint32_t expect_counts(const void *each, size_t word)
{
    (void)word;
    return *(const uint32_t *)each - 1;
}

static uint32_t expect_subtracted(const void *each, size_t word)
{
    (void)word;
    return UINT32_MAX - *(const uint32_t *)each;
}

static uint32_t expect_minimum(const void *each, size_t word)
{
    (void)each;
    (void)word;
    return 5;
}

/* 2048 and 1 more is 2048 in float16: there a sum of ones ends.  The bits are turned. */
static uint32_t expect_half(const void *each, size_t word)
{
    const uint32_t sum = (uint32_t)size_min(*(const uint32_t *)each, 2048);
    uint32_t exponent = 0;

    (void)word;
    while (sum >> (exponent + 1))
        exponent++;
    return ~((15 + exponent) << 10 | (sum << 10 >> exponent & 0x3FF));
}

static tsr_status measure_atomics(lab *l, tsr_error *err)
{
    static const atomic_way ways[] = {
        {"global memory", "lab_atomics_global", expect_counts, false, false, false},
        {"local memory", "lab_atomics_local", expect_counts, false, false, false},
        {"subtraction", "lab_atomics_subtract", expect_subtracted, false, false, false},
        {"minimum", "lab_atomics_minimum", expect_minimum, false, false, false},
        {"swap", "lab_atomics_swap", expect_counts, false, true, false},
        {"float16 by swap", "lab_atomics_half", expect_half, false, true, false},
        {"one a group", "lab_atomics_group", expect_counts, true, false, false},
        {"one a warp", "lab_atomics_warp", expect_counts, true, false, true}};
    const device_facts *d = l->rig.facts;
    const size_t group = size_min(256, l->group_max / 32 * 32);
    cl_mem counts = NULL;
    tsr_status st = rig_buffer(&l->rig, CL_MEM_READ_WRITE, ATOMIC_COUNTERS_MAX * 4, &counts, err);

    l->size = size_round_up(l->size, group * ATOMIC_COUNTERS_MAX);
    st = st ? st : session_probe(l->rig.session, 1u << FEATURE_PTX, err);
    for (size_t i = 0; i < ARRAY_COUNT(ways) && !st; i++) {
        const atomic_way *kind = &ways[i];
        const size_t items = kind->swap ? SWAP_GROUPS * group : l->size;
        const size_t adds = kind->swap ? SWAP_ADDS : ATOMIC_ADDS;

        if (kind->warp && d->feature[FEATURE_PTX] != FEATURE_YES) {
            skip_without(l, kind->series, d, FEATURE_PTX);
            continue;
        }
        for (size_t counters = 1; counters <= (kind->one ? 1 : ATOMIC_COUNTERS_MAX) && !st;
             counters *= 4) {
            const uint32_t each = (uint32_t)(items / counters * adds);
            const rig_arg args[] = {{&counts, sizeof(counts)}};
            char options[64];

            snprintf(options, sizeof(options), "-DCOUNTERS=%zu -DADDS=%zu -DGROUP=%zu -DWARPS=%d",
                     counters, adds, group, kind->warp);
            st = lab_measure_kernel(l,
                                    (lab_launch){.entry = kind->entry,
                                                 .options = options,
                                                 .args = args,
                                                 .arg_count = 1,
                                                 .global = items,
                                                 .local = group,
                                                 .out = counts,
                                                 .words = counters,
                                                 .expected = kind->expected,
                                                 .context = &each},
                                    (lab_point){.series = kind->series,
                                                .x = lab_number(counters).at,
                                                .amount = (double)items * (double)adds,
                                                .base = i == 0 && counters == 1},
                                    err);
        }
    }
    if (counts)
        clReleaseMemObject(counts);
    return st;
}

const experiment lab_atomics = {
    .name = "atomics",
    .summary = "atomic operations on 1 to 1024 words, in global and local memory: contention",
    .knob = "counters",
    .counted = "work-items",
    .size_cpu = (size_t)1 << 16,
    .size = (size_t)1 << 22,
    .group = 32,
    .unit = "Gop/s",
    .claim =
        "Never add atomically from every work-item: thousands of additions to one word wait for "
        "each "
        "other. Add up in registers and local memory first; then one addition a group is left, in "
        "place of 256, or one a warp, in place of 32. What has no instruction of its own is made "
        "of compare-and-swap.",
    .on_cpu =
        "Only as many additions can meet as there are cores, and a core keeps the line with the "
        "counter as long as it needs it alone. What costs is to take it from another core; local "
        "memory is the core's own, so there nothing meets. Swaps are few here, so that starting "
        "them is most of the time.",
    .on_gpu =
        "The second cache adds by itself, and drivers add up the additions of a warp to one word "
        "before they send them: so one counter is less of a disaster than it was. What is added in "
        "registers costs nothing at all. A swap that fails is done again, and of all that meet one "
        "succeeds at a time: only four groups swap here, and many counters make them as "
        "fast as a launch.",
    .source = "lab/lab_atomics.cl",
    .measure = measure_atomics,
};
