/* The out-of-line form, for any parameters. */
#include "microgen/logical_not_bool.h"

void mg_logical_not_bool(const mg_logical_not_bool_params *p, const uint8_t *input, uint8_t *output)
{
    mg_logical_not_bool_body(p, input, output);
}
