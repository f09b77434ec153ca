/* The out-of-line form, for any parameters. */
#include "microgen/prelu_s8.h"

void mg_prelu_s8(const mg_prelu_s8_params *p, const int8_t *input, const int8_t *alpha,
                 int8_t *output)
{
    mg_prelu_s8_body(p, input, alpha, output);
}
