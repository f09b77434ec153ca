/* The out-of-line form, for any parameters. */
#include "microgen/dense_s16_fixed.h"

void mg_dense_s16_fixed(const mg_dense_s16_fixed_params *p, const int16_t *input,
                        const int8_t *weight, const int64_t *bias, const int32_t *multiplier,
                        const int8_t *shift, int16_t *output)
{
    mg_dense_s16_fixed_body(p, input, weight, bias, multiplier, shift, output);
}
