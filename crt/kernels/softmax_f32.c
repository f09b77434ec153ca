/* The out-of-line form, for any parameters. */
#include "microgen/softmax_f32.h"

void mg_softmax_f32(const mg_softmax_f32_params *p, const float *input, float *output)
{
    mg_softmax_f32_body(p, input, output);
}
