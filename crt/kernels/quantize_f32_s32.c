/* The out-of-line form, for any parameters. */
#include "microgen/quantize_f32_s32.h"

void mg_quantize_f32_s32(const mg_quantize_f32_s32_params *p, const float *input, int32_t *output)
{
    mg_quantize_f32_s32_body(p, input, output);
}
