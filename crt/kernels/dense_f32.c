/* The out-of-line form, for any parameters. */
#include "microgen/dense_f32.h"

void mg_dense_f32(const mg_dense_f32_params *p, const float *input, const float *weight,
                  const float *bias, float *output)
{
    mg_dense_f32_body(p, input, weight, bias, output);
}
