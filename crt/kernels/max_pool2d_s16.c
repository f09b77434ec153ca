/* The out-of-line form, for any parameters. */
#include "microgen/max_pool2d_s16.h"

void mg_max_pool2d_s16(const mg_max_pool2d_s16_params *p, const int16_t *input, int16_t *output)
{
    mg_max_pool2d_s16_body(p, input, output);
}
