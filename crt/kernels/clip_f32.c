/* The out-of-line form, for any parameters. */
#include "microgen/clip_f32.h"

void mg_clip_f32(const mg_clip_f32_params *p, const float *input, float *output)
{
    mg_clip_f32_body(p, input, output);
}
