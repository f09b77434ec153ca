/* The out-of-line form, for any parameters. */
#include "microgen/prelu_f32.h"

void mg_prelu_f32(const mg_prelu_f32_params *p, const float *input, const float *alpha,
                  float *output)
{
    mg_prelu_f32_body(p, input, alpha, output);
}
