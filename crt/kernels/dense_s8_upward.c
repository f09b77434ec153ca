/* The out-of-line forms, for any parameters. */
#include "microgen/dense_s8_upward.h"

void mg_dense_s8_upward_portable(const mg_dense_s8_upward_portable_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    mg_dense_s8_upward_portable_body(p, input, weight, bias, multiplier, shift, output);
}

void mg_dense_s8_upward_dsp(const mg_dense_s8_upward_dsp_params *p, const int8_t *input,
                            const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                            const int8_t *shift, int8_t *output)
{
    mg_dense_s8_upward_dsp_body(p, input, weight, bias, multiplier, shift, output);
}
