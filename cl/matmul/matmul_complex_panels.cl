/* C := alpha op(A) op(B) + beta C of complex matrices, alpha and beta real: as a real product, for
 * CPUs.
 *
 * Idea: matmul_complex_pipelined.cl with matmul_cpu_panels.cl in place of tiles.
 * Parameters: those of matmul_cpu_panels.cl, of float or double.
 * Launch: matmul_complex_left and matmul_complex_right (matmul_complex_factors.clh), then
 *     that of matmul_cpu_panels.cl with twice the n and k.
 */
#include "matmul/matmul_cpu_panels.cl"

#include "matmul/matmul_complex_factors.clh"
