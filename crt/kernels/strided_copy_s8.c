/* The out-of-line form, for any parameters. */
#include "microgen/strided_copy_s8.h"

void mg_strided_copy_s8(const mg_strided_copy_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_strided_copy_s8_body(p, input, output);
}
