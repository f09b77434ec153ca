/* The out-of-line form, for any parameters. */
#include "microgen/l2_normalize_f32.h"

void mg_l2_normalize_f32(const mg_l2_normalize_f32_params *p, const float *input, float *output)
{
    mg_l2_normalize_f32_body(p, input, output);
}
