/* The out-of-line form, for any parameters. */
#include "microgen/depthwise_conv2d_s8_s32.h"

void mg_depthwise_conv2d_s8_s32(const mg_depthwise_conv2d_s8_s32_params *p, const int8_t *input,
                                const int8_t *weight, const int32_t *bias, int32_t *output)
{
    mg_depthwise_conv2d_s8_s32_body(p, input, weight, bias, output);
}
