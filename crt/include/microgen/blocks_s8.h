/* SPDX-License-Identifier: Apache-2.0 */
/* What the specialised int8 kernels share. They compute four output channels at a time, so that an
 * input value is loaded once for four products. They do so in plain C or with the Arm DSP
 * extension, as `dsp` says, which is a constant after inlining. */
#ifndef MICROGEN_BLOCKS_S8_H
#define MICROGEN_BLOCKS_S8_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/inline.h"
#include "microgen/requantize.h"

/* The accumulators of four output channels. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} mg_sums;

/* How accumulators become outputs. Scales are below 1/2, and `rounding_shift` is the shift to the
 * right minus one. */
typedef struct {
    const int32_t *multiplier;
    const int8_t *rounding_shift;
    int32_t output_offset;
    int32_t activation_min;
    int32_t activation_max;
} mg_scaling;

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
                           int32_t n, int32_t offset, int dsp)
{
    const int32_t whole = n - n % ((dsp != 0) ? 4 : 2);

    if (dsp != 0) {
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

/* The output of channel c: mg_requantize, the offset and the clamp in fewer steps. It is exact for
 * scales below 1/2 and sums x of magnitude below 2^30.
 *
 * x is doubled first, so the rounded high word of the product is the result of the first rounding.
 * The second rounding subtracts 1 from negative values, adds half and shifts to the right. The code
 * shifts out all bits but one, adds 1 and twice the output offset, and then shifts out the last
 * bit. */
MG_INLINE int8_t mg_scaled(const mg_scaling *s, int32_t c, int32_t x)
{
    const int32_t high = mg_smmulr(2 * x, s->multiplier[c]);
    const int32_t twice = mg_shift_right(high - ((high < 0) ? 1 : 0), s->rounding_shift[c]);
    const int32_t stored = mg_half_as_s8(twice + (1 + 2 * s->output_offset));
    if ((s->activation_min == INT8_MIN) && (s->activation_max == INT8_MAX)) {
        return (int8_t)stored;
    }
    return mg_offset_and_clamp(stored, 0, s->activation_min, s->activation_max);
}

/* The same for mg_requantize_upward. The high word is rounded down, so adding 1 is the only
 * rounding. */
MG_INLINE int8_t mg_scaled_upward(const mg_scaling *s, int32_t c, int32_t x)
{
    const int32_t twice = mg_shift_right(mg_smmul(2 * x, s->multiplier[c]), s->rounding_shift[c]);
    const int32_t stored = mg_half_as_s8(twice + (1 + 2 * s->output_offset));
    return mg_offset_and_clamp(stored, 0, s->activation_min, s->activation_max);
}

/* Stores the outputs of channels c to c + 3. */
MG_INLINE void mg_store_4(const mg_scaling *s, int32_t c, mg_sums sums, int8_t *output)
{
    output[c] = mg_scaled(s, c, sums.a);
    output[c + 1] = mg_scaled(s, c + 1, sums.b);
    output[c + 2] = mg_scaled(s, c + 2, sums.c);
    output[c + 3] = mg_scaled(s, c + 3, sums.d);
}

/* mg_scaled, or mg_scaled_upward if `upward`, which is a constant after inlining. */
MG_INLINE int8_t mg_scaled_as(const mg_scaling *s, int32_t c, int32_t x, int upward)
{
    if (upward != 0) {
        return mg_scaled_upward(s, c, x);
    }
    return mg_scaled(s, c, x);
}

/* mg_store_4 with the same choice of rounding. */
MG_INLINE void mg_store_4_as(const mg_scaling *s, int32_t c, mg_sums sums, int8_t *output,
                             int upward)
{
    if (upward != 0) {
        output[c] = mg_scaled_upward(s, c, sums.a);
        output[c + 1] = mg_scaled_upward(s, c + 1, sums.b);
        output[c + 2] = mg_scaled_upward(s, c + 2, sums.c);
        output[c + 3] = mg_scaled_upward(s, c + 3, sums.d);
    } else {
        mg_store_4(s, c, sums, output);
    }
}

#endif
