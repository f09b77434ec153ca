/* The out-of-line form, for any parameters. */
#include "microgen/reduce_sum_s16.h"

void mg_reduce_sum_s16(const mg_reduce_sum_s16_params *p, const int16_t *input, int16_t *output)
{
    mg_reduce_sum_s16_body(p, input, output);
}
