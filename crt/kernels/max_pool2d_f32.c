/* The out-of-line form, for any parameters. */
#include "microgen/max_pool2d_f32.h"

void mg_max_pool2d_f32(const mg_max_pool2d_f32_params *p, const float *input, float *output)
{
    mg_max_pool2d_f32_body(p, input, output);
}
