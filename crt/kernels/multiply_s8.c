/* The out-of-line form, for any parameters. */
#include "microgen/multiply_s8.h"

void mg_multiply_s8(const mg_multiply_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                    int8_t *output)
{
    mg_multiply_s8_body(p, lhs, rhs, output);
}
