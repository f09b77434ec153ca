/* The out-of-line form, for any parameters. */
#include "microgen/pad.h"

void mg_pad(const mg_pad_params *p, const void *input, void *output)
{
    mg_pad_body(p, input, output);
}
