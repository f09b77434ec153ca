/* The out-of-line form, for any parameters. */
#include "microgen/take_computed.h"

int32_t mg_take_computed(const mg_take_computed_params *p, const void *input,
                         const int32_t *indices, void *output)
{
    return mg_take_computed_body(p, input, indices, output);
}
