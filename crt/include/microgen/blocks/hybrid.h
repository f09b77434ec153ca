/* SPDX-License-Identifier: Apache-2.0 */
/* What hybrid layers share: they quantize float32 inputs to int8 while the model runs, and sum
 * their products with int8 weights. The Python twin is microgen/graph/ops/hybrid.py, which
 * computes the same values. */
#ifndef MICROGEN_HYBRID_H
#define MICROGEN_HYBRID_H

#include <stddef.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_math.h"

/* The quantization of int8 values: real = scale * (value + offset). */
typedef struct {
    float scale;
    int32_t offset; /* -127 to 128 */
} mg_hybrid;

/* The least and the greatest of the values and 0. */
typedef struct {
    float least;
    float most;
} mg_hybrid_range;

MG_INLINE mg_hybrid_range mg_hybrid_range_of(const float *values, int32_t size)
{
    mg_hybrid_range range = {0.0F, 0.0F};

    for (int32_t i = 0; i < size; i++) {
        range.least = (values[i] < range.least) ? values[i] : range.least;
        range.most = (values[i] > range.most) ? values[i] : range.most;
    }
    return range;
}

/* Stores values [size] times `inverse`, rounded to nearest, ties away from zero, minus the offset,
 * and clamped to [lowest, 127], into quantized [size]. */
MG_INLINE void mg_hybrid_round(const float *values, int32_t size, float inverse, int32_t offset,
                               int32_t lowest, int8_t *quantized)
{
    for (int32_t i = 0; i < size; i++) {
        const int32_t rounded = mg_f32_round_half_away(values[i] * inverse);
        const int32_t raised = (rounded < lowest + offset) ? lowest + offset : rounded;
        quantized[i] =
            (int8_t)(((raised > INT8_MAX + offset) ? INT8_MAX + offset : raised) - offset);
    }
}

/* Quantizes values [size] into quantized [size] without a zero point. */
MG_INLINE mg_hybrid mg_quantize_symmetric(const float *values, int32_t size, int8_t *quantized)
{
    const mg_hybrid_range range = mg_hybrid_range_of(values, size);
    const float largest = (range.most > -range.least) ? range.most : -range.least;
    const mg_hybrid meaning = {(largest > 0.0F) ? largest / 127.0F : 1.0F, 0};

    mg_hybrid_round(values, size, (largest > 0.0F) ? 127.0F / largest : 0.0F, 0, -INT8_MAX,
                    quantized);
    return meaning;
}

/* Minus the zero point of a range, computed from the end of the range with the smaller error. It
 * uses double, like LiteRT, because the roundings decide ties, for example for a range of -1 to
 * 1. */
MG_INLINE int32_t mg_hybrid_offset(mg_hybrid_range range, double scale)
{
    const double low = range.least / scale;
    const double high = range.most / scale;
    const double exact = (128.0 - low < 127.0 + high) ? -128.0 - low : 127.0 - high;

    /* NaN, if the range is infinite, must not become an integer. */
    if (!(exact > (double)INT8_MIN)) {
        return -INT8_MIN;
    }
    const int32_t whole = (int32_t)exact;
    const double rest = exact - whole;
    const int32_t zero_point = whole + ((rest >= 0.5) ? 1 : 0) - ((rest <= -0.5) ? 1 : 0);
    return (zero_point > INT8_MAX) ? -INT8_MAX : -zero_point;
}

/* The same with a zero point, so that the values use all of int8. */
MG_INLINE mg_hybrid mg_quantize_asymmetric(const float *values, int32_t size, int8_t *quantized)
{
    const mg_hybrid_range range = mg_hybrid_range_of(values, size);
    const double scale = (double)(range.most - range.least) / 255.0;
    mg_hybrid meaning = {1.0F, 0};
    float inverse = 0.0F;

    if (range.most > range.least) {
        meaning.scale = (float)scale;
        meaning.offset = mg_hybrid_offset(range, scale);
        inverse = 1.0F / meaning.scale;
    }
    mg_hybrid_round(values, size, inverse, meaning.offset, INT8_MIN, quantized);
    return meaning;
}

/* Quantizes in one of these two ways. */
MG_INLINE mg_hybrid mg_quantize_hybrid(const float *values, int32_t size, int32_t asymmetric,
                                       int8_t *quantized)
{
    return (asymmetric != 0) ? mg_quantize_asymmetric(values, size, quantized)
                             : mg_quantize_symmetric(values, size, quantized);
}

/* The accumulators of four output channels. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} mg_sums_hybrid;

/* sum + the sum of (value + offset) * weight over n values and n weights. */
MG_INLINE int32_t mg_dot_hybrid(int32_t sum, const int8_t *values, int32_t offset,
                                const int8_t *weight, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        sum += (values[i] + offset) * weight[i];
    }
    return sum;
}

/* The same for four channels, whose weights are `step` apart. */
MG_INLINE mg_sums_hybrid mg_dot_4_hybrid(mg_sums_hybrid sums, const int8_t *values, int32_t offset,
                                         const int8_t *weight, int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t value = values[i] + offset;
        sums.a += value * weight[i];
        sums.b += value * weight[i + step];
        sums.c += value * weight[i + 2 * step];
        sums.d += value * weight[i + 3 * step];
    }
    return sums;
}

/* How sums become outputs. */
typedef struct {
    const float *bias;   /* per channel, or NULL */
    const float *scale;  /* the weight's: one per channel, or one for all */
    int32_t per_channel; /* 1: scale has one element per channel */
    float activation_min;
    float activation_max;
} mg_finish_hybrid;

/* The output of channel c for a sum that is already scaled. */
MG_INLINE float mg_biased_hybrid(const mg_finish_hybrid *f, int32_t c, float scaled)
{
    const float total = scaled + ((f->bias != NULL) ? f->bias[c] : 0.0F);
    return mg_clamp_f32(total, f->activation_min, f->activation_max);
}

/* The output of channel c for a sum of products with values of that scale. */
MG_INLINE float mg_finished_hybrid(const mg_finish_hybrid *f, int32_t c, float scale, int32_t sum)
{
    return mg_biased_hybrid(f, c, (float)sum * (scale * f->scale[(f->per_channel != 0) ? c : 0]));
}

#endif
