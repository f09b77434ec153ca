/* SPDX-License-Identifier: Apache-2.0 */
/* How the int32 accumulators of convolutions and dense layers become outputs. The kernels' loops
 * get the requantization as a constant, so that after inlining only that one remains. */
#ifndef MICROGEN_SCALING_S8_H
#define MICROGEN_SCALING_S8_H

#include <stddef.h>

#include "microgen/blocks/dsp.h"
#include "microgen/requantization/requantize.h"
#include "microgen/requantization/requantize_float.h"
#include "microgen/requantization/requantize_once.h"
#include "microgen/requantization/scaling_fpu.h"

/* The requantizations. The narrow ones compute the same as the others in fewer steps. They need
 * scales below 1/2, and sums whose magnitude is below 2^30. Their `shift` is the rounding shift:
 * the right shift minus one, or 0 if the multiplier is 0. With the multipliers of
 * `upward_multiplier` in microgen/kernels/requantization/narrow.py, MG_ROUND_UPWARD_NARROW rounds
 * as MG_ROUND_NEAREST. */
enum {
    MG_ROUND_TWICE,         /* mg_requantize */
    MG_ROUND_NEAREST,       /* mg_requantize_single: once, ties away from zero */
    MG_ROUND_UPWARD,        /* mg_requantize_upward: once, ties upwards */
    MG_ROUND_FLOAT,         /* mg_requantize_float: in float32, ties to even */
    MG_ROUND_TWICE_NARROW,  /* the same as MG_ROUND_TWICE */
    MG_ROUND_UPWARD_NARROW, /* the same as MG_ROUND_UPWARD */
    MG_ROUND_FLOAT_NARROW,  /* the same as MG_ROUND_FLOAT; scales of 2^-14 and more, or 0 */
    MG_ROUND_FLOAT_FPU,     /* the same as MG_ROUND_FLOAT; multipliers are the bits of floats */
    MG_LINEAR,              /* mg_linear, where that was proven to be the same */
    MG_LINEAR_MIXED,        /* MG_LINEAR or MG_MARKED, as the channel's multiplier says */
    MG_MARKED,              /* mg_marked: the specified roundings */
    MG_HIGH,                /* mg_high, where that was proven to be the same; no clamp */
    MG_HIGH_CLAMPED,        /* mg_high and the clamp */
    MG_HIGH_WIDE,           /* mg_high, by 2^-40 instead of 2^-42; no clamp */
    MG_HIGH_WIDE_CLAMPED,
    MG_HIGH_FPU, /* mg_scaled_by_fpu of sums that are times 256; no clamp */
    MG_HIGH_FPU_CLAMPED,
    MG_HIGH_MIXED, /* MG_HIGH or MG_MARKED, as the channel's multiplier says; no clamp */
    MG_HIGH_MIXED_CLAMPED,
    MG_LINEAR_VECTOR, /* mg_mve_linear, where that was proven to be the same */
    MG_SUMS           /* none: outputs are int32, and there are no scales */
};

/* The last parameters of most kernels. */
#define MG_OFFSETS_AND_CLAMP                                                                       \
    int32_t input_offset;   /* minus the input's zero point: -127 to 128 */                        \
    int32_t output_offset;  /* the output's zero point: -128 to 127 */                             \
    int32_t activation_min; /* -128 to 127 */                                                      \
    int32_t activation_max; /* activation_min to 127 */

/* What a requantization needs: the scales, and one offset and clamp for all outputs. */
typedef struct {
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t output_offset;
    int32_t activation_min;
    int32_t activation_max;
} mg_scaling;

/* The initializer of a kernel with the parameters p. */
#define MG_SCALING_OF(p, multiplier, shift)                                                        \
    {                                                                                              \
        (multiplier), (shift), (p)->output_offset, (p)->activation_min, (p)->activation_max        \
    }

/* The clamp of a value that is int8 already. */
MG_INLINE int8_t mg_clamped_s8(const mg_scaling *s, int32_t stored)
{
    if ((s->activation_min == INT8_MIN) && (s->activation_max == INT8_MAX)) {
        return (int8_t)stored;
    }
    return mg_offset_and_clamp(stored, 0, s->activation_min, s->activation_max);
}

/* The clamps of floor(x / 2) and of floor(x / 4). The limits are int8. */
MG_INLINE int8_t mg_half_clamped(const mg_scaling *s, int32_t x)
{
#ifdef MG_SATURATES
    return mg_clamped_s8(s, mg_half_as_s8(x));
#else
    return mg_offset_and_clamp(mg_shift_right(x, 1), 0, s->activation_min, s->activation_max);
#endif
}

MG_INLINE int8_t mg_quarter_clamped(const mg_scaling *s, int32_t x)
{
#ifdef MG_SATURATES
    return mg_clamped_s8(s, mg_quarter_as_s8(x));
#else
    return mg_offset_and_clamp(mg_shift_right(x, 2), 0, s->activation_min, s->activation_max);
#endif
}

/* MG_ROUND_TWICE_NARROW: mg_requantize, the offset and the clamp.
 *
 * x is doubled first, so the rounded high word of the product is the result of the first rounding.
 * The second rounding subtracts 1 from negative values, adds half and shifts to the right. The code
 * shifts out all bits but one, adds 1 and twice the output offset, and then shifts out the last
 * bit. */
MG_INLINE int8_t mg_scaled_twice_narrow(const mg_scaling *s, int32_t x, int32_t multiplier,
                                        int32_t shift)
{
    const int32_t high = mg_smmulr(2 * x, multiplier);
    const int32_t twice = mg_shift_right(high - ((high < 0) ? 1 : 0), shift);
    return mg_half_clamped(s, twice + (1 + 2 * s->output_offset));
}

/* MG_ROUND_UPWARD_NARROW. The high word is rounded down, so adding 1 is the only rounding. */
MG_INLINE int8_t mg_scaled_upward_narrow(const mg_scaling *s, int32_t x, int32_t multiplier,
                                         int32_t shift)
{
    const int32_t twice = mg_shift_right(mg_smmul(2 * x, multiplier), shift);
    return mg_half_clamped(s, twice + (1 + 2 * s->output_offset));
}

/* MG_ROUND_FLOAT_NARROW. The roundings to float32 change the result only if the product is near a
 * tie, less than half a unit of its high word, because saturated results are the same anyway. */
MG_INLINE int8_t mg_scaled_float_narrow(const mg_scaling *s, int32_t x, int32_t multiplier,
                                        int32_t shift)
{
    const int32_t high = mg_smmul(2 * x, multiplier);
    const uint32_t half = (uint32_t)1 << shift;

    if ((((uint32_t)high + 1U - half) & (2U * half - 1U)) <= 1U) {
        return mg_offset_and_clamp(mg_requantize_float(x, multiplier, -1 - shift), s->output_offset,
                                   s->activation_min, s->activation_max);
    }
    return mg_half_clamped(s, mg_shift_right(high, shift) + (1 + 2 * s->output_offset));
}

/* MG_ROUND_FLOAT_FPU. The scaled sum and the offset must fit int32. */
MG_INLINE int8_t mg_scaled_by_float(const mg_scaling *s, int32_t x, int32_t bits)
{
    const int32_t stored = mg_scaled_by_fpu(x, bits) + s->output_offset;
#ifdef MG_SATURATES
    return mg_clamped_s8(s, mg_as_s8(stored));
#else
    return mg_offset_and_clamp(stored, 0, s->activation_min, s->activation_max);
#endif
}

/* MG_LINEAR: floor((x * multiplier + bias * 2^16) / 2^34), saturated to int8. The bias is scaled,
 * and contains the output's zero point. The product is below 2^62, so nothing overflows. */
MG_INLINE int32_t mg_linear(int32_t x, int32_t multiplier, int32_t bias)
{
    return mg_quarter_as_s8(mg_product_high(x, multiplier, bias));
}

/* For kernels whose sums are times 256 and begin with the bias: floor(x * multiplier / 2^42) for
 * MG_HIGH, and / 2^40 for MG_HIGH_WIDE, saturated to int8. The bias contains the output's zero
 * point, too, and need not be a multiple of 256. See microgen/graph/arithmetic/high.py. */
MG_INLINE int32_t mg_high(int32_t x, int32_t multiplier, int requantization)
{
    const int32_t high = mg_smmul(x, multiplier);

    if ((requantization == MG_HIGH) || (requantization == MG_HIGH_CLAMPED)) {
        return mg_shifted_by_10_as_s8(high);
    }
    return mg_shifted_by_8_as_s8(high);
}

/* The narrow roundings alone, for loops that have no others: compilers copy the code of all of them
 * to each place where an output is stored, before they find out which one is meant. */
MG_INLINE int8_t mg_scaled_narrow(const mg_scaling *s, int32_t x, int32_t multiplier, int32_t shift,
                                  int requantization)
{
    if (requantization == MG_ROUND_TWICE_NARROW) {
        return mg_scaled_twice_narrow(s, x, multiplier, shift);
    }
    if (requantization == MG_ROUND_UPWARD_NARROW) {
        return mg_scaled_upward_narrow(s, x, multiplier, shift);
    }
    return mg_scaled_float_narrow(s, x, multiplier, shift);
}

MG_INLINE int mg_is_narrow(int requantization)
{
    return (requantization == MG_ROUND_TWICE_NARROW) ||
           (requantization == MG_ROUND_UPWARD_NARROW) || (requantization == MG_ROUND_FLOAT_NARROW);
}

/* The other roundings. */
MG_INLINE int32_t mg_rounded(int32_t x, int32_t multiplier, int32_t shift, int requantization)
{
    if (requantization == MG_ROUND_NEAREST) {
        return mg_requantize_single(x, multiplier, shift);
    }
    if (requantization == MG_ROUND_UPWARD) {
        return mg_requantize_upward(x, multiplier, shift);
    }
    if (requantization == MG_ROUND_FLOAT) {
        return mg_requantize_float(x, multiplier, shift);
    }
    return mg_requantize(x, multiplier, shift);
}

MG_INLINE int8_t mg_scaled_by(const mg_scaling *s, int32_t x, int32_t multiplier, int32_t shift,
                              int requantization)
{
    if (mg_is_narrow(requantization)) {
        return mg_scaled_narrow(s, x, multiplier, shift, requantization);
    }
    if (requantization == MG_ROUND_FLOAT_FPU) {
        return mg_scaled_by_float(s, x, multiplier);
    }
    return mg_offset_and_clamp(mg_rounded(x, multiplier, shift, requantization), s->output_offset,
                               s->activation_min, s->activation_max);
}

MG_INLINE int mg_is_high(int requantization)
{
    return (requantization >= MG_HIGH) && (requantization <= MG_HIGH_FPU_CLAMPED);
}

MG_INLINE int mg_has_shift(int requantization)
{
    return (requantization != MG_LINEAR) && (requantization != MG_ROUND_FLOAT_FPU) &&
           !mg_is_high(requantization);
}

/* The output for accumulator x, which contains the bias, with scale c. Not for MG_LINEAR. */
MG_INLINE int8_t mg_scaled(const mg_scaling *s, int32_t c, int32_t x, int requantization)
{
    const int32_t shift = mg_has_shift(requantization) ? s->shift[c] : 0;
    return mg_scaled_by(s, x, s->multiplier[c], shift, requantization);
}

/* What the outputs of one channel have in common, for loops that sum the products of raw data, from
 * which no zero point was subtracted. The bias contains the zero point. For MG_LINEAR there
 * is no shift, and for MG_HIGH sums begin with the bias. */
typedef struct {
    int32_t bias;
    int32_t multiplier;
    int32_t shift;
} mg_channel;

MG_INLINE mg_channel mg_channel_of(const mg_scaling *s, const int32_t *bias, int32_t c,
                                   int requantization)
{
    const mg_channel channel = {bias[c], s->multiplier[c],
                                mg_has_shift(requantization) ? s->shift[c] : 0};
    return channel;
}

/* Whether the channel's multiplier has a mark, which is its sign bit. */
MG_INLINE int mg_is_marked(const mg_channel *channel)
{
    return channel->multiplier < 0;
}

/* The output for x, a sum times 256 with its bias, as mg_requantize or mg_requantize_upward
 * computes it for a channel with a mark. The high word has 7 bits more than theirs, so 64 is their
 * first rounding. Bits 0 to 5 of `shift` are the right shift minus one, bit 6 is whether there are
 * two roundings. See microgen/kernels/requantization/mixed.py. */
MG_INLINE int32_t mg_marked(const mg_scaling *s, const mg_channel *channel, int32_t x)
{
    const int32_t first = channel->shift & 64;
    const int32_t bits = channel->shift & 63;
    const int32_t half = (1 + 2 * s->output_offset) * ((int32_t)1 << bits);
    const int32_t high = mg_smmul(x, channel->multiplier & INT32_MAX);
    const int32_t rounded = high + half + ((x < 0) ? -first : first);
    return mg_half_as_s8(mg_shift_right(rounded, bits));
}

/* The output for a sum of raw products. The bias of MG_MARKED is times 256. */
MG_INLINE int8_t mg_output(const mg_scaling *s, const mg_channel *channel, int32_t sum,
                           int requantization)
{
    if (requantization == MG_LINEAR) {
        return mg_quarter_clamped(s, mg_product_high(sum, channel->multiplier, channel->bias));
    }
    if (requantization == MG_MARKED) {
        const uint32_t scaled = 256U * (uint32_t)sum + (uint32_t)channel->bias;
        return mg_clamped_s8(s, mg_marked(s, channel, (int32_t)scaled));
    }
    return mg_scaled_by(s, sum + channel->bias, channel->multiplier, channel->shift,
                        requantization);
}

/* The output for four times a sum of raw products, which Winograd's kernels have. The bias of
 * MG_LINEAR is multiplied by four, too, so nothing is rounded. */
MG_INLINE int8_t mg_output_of_4(const mg_scaling *s, const mg_channel *channel, int32_t four_sums,
                                int requantization)
{
    if (requantization == MG_LINEAR) {
        const int64_t bias = (int64_t)channel->bias * (4 << 16);
        const int64_t wide = (int64_t)four_sums * channel->multiplier + bias;
        return mg_clamped_s8(s, mg_sixteenth_as_s8(mg_high_word(wide)));
    }
    return mg_output(s, channel, mg_shift_right(four_sums, 2), requantization);
}

MG_INLINE int mg_is_mixed(int requantization)
{
    return (requantization == MG_HIGH_MIXED) || (requantization == MG_HIGH_MIXED_CLAMPED);
}

/* What the sum of an output begins with in kernels whose sums are times 256. */
MG_INLINE int32_t mg_paired_start(const int32_t *bias, int32_t c, int requantization)
{
    return (mg_is_high(requantization) || mg_is_mixed(requantization)) ? bias[c] : 0;
}

/* MG_HIGH_MIXED for x, a sum times 256 that begins with the bias. */
MG_INLINE int32_t mg_high_mixed(const mg_scaling *s, const mg_channel *channel, int32_t x)
{
    return mg_is_marked(channel) ? mg_marked(s, channel, x)
                                 : mg_high(x, channel->multiplier, MG_HIGH);
}

/* The output for a sum of raw products times 256. */
MG_INLINE int8_t mg_paired_output(const mg_scaling *s, const mg_channel *channel, int32_t sum,
                                  int requantization)
{
    if ((requantization == MG_HIGH) || (requantization == MG_HIGH_WIDE)) {
        return (int8_t)mg_high(sum, channel->multiplier, requantization);
    }
    if ((requantization == MG_HIGH_FPU) || (requantization == MG_HIGH_FPU_CLAMPED)) {
        return mg_scaled_by_float(s, sum, channel->multiplier);
    }
    if (mg_is_high(requantization)) {
        return mg_clamped_s8(s, mg_high(sum, channel->multiplier, requantization));
    }
    if (requantization == MG_HIGH_MIXED) {
        return (int8_t)mg_high_mixed(s, channel, sum);
    }
    if (requantization == MG_HIGH_MIXED_CLAMPED) {
        return mg_clamped_s8(s, mg_high_mixed(s, channel, sum));
    }
    return mg_scaled_narrow(s, mg_shift_right(sum, 8) + channel->bias, channel->multiplier,
                            channel->shift, requantization);
}

/* Stores the same as element `at` of the outputs, which are int32 for MG_SUMS, and otherwise
 * int8. */
MG_INLINE void mg_store(const mg_scaling *s, void *output, int32_t at, int32_t c, int32_t x,
                        int requantization)
{
    if (requantization == MG_SUMS) {
        ((int32_t *)output)[at] = x;
    } else {
        ((int8_t *)output)[at] = mg_scaled(s, c, x, requantization);
    }
}

#endif
