/* The out-of-line form, for any parameters. */
#include "microgen/rescale_int.h"

void mg_rescale_int(const mg_rescale_int_params *p, const void *input, const int32_t *multiplier,
                    const int8_t *shift, void *output)
{
    mg_rescale_int_body(p, input, multiplier, shift, output);
}
