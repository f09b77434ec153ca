/* The out-of-line form, for any parameters. */
#include "microgen/dequantize_f32.h"

void mg_dequantize_f32(const mg_dequantize_f32_params *p, const void *input, float *output)
{
    mg_dequantize_f32_body(p, input, output);
}
