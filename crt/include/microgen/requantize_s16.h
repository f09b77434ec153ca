/* Scaling of the accumulators of int16 activations with int8 weights. Twin of
 * microgen/quantize16.py: both compute the same values, bit for bit.
 *
 * Multipliers and shifts are those of microgen/requantize.h. */
#ifndef MICROGEN_REQUANTIZE_S16_H
#define MICROGEN_REQUANTIZE_S16_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/clamp_s16.h"
#include "microgen/inline.h"
#include "microgen/requantize.h"

/* How an accumulator is scaled. */
enum {
    MG_ROUND_DOUBLE = 0, /* modulo 2^32, by mg_requantize */
    MG_ROUND_REDUCED = 1 /* by mg_requantize_reduced */
};

/* x times the scale, its multiplier reduced to 16 bits; rounded once, to nearest, ties upwards; the
 * result modulo 2^32. |x| is below 2^47, the shift at most 14. */
MG_INLINE int32_t mg_requantize_reduced(int64_t x, int32_t multiplier, int32_t shift)
{
    const int32_t reduced =
        (multiplier < 0x7FFF0000) ? ((multiplier + ((int32_t)1 << 15)) >> 16) : 0x7FFF;
    const int32_t right = 15 - shift;
    const int64_t half = (int64_t)1 << (right - 1);
    return (int32_t)mg_shift_right_64(x * reduced + half, right);
}

/* x times the scale, rounded as `rounding` says. */
MG_INLINE int32_t mg_requantize_wide(int64_t x, int32_t multiplier, int32_t shift, int32_t rounding)
{
    return (rounding == MG_ROUND_REDUCED) ? mg_requantize_reduced(x, multiplier, shift)
                                          : mg_requantize((int32_t)x, multiplier, shift);
}

/* x times a real scale, the product rounded to double and then to nearest, ties away from zero.
 * |x| is at most 2^53, the result within int32. */
MG_INLINE int32_t mg_requantize_real(int64_t x, double scale)
{
    const double product = (double)x * scale;
    const int32_t whole = (int32_t)product;
    const double rest = product - whole;
    return whole + ((rest >= 0.5) ? 1 : 0) - ((rest <= -0.5) ? 1 : 0);
}

/* How sums of products become outputs, per channel. */
typedef struct {
    const int64_t *bias; /* or NULL */
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t rounding;
    int32_t activation_min;
    int32_t activation_max;
} mg_scaling_s16;

/* The output of channel c. */
MG_INLINE int16_t mg_scaled_s16(const mg_scaling_s16 *s, int32_t c, int64_t sum)
{
    const int64_t total = sum + ((s->bias != NULL) ? s->bias[c] : 0);
    return mg_clamp_s16(mg_requantize_wide(total, s->multiplier[c], s->shift[c], s->rounding),
                        s->activation_min, s->activation_max);
}

#endif
