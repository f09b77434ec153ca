/* The out-of-line form, for any parameters. */
#include "microgen/lookup_s16.h"

void mg_lookup_s16(const mg_lookup_s16_params *p, const int16_t *input, const int16_t *table,
                   int16_t *output)
{
    mg_lookup_s16_body(p, input, table, output);
}
