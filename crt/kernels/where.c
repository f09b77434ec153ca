/* The out-of-line form, for any parameters. */
#include "microgen/where.h"

void mg_where(const mg_where_params *p, const uint8_t *condition, const void *lhs, const void *rhs,
              void *output)
{
    mg_where_body(p, condition, lhs, rhs, output);
}
