/* The out-of-line form, for any parameters. */
#include "microgen/conv2d_s8_mve.h"

#if defined(__ARM_FEATURE_MVE)

void mg_conv2d_s8_mve(const mg_conv2d_s8_mve_params *p, const int8_t *input, const int8_t *weight,
                      const int32_t *bias, const int32_t *multiplier, const int8_t *shift,
                      int8_t *output, uint8_t *scratch)
{
    mg_conv2d_s8_mve_body(p, input, weight, bias, multiplier, shift, output, scratch);
}

#endif
