/* The out-of-line form, for any parameters. */
#include "microgen/prelu_s16.h"

void mg_prelu_s16(const mg_prelu_s16_params *p, const int16_t *input, const int8_t *alpha,
                  int16_t *output)
{
    mg_prelu_s16_body(p, input, alpha, output);
}
