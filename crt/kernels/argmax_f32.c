/* The out-of-line form, for any parameters. */
#include "microgen/argmax_f32.h"

void mg_argmax_f32(const mg_argmax_f32_params *p, const float *input, void *output)
{
    mg_argmax_f32_body(p, input, output);
}
