/* The out-of-line form, for any parameters. */
#include "microgen/resize_bilinear_f32.h"

void mg_resize_bilinear_f32(const mg_resize_bilinear_f32_params *p, const float *input,
                            float *output)
{
    mg_resize_bilinear_f32_body(p, input, output);
}
