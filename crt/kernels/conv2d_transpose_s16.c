/* The out-of-line form, for any parameters. */
#include "microgen/conv2d_transpose_s16.h"

void mg_conv2d_transpose_s16(const mg_conv2d_transpose_s16_params *p, const int16_t *input,
                             const int8_t *weight, const int64_t *bias, const int32_t *multiplier,
                             const int8_t *shift, int16_t *output)
{
    mg_conv2d_transpose_s16_body(p, input, weight, bias, multiplier, shift, output);
}
