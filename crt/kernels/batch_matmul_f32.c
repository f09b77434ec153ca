/* The out-of-line form, for any parameters. */
#include "microgen/batch_matmul_f32.h"

void mg_batch_matmul_f32(const mg_batch_matmul_f32_params *p, const float *lhs, const float *rhs,
                         float *output)
{
    mg_batch_matmul_f32_body(p, lhs, rhs, output);
}
