/* Experiment: integer beside floating-point arithmetic.
 *
 * Idea      a unit has lanes for float and lanes for integers.  If they run side by side, FLOATS chains of
 *           one and INTEGERS of the other take no longer together than the longer of them alone
 * Work      an item goes `rounds` steps: of each float chain a multiply-add, of each integer chain an
 *           exclusive or and a sum
 * Params    FLOATS, INTEGERS: chains, 0 or more
 * Launch    1-D
 */
#ifndef FLOATS
#error "FLOATS: chains of multiply-adds"
#endif
#ifndef INTEGERS
#error "INTEGERS: chains of integer operations"
#endif

__kernel void lab_integers(__global uint *out, uint rounds, float factor, float term, uint mask,
                           uint add)
{
    float x[FLOATS + 1], sum = 0;
    uint n[INTEGERS + 1], total = 0;

#pragma unroll
    for (uint c = 0; c < FLOATS; c++)
        x[c] = (float)c;
#pragma unroll
    for (uint c = 0; c < INTEGERS; c++)
        n[c] = get_global_id(0) + c;
#pragma unroll 8
    for (uint i = 0; i < rounds; i++) {
#pragma unroll
        for (uint c = 0; c < FLOATS; c++)
            x[c] = mad(x[c], factor, term);
#pragma unroll
        for (uint c = 0; c < INTEGERS; c++)
            n[c] = (n[c] ^ mask) + add;
    }
#pragma unroll
    for (uint c = 0; c < FLOATS; c++)
        sum += x[c];
#pragma unroll
    for (uint c = 0; c < INTEGERS; c++)
        total += n[c];
    out[get_global_id(0)] = total + (uint)sum;
}
