/* The out-of-line form, for any parameters. */
#include "microgen/divide_s8.h"

int32_t mg_divide_s8(const mg_divide_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                     int8_t *output)
{
    return mg_divide_s8_body(p, lhs, rhs, output);
}
