/* The out-of-line form, for any parameters. */
#include "microgen/lookup_s8.h"

void mg_lookup_s8(const mg_lookup_s8_params *p, const int8_t *input, const int8_t *table,
                  int8_t *output)
{
    mg_lookup_s8_body(p, input, table, output);
}
