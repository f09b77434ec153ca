/* The out-of-line form, for any parameters. */
#include "microgen/add_s8.h"

void mg_add_s8(const mg_add_s8_params *p, const int8_t *lhs, const int8_t *rhs, int8_t *output)
{
    mg_add_s8_body(p, lhs, rhs, output);
}
