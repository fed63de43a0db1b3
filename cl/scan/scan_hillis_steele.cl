/* Scan: every element adds the one before it, then the one two before, four before...
 *
 * Idea: after the round of distance d each element is the sum of the 2 d up to it,
 *     so log2(n) rounds do, and in each of them all elements are independent.
 *     Nothing is shared and nothing waits, but each round reads and writes all of
 *     memory: n log2(n) additions, where a loop needs n.
 * Work split: one work-item for each element, in each of the launches.
 * Parameters: EXCLUSIVE, 0 or 1.  GROUP decides on the host alone.
 * Launch: 1-D, n work-items: hillis_steele_start once, then hillis_steele_round for
 *     each distance 1, 2, 4... below n, from one array to the other and back.
 * Local memory: none.
 * Limits: float32 sums of one line.
 *
 * Hillis and Steele, "Data parallel algorithms", Comm. ACM 29, 1986.
 */
#ifndef EXCLUSIVE
#error "EXCLUSIVE: 0 or 1"
#endif

/* A call, as one argument; the host's line_call has the same members. */
typedef struct line_call {
    ulong n, from, to; /* elements; indexes of the first ones of what is read and written */
    ulong distance;
} line_call;

__kernel void hillis_steele_start(__global const float *restrict x, __global float *restrict y,
                                  const line_call call)
{
    const ulong i = get_global_id(0);

    if (i < call.n) {
        /* An exclusive scan is an inclusive one of the elements shifted by one, 0 first. */
        if (EXCLUSIVE)
            y[call.to + i] = i > 0 ? x[call.from + i - 1] : 0;
        else
            y[call.to + i] = x[call.from + i];
    }
}

__kernel void hillis_steele_round(__global const float *restrict x, __global float *restrict y,
                                  const line_call call)
{
    const ulong i = get_global_id(0);

    if (i < call.n) {
        const float own = x[call.from + i];

        y[call.to + i] = i >= call.distance ? x[call.from + i - call.distance] + own : own;
    }
}
