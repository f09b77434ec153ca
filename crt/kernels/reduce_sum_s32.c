/* The out-of-line form, for any parameters. */
#include "microgen/reduce_sum_s32.h"

void mg_reduce_sum_s32(const mg_reduce_sum_s32_params *p, const int32_t *input, int32_t *output)
{
    mg_reduce_sum_s32_body(p, input, output);
}
