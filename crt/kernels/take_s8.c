/* The out-of-line form, for any parameters. */
#include "microgen/take_s8.h"

void mg_take_s8(const mg_take_s8_params *p, const int8_t *input, const int32_t *indices,
                int8_t *output)
{
    mg_take_s8_body(p, input, indices, output);
}
