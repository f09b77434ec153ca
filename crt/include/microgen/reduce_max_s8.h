/* Greatest or least int8 values over any axes. */
#ifndef MICROGEN_REDUCE_MAX_S8_H
#define MICROGEN_REDUCE_MAX_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[6];   /* as microgen/reduction.h says */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_reduce_max_s8_params;

/* Writes the extremes of input [shape] over its reduced axes into output [kept axes]. Output must
 * not overlap the input. */
void mg_reduce_max_s8(const mg_reduce_max_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE int8_t mg_reduce_max_s8_extreme(const mg_reduce_max_s8_params *p, const int8_t *first)
{
    const int32_t stride_1 = mg_reduction_stride_1(p->shape);
    const int32_t stride_3 = mg_reduction_stride_3(p->shape);
    int8_t best = first[0];

    for (int32_t i = 0; i < p->shape[1]; i++) {
        for (int32_t j = 0; j < p->shape[3]; j++) {
            for (int32_t k = 0; k < p->shape[5]; k++) {
                const int8_t value = first[i * stride_1 + j * stride_3 + k];
                if ((p->is_minimum != 0) ? (value < best) : (value > best)) {
                    best = value;
                }
            }
        }
    }
    return best;
}

MG_INLINE void mg_reduce_max_s8_body(const mg_reduce_max_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    for (int32_t i = 0; i < mg_reduction_size(p->shape); i++) {
        output[i] = mg_reduce_max_s8_extreme(p, &input[mg_reduction_start(p->shape, i)]);
    }
}

#ifdef __cplusplus
}
#endif

#endif
