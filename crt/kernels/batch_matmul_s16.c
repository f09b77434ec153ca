/* The out-of-line form, for any parameters. */
#include "microgen/batch_matmul_s16.h"

void mg_batch_matmul_s16(const mg_batch_matmul_s16_params *p, const int16_t *lhs,
                         const int16_t *rhs, int16_t *output)
{
    mg_batch_matmul_s16_body(p, lhs, rhs, output);
}
