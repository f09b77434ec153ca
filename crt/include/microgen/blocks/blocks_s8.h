/* SPDX-License-Identifier: Apache-2.0 */
/* What the loops of the specialised int8 kernels share. They compute four output channels at a
 * time, so that an input value is loaded once for four products. They do so in plain C or with the
 * Arm DSP extension, as the constant `loop` says. */
#ifndef MICROGEN_BLOCKS_S8_H
#define MICROGEN_BLOCKS_S8_H

#include <stddef.h>

#include "microgen/blocks/dsp.h"
#include "microgen/requantization/scaling_s8.h"

/* The loops. After inlining only one of them remains. */
enum {
    MG_PORTABLE, /* plain C */
    MG_DSP       /* the Arm DSP extension, or the same in plain C on other cores */
};

/* The accumulators of four output channels. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} mg_sums;

/* sum + the sum of (value + offset) * weight over n values and n weights. */
MG_INLINE int32_t mg_dot(int32_t sum, const int8_t *values, const int8_t *weight, int32_t n,
                         int32_t offset)
{
    for (int32_t i = 0; i < n; i++) {
        sum += (values[i] + offset) * weight[i];
    }
    return sum;
}

/* sums + the products of one value with the weights of four channels, which are `step` apart. */
MG_INLINE mg_sums mg_times_1(mg_sums sums, int32_t value, const int8_t *weight, int32_t step)
{
    sums.a += value * weight[0];
    sums.b += value * weight[step];
    sums.c += value * weight[2 * step];
    sums.d += value * weight[3 * step];
    return sums;
}

/* sum + the products of four values with four weights. The values are in two pairs of int16, the
 * even and the odd ones. */
MG_INLINE int32_t mg_times_4(int32_t sum, uint32_t even, uint32_t odd, const int8_t *weight)
{
    const uint32_t bytes = mg_load_4_s8(weight);
    return mg_smlad(odd, mg_sxtb16_odd(bytes), mg_smlad(even, mg_sxtb16(bytes), sum));
}

/* mg_dot for four channels, whose weights are `step` apart. */
MG_INLINE mg_sums mg_dot_4(mg_sums sums, const int8_t *values, const int8_t *weight, int32_t step,
                           int32_t n, int32_t offset, int loop)
{
    const int32_t whole = n - n % ((loop == MG_DSP) ? 4 : 2);

    if (loop == MG_DSP) {
        const uint32_t offsets = mg_twice_s16(offset);
        for (int32_t i = 0; i < whole; i += 4) {
            const uint32_t bytes = mg_load_4_s8(&values[i]);
            const uint32_t even = mg_sxtab16(offsets, bytes);
            const uint32_t odd = mg_sxtab16_odd(offsets, bytes);
            sums.a = mg_times_4(sums.a, even, odd, &weight[i]);
            sums.b = mg_times_4(sums.b, even, odd, &weight[step + i]);
            sums.c = mg_times_4(sums.c, even, odd, &weight[2 * step + i]);
            sums.d = mg_times_4(sums.d, even, odd, &weight[3 * step + i]);
        }
    } else {
        for (int32_t i = 0; i < whole; i += 2) {
            sums = mg_times_1(sums, values[i] + offset, &weight[i], step);
            sums = mg_times_1(sums, values[i + 1] + offset, &weight[i + 1], step);
        }
    }
    for (int32_t i = whole; i < n; i++) {
        sums = mg_times_1(sums, values[i] + offset, &weight[i], step);
    }
    return sums;
}

/* The bias of channel c, or 0 if there is none. */
MG_INLINE int32_t mg_bias(const int32_t *bias, int32_t c)
{
    return (bias != NULL) ? bias[c] : 0;
}

/* The biases of channels c to c + 3. */
MG_INLINE mg_sums mg_bias_4(const int32_t *bias, int32_t c)
{
    const mg_sums sums = {mg_bias(bias, c), mg_bias(bias, c + 1), mg_bias(bias, c + 2),
                          mg_bias(bias, c + 3)};
    return sums;
}

/* Stores the outputs of channels c to c + 3, which are int8. */
MG_INLINE void mg_store_4(const mg_scaling *s, int32_t c, mg_sums sums, int8_t *output,
                          int requantization)
{
    output[c] = mg_scaled(s, c, sums.a, requantization);
    output[c + 1] = mg_scaled(s, c + 1, sums.b, requantization);
    output[c + 2] = mg_scaled(s, c + 2, sums.c, requantization);
    output[c + 3] = mg_scaled(s, c + 3, sums.d, requantization);
}

#endif
