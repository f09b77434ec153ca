/* The out-of-line form, for any parameters. */
#include "microgen/dense_hybrid_f32.h"

void mg_dense_hybrid_f32(const mg_dense_hybrid_f32_params *p, const float *input,
                         const int8_t *weight, const float *bias, const float *scale, float *output,
                         uint8_t *scratch)
{
    mg_dense_hybrid_f32_body(p, input, weight, bias, scale, output, scratch);
}
