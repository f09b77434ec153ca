/* The out-of-line form, for any parameters. */
#include "microgen/sqrt_s16.h"

void mg_sqrt_s16(const mg_sqrt_s16_params *p, const int16_t *input, int16_t *output)
{
    mg_sqrt_s16_body(p, input, output);
}
