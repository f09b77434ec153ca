/* The out-of-line form, for any parameters. */
#include "microgen/l2_normalize_s8.h"

void mg_l2_normalize_s8(const mg_l2_normalize_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_l2_normalize_s8_body(p, input, output);
}
