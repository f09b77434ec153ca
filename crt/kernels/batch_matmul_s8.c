/* The out-of-line form, for any parameters. */
#include "microgen/batch_matmul_s8.h"

void mg_batch_matmul_s8(const mg_batch_matmul_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                        int8_t *output)
{
    mg_batch_matmul_s8_body(p, lhs, rhs, output);
}
