/* The out-of-line form, for any parameters. */
#include "microgen/squared_difference_s8.h"

void mg_squared_difference_s8(const mg_squared_difference_s8_params *p, const int8_t *lhs,
                              const int8_t *rhs, int8_t *output)
{
    mg_squared_difference_s8_body(p, lhs, rhs, output);
}
