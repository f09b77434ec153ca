/* The out-of-line form, for any parameters. */
#include "microgen/avg_pool2d_s32.h"

void mg_avg_pool2d_s32(const mg_avg_pool2d_s32_params *p, const int32_t *input, int32_t *output)
{
    mg_avg_pool2d_s32_body(p, input, output);
}
