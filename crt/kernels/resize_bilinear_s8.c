/* The out-of-line form, for any parameters. */
#include "microgen/resize_bilinear_s8.h"

void mg_resize_bilinear_s8(const mg_resize_bilinear_s8_params *p, const int8_t *input,
                           int8_t *output)
{
    mg_resize_bilinear_s8_body(p, input, output);
}
