/* The out-of-line form, for any parameters. */
#include "microgen/mirror_pad_s8.h"

void mg_mirror_pad_s8(const mg_mirror_pad_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_mirror_pad_s8_body(p, input, output);
}
