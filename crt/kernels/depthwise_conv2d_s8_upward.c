/* The out-of-line forms, for any parameters. */
#include "microgen/depthwise_conv2d_s8_upward.h"

void mg_depthwise_conv2d_s8_upward_portable(const mg_depthwise_conv2d_s8_upward_portable_params *p,
                                            const int8_t *input, const int8_t *weight,
                                            const int32_t *bias, const int32_t *multiplier,
                                            const int8_t *rounding_shift, int8_t *output)
{
    mg_depthwise_conv2d_s8_upward_portable_body(p, input, weight, bias, multiplier, rounding_shift,
                                                output);
}

void mg_depthwise_conv2d_s8_upward_dsp(const mg_depthwise_conv2d_s8_upward_dsp_params *p,
                                       const int8_t *input, const int8_t *weight,
                                       const int32_t *bias, const int32_t *multiplier,
                                       const int8_t *rounding_shift, int8_t *output)
{
    mg_depthwise_conv2d_s8_upward_dsp_body(p, input, weight, bias, multiplier, rounding_shift,
                                           output);
}
