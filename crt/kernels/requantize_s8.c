/* The out-of-line form, for any parameters. */
#include "microgen/requantize_s8.h"

void mg_requantize_s8(const mg_requantize_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_requantize_s8_body(p, input, output);
}
