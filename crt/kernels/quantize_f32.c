/* The out-of-line form, for any parameters. */
#include "microgen/quantize_f32.h"

void mg_quantize_f32(const mg_quantize_f32_params *p, const float *input, void *output)
{
    mg_quantize_f32_body(p, input, output);
}
