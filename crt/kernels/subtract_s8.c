/* The out-of-line form, for any parameters. */
#include "microgen/subtract_s8.h"

void mg_subtract_s8(const mg_subtract_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                    int8_t *output)
{
    mg_subtract_s8_body(p, lhs, rhs, output);
}
