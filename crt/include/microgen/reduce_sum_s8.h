/* Sums and means of int8 over any axes. */
#ifndef MICROGEN_REDUCE_SUM_S8_H
#define MICROGEN_REDUCE_SUM_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/reduction.h"
#include "microgen/requantize.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[6];      /* as microgen/reduction.h says */
    int32_t bias;          /* minus the input's zero point times the values that are summed */
    int32_t multiplier;    /* Q31, input scale / output scale, for a mean over the count too */
    int32_t shift;         /* as microgen/requantize.h says */
    int32_t output_offset; /* the output's zero point */
    int32_t is_unsigned;   /* 1: input and output are taken for uint8, as LiteRT does for sums */
} mg_reduce_sum_s8_params;

/* Sums input [shape] over its reduced axes, requantizes with double rounding, and saturates into
 * output [kept axes]. Output must not overlap the input. Sums must fit int32, bias included. */
void mg_reduce_sum_s8(const mg_reduce_sum_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE int32_t mg_reduce_sum_s8_sum(const mg_reduce_sum_s8_params *p, const int8_t *first)
{
    const int32_t stride_1 = mg_reduction_stride_1(p->shape);
    const int32_t stride_3 = mg_reduction_stride_3(p->shape);
    int32_t sum = 0;

    for (int32_t i = 0; i < p->shape[1]; i++) {
        for (int32_t j = 0; j < p->shape[3]; j++) {
            for (int32_t k = 0; k < p->shape[5]; k++) {
                const int8_t value = first[i * stride_1 + j * stride_3 + k];
                sum += (p->is_unsigned != 0) ? (int32_t)(uint8_t)value : (int32_t)value;
            }
        }
    }
    return sum;
}

/* The int8 with the bits of a uint8. */
MG_INLINE int8_t mg_reduce_sum_s8_bits(int32_t value)
{
    return (int8_t)((value > INT8_MAX) ? value - 256 : value);
}

MG_INLINE void mg_reduce_sum_s8_body(const mg_reduce_sum_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    const int32_t low = (p->is_unsigned != 0) ? 0 : INT8_MIN;
    const int32_t high = (p->is_unsigned != 0) ? UINT8_MAX : INT8_MAX;

    for (int32_t i = 0; i < mg_reduction_size(p->shape); i++) {
        const int8_t *first = &input[mg_reduction_start(p->shape, i)];
        const int32_t sum = mg_reduce_sum_s8_sum(p, first) + p->bias;
        int32_t stored = mg_requantize(sum, p->multiplier, p->shift);
        stored = (stored < low - p->output_offset) ? low - p->output_offset : stored;
        stored = (stored > high - p->output_offset) ? high - p->output_offset : stored;
        output[i] = mg_reduce_sum_s8_bits(stored + p->output_offset);
    }
}

#ifdef __cplusplus
}
#endif

#endif
