/**
 * Try a peer module on one problem: check its result, time it, print its rate.
 *
 *     peer_try [OPTION...] MODULE.so matmul MxNxK | matvec ROWSxCOLUMNS | sort N | sort ROWSxN
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer_check.h"

static const char usage[] =
    "usage: peer_try [OPTION...] MODULE.so matmul MxNxK | matvec ROWSxCOLUMNS | sort N | "
    "sort ROWSxN\n"
    "  -t TYPE       float32 float64 int32 uint32 int64 uint64 (default: float32, sort: uint32)\n"
    "  -p PRECISION  f32 f64 tf32 (default: the type's)\n"
    "  -A, -B        transpose A, B        -x ALPHA, -y BETA   (default: 1, 0)\n"
    "  -i            argsort               -d                  descending\n"
    "  -s SETS       input sets (default: 4)\n"
    "  -r SAMPLES    of which the median counts (default: 7)\n"
    "  -D NAME       part of the OpenCL device's name\n";

enum { SAMPLES_MAX = 101 };

typedef struct options {
    peer_problem problem;
    const char *module, *device;
    size_t samples;
    uint64_t *segment_offsets; /* of the problem: to be freed */
} options;

static int type_of(const char *name)
{
    static const char *const names[] = {"float32", "float64", "int32", "uint32", "int64", "uint64"};

    for (int i = 0; i < 6; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

static int parse_rows(const char *size, options *o)
{
    peer_problem *p = &o->problem;
    size_t rows, keys;

    if (sscanf(size, "%zux%zu", &rows, &keys) != 2)
        return sscanf(size, "%zu", &p->n) == 1;
    if (rows == 0 || rows >= SIZE_MAX / sizeof(uint64_t) || (keys && rows > SIZE_MAX / keys))
        return 0;
    o->segment_offsets = malloc((rows + 1) * sizeof(*o->segment_offsets));
    for (size_t i = 0; o->segment_offsets && i <= rows; i++)
        o->segment_offsets[i] = i * keys;
    p->n = rows * keys;
    p->segments = rows;
    p->segment_offsets = o->segment_offsets;
    return o->segment_offsets != NULL;
}

static int parse_problem(const char *op, const char *size, options *o)
{
    peer_problem *p = &o->problem;

    if (strcmp(op, "matmul") == 0) {
        p->op = PEER_MATMUL;
        return sscanf(size, "%zux%zux%zu", &p->m, &p->n, &p->k) == 3;
    }
    if (strcmp(op, "matvec") == 0) {
        p->op = PEER_MATVEC;
        return sscanf(size, "%zux%zu", &p->m, &p->n) == 2;
    }
    p->op = PEER_SORT;
    return strcmp(op, "sort") == 0 && parse_rows(size, o);
}

static int parse(int argc, char **argv, options *o)
{
    peer_problem *p = &o->problem;
    int option;

    *o = (options){.problem = {.type = -2, .alpha = 1, .sets = 4}, .samples = 7};
    while ((option = getopt(argc, argv, "t:p:ABx:y:ids:r:D:")) != -1) {
        switch (option) {
        case 't':
            p->type = type_of(optarg);
            break;
        case 'p':
            p->precision = optarg;
            break;
        case 'A':
            p->trans_a = 1;
            break;
        case 'B':
            p->trans_b = 1;
            break;
        case 'x':
            p->alpha = strtod(optarg, NULL);
            break;
        case 'y':
            p->beta = strtod(optarg, NULL);
            break;
        case 'i':
            p->argsort = 1;
            break;
        case 'd':
            p->descending = 1;
            break;
        case 's':
            p->sets = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            o->samples = strtoul(optarg, NULL, 10);
            break;
        case 'D':
            o->device = optarg;
            break;
        default:
            return 0;
        }
    }
    if (argc - optind != 3 || !parse_problem(argv[optind + 1], argv[optind + 2], o))
        return 0;
    o->module = argv[optind];
    if (p->type == -2)
        p->type = p->op == PEER_SORT ? 3 : 0;
    if (!p->precision)
        p->precision = p->op == PEER_SORT ? "" : p->type == 0 ? "f32" : "f64";
    return p->type >= 0 && p->sets > 0 && o->samples > 0 && o->samples <= SAMPLES_MAX;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Calls for a sample of some 20 ms, going round all sets; a sort has one a set. */
static size_t calls_for(const peer_problem *p, double one_ns)
{
    const size_t rounds = (size_t)(20e6 / (one_ns > 1 ? one_ns : 1)) / p->sets;

    return p->op == PEER_SORT ? p->sets : p->sets * (1 + rounds);
}

static int time_peer(const peer *who, void *state, const peer_trial *t, size_t samples,
                     double worst)
{
    double ns[SAMPLES_MAX], one = 0;
    const char *unit;
    const double work = peer_trial_work(t, &unit);
    size_t calls;
    int rc;

    rc = who->restore ? who->restore(state) : 0;
    if (rc == 0)
        rc = who->run(state, 1, &one);
    calls = calls_for(&t->problem, one);
    for (size_t i = 0; i < samples && rc == 0; i++) {
        rc = who->restore ? who->restore(state) : 0;
        if (rc == 0)
            rc = who->run(state, calls, &ns[i]);
        ns[i] /= (double)calls;
    }
    if (rc != 0) {
        printf("%s: run failed with %d\n", who->name, rc);
        return 1;
    }
    qsort(ns, samples, sizeof(ns[0]), by_size);
    printf("%s %s: %.4f ms (%.4f to %.4f, %zu samples of %zu calls), %.4g %s, error %.2g of its "
           "bound\n",
           who->name, who->version, ns[samples / 2] * 1e-6, ns[0] * 1e-6, ns[samples - 1] * 1e-6,
           samples, calls, work / ns[samples / 2], unit, worst);
    return 0;
}

/* 0 done, 1 failed, 3 a wrong result. */
static int try_peer(const peer *who, peer_trial *t, const peer_device *d, size_t samples)
{
    char why[PEER_LINE] = "";
    double unused, worst;
    const char *unsupported;
    void *state;
    int rc;

    if (who->place == PEER_CUDA && !d->nvidia)
        t->problem.cl_device = NULL; /* there is no OpenCL device to be the same as */
    unsupported = who->unsupported(&t->problem);
    if (unsupported) {
        printf("%s %s: unsupported: %s\n", who->name, who->version, unsupported);
        return 0;
    }
    state = who->open(&t->problem, why, sizeof(why));
    if (!state) {
        printf("%s %s: open failed: %s\n", who->name, who->version, why);
        return 1;
    }
    rc = who->run(state, 1, &unused);
    if (rc == 0)
        rc = who->result(state, t->out, t->out2);
    if (rc != 0) {
        printf("%s: run or result failed with %d\n", who->name, rc);
        rc = 1;
    } else if (peer_trial_check(t, &worst, why, sizeof(why)) != 0) {
        printf("%s %s: wrong: %s\n", who->name, who->version, why);
        rc = 3;
    } else {
        rc = time_peer(who, state, t, samples, worst);
    }
    who->close(state);
    return rc;
}

int main(int argc, char **argv)
{
    char why[PEER_LINE] = "";
    peer_device device = {0};
    const peer_list *list;
    peer_trial trial;
    options o;
    int status = 0;

    if (!parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    list = peer_load(o.module, why, sizeof(why));
    if (!list) {
        fprintf(stderr, "peer_try: %s\n", why);
        return 1;
    }
    /* Peers of the CPU and of CUDA need none. */
    if (peer_device_open(o.device, &device, why, sizeof(why)) != 0 &&
        list->peers[0].place == PEER_OPENCL) {
        fprintf(stderr, "peer_try: %s\n", why);
        return 1;
    }
    if (peer_trial_make(&o.problem, &device, 1, 0, &trial) != 0) {
        fprintf(stderr, "peer_try: no memory for the operands\n");
        peer_device_close(&device);
        return 1;
    }
    for (size_t i = 0; i < list->count; i++) {
        const int rc = try_peer(&list->peers[i], &trial, &device, o.samples);

        status = rc > status ? rc : status;
    }
    peer_trial_free(&trial);
    peer_device_close(&device);
    free(o.segment_offsets);
    return status;
}
