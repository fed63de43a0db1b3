/* C := alpha op(A) op(B) + beta C of complex matrices, alpha and beta real: as a real product.
 *
 * Idea: complex numbers as 2 x 2 real matrices.  One launch writes op(B) so, another
 *     one copies A where it is transposed, and matmul_pipelined.cl multiplies them: four
 *     real products at its rate.
 * Parameters: those of matmul_pipelined.cl, of float or double.
 * Launch: matmul_complex_left and matmul_complex_right (matmul_complex_factors.clh), then
 *     those of matmul_pipelined.cl with twice the n and k.
 */
#include "matmul/matmul_pipelined.cl"

#include "matmul/matmul_complex_factors.clh"
