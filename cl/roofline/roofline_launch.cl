/* Limit of launches: a kernel that does nothing but count them.
 *
 * Work      one item adds 1 to *count; the old value is not waited for
 * Launch    1-D, one item
 */
__kernel void roofline_launch(__global uint *count)
{
    atomic_inc(count);
}
