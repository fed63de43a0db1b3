/** Problems of grayscale as its files read them, and what its descriptor is made of. */
#ifndef OPS_GRAYSCALE_PROBLEM_H
#define OPS_GRAYSCALE_PROBLEM_H

#include "core/variant.h"
#include "core/view.h"
#include "tessera/grayscale.h"

extern const operation operation_grayscale;

/** grayscale_command.c */
extern const operation_command grayscale_command;

/** grayscale_kernels.c */
extern const variant grayscale_naive, grayscale_packed, grayscale_vectors, grayscale_image;

/** Bytes that `vectors` loads and stores at once. */
enum { GRAYSCALE_VECTOR_BYTES = 16 };

/* The operands, in order. */
enum { GRAYSCALE_COLOUR, GRAYSCALE_GREY };

/** Weights of red, green and blue: in 65536ths, and as float32. */
typedef struct luma_weights {
    uint32_t whole[3];
    float real[3];
} luma_weights;

/** grayscale.c: by tsr_luma. */
extern const luma_weights grayscale_weights[];

/* The problem's structure, to read. */
static inline const tsr_grayscale_problem *grayscale_of(const problem *p)
{
    return (const tsr_grayscale_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_grayscale_problem *grayscale_in(problem *p)
{
    return (tsr_grayscale_problem *)(void *)p->bytes;
}

/* Pixels of a checked problem. */
static inline size_t grayscale_pixels(const tsr_grayscale_problem *p)
{
    return p->height * p->width;
}

static inline view grayscale_colour(const tsr_grayscale_problem *p)
{
    const size_t n = grayscale_pixels(p) * p->channels;

    return view_of(p->type, 1, n, n, p->offset_in, 1, 0);
}

static inline view grayscale_grey(const tsr_grayscale_problem *p)
{
    const size_t n = grayscale_pixels(p);

    return view_of(p->type, 1, n, n, p->offset_out, 1, 0);
}

/** grayscale_command.c: "bt601", "bt709" or "opencv". */
const char *grayscale_luma_name(const problem *p);

/* grayscale_proof.c: as the members of struct operation. */
void grayscale_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);
bool grayscale_sweep(size_t i, bool tiny, problem *out);
tsr_status grayscale_verify(const problem *p, const device_facts *d, const void *const before[],
                            const void *const after[], const void *expected, verdict *out,
                            tsr_error *err);

#endif
