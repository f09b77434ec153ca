/* The out-of-line form, for any parameters. */
#include "microgen/conv2d_transpose_s8_portable.h"

void mg_conv2d_transpose_s8_portable(const mg_conv2d_transpose_s8_portable_params *p,
                                     const int8_t *input, const int8_t *weight, const int32_t *bias,
                                     const int32_t *multiplier, const int8_t *rounding_shift,
                                     int8_t *output)
{
    mg_conv2d_transpose_s8_portable_body(p, input, weight, bias, multiplier, rounding_shift,
                                         output);
}
