/* The out-of-line form, for any parameters. */
#include "microgen/max_pool2d_s8.h"

void mg_max_pool2d_s8(const mg_max_pool2d_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_max_pool2d_s8_body(p, input, output);
}
