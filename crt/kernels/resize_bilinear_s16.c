/* The out-of-line form, for any parameters. */
#include "microgen/resize_bilinear_s16.h"

void mg_resize_bilinear_s16(const mg_resize_bilinear_s16_params *p, const int16_t *input,
                            int16_t *output)
{
    mg_resize_bilinear_s16_body(p, input, output);
}
