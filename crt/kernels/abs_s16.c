/* The out-of-line form, for any parameters. */
#include "microgen/abs_s16.h"

void mg_abs_s16(const mg_abs_s16_params *p, const int16_t *input, int16_t *output)
{
    mg_abs_s16_body(p, input, output);
}
