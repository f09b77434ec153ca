/* The out-of-line form, for any parameters. */
#include "microgen/divide_s32.h"

int32_t mg_divide_s32(const mg_divide_s32_params *p, const int32_t *lhs, const int32_t *rhs,
                      int32_t *output)
{
    return mg_divide_s32_body(p, lhs, rhs, output);
}
