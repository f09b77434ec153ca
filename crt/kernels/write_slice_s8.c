/* The out-of-line form, for any parameters. */
#include "microgen/write_slice_s8.h"

void mg_write_slice_s8(const mg_write_slice_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_write_slice_s8_body(p, input, output);
}
