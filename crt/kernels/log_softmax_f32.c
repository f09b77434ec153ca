/* The out-of-line form, for any parameters. */
#include "microgen/log_softmax_f32.h"

void mg_log_softmax_f32(const mg_log_softmax_f32_params *p, const float *input, float *output)
{
    mg_log_softmax_f32_body(p, input, output);
}
