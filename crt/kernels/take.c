/* The out-of-line form, for any parameters. */
#include "microgen/take.h"

void mg_take(const mg_take_params *p, const void *input, const int32_t *indices, void *output)
{
    mg_take_body(p, input, indices, output);
}
