/* Experiment: an array of structures, or a structure of arrays.
 *
 * Idea      records of FIELDS words.  As an array of structures, the same field of neighbouring records
 *           lies FIELDS words apart; as a structure of arrays, one array a field, side by side.  Who
 *           wants one field of each record moves FIELDS times as much of the first; who wants all
 *           fields needs every line that moves, if the cache keeps it until its other words are read
 * Work      an item adds up one field, or ALL, of READS records
 * Params    FIELDS; READS; ALL, 0 or 1; ARRAYS: 1 for the structure of arrays
 * Launch    1-D, records / READS work-items
 */
#ifndef FIELDS
#error "FIELDS: words of a record"
#endif
#ifndef READS
#error "READS: records of a work-item"
#endif
#ifndef ALL
#error "ALL: 1 for every field, 0 for the first"
#endif
#ifndef ARRAYS
#error "ARRAYS: 1 for an array of each field, 0 for an array of records"
#endif

__kernel void lab_structures(__global const uint *in, __global uint *out)
{
    const uint item = get_global_id(0), items = get_global_size(0), records = items * READS;
    uint sum = 0;

#pragma unroll
    for (uint r = 0; r < READS; r++) {
        const uint record = r * items + item;

#pragma unroll
        for (uint f = 0; f < (ALL ? FIELDS : 1); f++)
            sum += in[ARRAYS ? f * records + record : record * FIELDS + f];
    }
    out[item] = sum;
}
