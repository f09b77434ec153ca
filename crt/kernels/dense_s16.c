/* The out-of-line form, for any parameters. */
#include "microgen/dense_s16.h"

void mg_dense_s16(const mg_dense_s16_params *p, const int16_t *input, const int8_t *weight,
                  const int64_t *bias, const int64_t *significand, const int8_t *shift,
                  int16_t *output)
{
    mg_dense_s16_body(p, input, weight, bias, significand, shift, output);
}
