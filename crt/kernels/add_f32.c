/* The out-of-line form, for any parameters. */
#include "microgen/add_f32.h"

void mg_add_f32(const mg_add_f32_params *p, const float *lhs, const float *rhs, float *output)
{
    mg_add_f32_body(p, lhs, rhs, output);
}
