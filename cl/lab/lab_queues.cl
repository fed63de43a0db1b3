/* Experiment: rows of a matrix times a vector, block by block over several queues.
 *
 * Work      an item multiplies one row by the vector of its column numbers, modulo 2^32
 * Launch    1-D, rows of the block
 */
__kernel void lab_queues(__global const uint *rows, __global uint *out, uint columns)
{
    __global const uint *row = rows + (ulong)get_global_id(0) * columns;
    uint sum = 0;

    for (uint i = 0; i < columns; i++)
        sum += row[i] * i;
    out[get_global_id(0)] = sum;
}
