/* The out-of-line form, for any parameters. */
#include "microgen/conv2d_transpose_f32.h"

void mg_conv2d_transpose_f32(const mg_conv2d_transpose_f32_params *p, const float *input,
                             const float *weight, const float *bias, float *output)
{
    mg_conv2d_transpose_f32_body(p, input, weight, bias, output);
}
