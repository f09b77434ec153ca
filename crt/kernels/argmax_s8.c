/* The out-of-line form, for any parameters. */
#include "microgen/argmax_s8.h"

void mg_argmax_s8(const mg_argmax_s8_params *p, const int8_t *input, void *output)
{
    mg_argmax_s8_body(p, input, output);
}
