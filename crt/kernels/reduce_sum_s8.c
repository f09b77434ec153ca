/* The out-of-line form, for any parameters. */
#include "microgen/reduce_sum_s8.h"

void mg_reduce_sum_s8(const mg_reduce_sum_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_reduce_sum_s8_body(p, input, output);
}
