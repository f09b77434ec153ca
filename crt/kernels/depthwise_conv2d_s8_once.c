/* The out-of-line form, for any parameters. */
#include "microgen/depthwise_conv2d_s8_once.h"

void mg_depthwise_conv2d_s8_once(const mg_depthwise_conv2d_s8_once_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    mg_depthwise_conv2d_s8_once_body(p, input, weight, bias, multiplier, shift, output);
}
