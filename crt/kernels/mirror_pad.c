/* The out-of-line form, for any parameters. */
#include "microgen/mirror_pad.h"

void mg_mirror_pad(const mg_mirror_pad_params *p, const void *input, void *output)
{
    mg_mirror_pad_body(p, input, output);
}
