/* The out-of-line form, for any parameters. */
#include "microgen/conv2d_transpose_s8.h"

void mg_conv2d_transpose_s8(const mg_conv2d_transpose_s8_params *p, const int8_t *input,
                            const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                            const int8_t *shift, int8_t *output)
{
    mg_conv2d_transpose_s8_body(p, input, weight, bias, multiplier, shift, output);
}
