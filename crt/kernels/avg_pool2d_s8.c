/* The out-of-line form, for any parameters. */
#include "microgen/avg_pool2d_s8.h"

void mg_avg_pool2d_s8(const mg_avg_pool2d_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_avg_pool2d_s8_body(p, input, output);
}
