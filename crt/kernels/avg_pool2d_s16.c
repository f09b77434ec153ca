/* The out-of-line form, for any parameters. */
#include "microgen/avg_pool2d_s16.h"

void mg_avg_pool2d_s16(const mg_avg_pool2d_s16_params *p, const int16_t *input, int16_t *output)
{
    mg_avg_pool2d_s16_body(p, input, output);
}
