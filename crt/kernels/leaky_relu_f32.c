/* The out-of-line form, for any parameters. */
#include "microgen/leaky_relu_f32.h"

void mg_leaky_relu_f32(const mg_leaky_relu_f32_params *p, const float *input, float *output)
{
    mg_leaky_relu_f32_body(p, input, output);
}
