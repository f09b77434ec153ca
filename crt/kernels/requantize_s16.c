/* The out-of-line form, for any parameters. */
#include "microgen/requantize_s16.h"

void mg_requantize_s16(const mg_requantize_s16_params *p, const void *input, void *output)
{
    mg_requantize_s16_body(p, input, output);
}
