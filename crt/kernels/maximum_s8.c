/* The out-of-line form, for any parameters. */
#include "microgen/maximum_s8.h"

void mg_maximum_s8(const mg_maximum_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output)
{
    mg_maximum_s8_body(p, lhs, rhs, output);
}
