/* The out-of-line form, for any parameters. */
#include "microgen/requantize_int.h"

void mg_requantize_int(const mg_requantize_int_params *p, const void *input, void *output)
{
    mg_requantize_int_body(p, input, output);
}
