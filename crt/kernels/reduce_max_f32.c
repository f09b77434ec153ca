/* The out-of-line form, for any parameters. */
#include "microgen/reduce_max_f32.h"

void mg_reduce_max_f32(const mg_reduce_max_f32_params *p, const float *input, float *output)
{
    mg_reduce_max_f32_body(p, input, output);
}
