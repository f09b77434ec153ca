/* SPDX-License-Identifier: Apache-2.0 */
/* mg_quantize_f32, mg_quantize_f32_u8, mg_quantize_even_f32 and mg_dequantize_f32 for several
 * values at a time: with an FPU, and with MVE for floats. */
#ifndef MICROGEN_QUANTIZE_F32_BLOCKS_H
#define MICROGEN_QUANTIZE_F32_BLOCKS_H

#include <string.h>

#include "microgen/arithmetic/saturate.h"
#include "microgen/quantization/dequantize_f32.h"
#include "microgen/requantization/in_float.h"
#include "microgen/requantization/scaling_fpu.h"
#include "microgen/unary/unary.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#include <arm_mve.h>
#endif

typedef struct {
    int32_t size;         /* elements */
    int32_t output_bytes; /* 1 or 2 */
    int32_t ties_even;    /* 0: halves are rounded away from zero; 1: to even */
    int32_t least;        /* of the output's type, which may be unsigned */
    int32_t greatest;     /* the same */
    int32_t zero_point;   /* of the output, within its type */
    float scale;          /* of the output: positive, finite, not denormal */
} mg_quantize_f32_fpu_params;

/* The scale is 2^-79 to 2^100. */
typedef mg_quantize_f32_fpu_params mg_quantize_f32_mve_params;

/* Each computes output [size] = round(input [size] / scale) + zero_point, saturated. NaN becomes
 * the least value. Input and output must not overlap. */
MG_DECLARE_UNARY(mg_quantize_f32_fpu, float, void);
MG_DECLARE_UNARY(mg_quantize_f32_mve, float, void);

typedef struct {
    mg_dequantize_f32_params stored; /* of 1 or 2 bytes, with a zero point within its type */
    int32_t is_unsigned;             /* 0 or 1 */
} mg_dequantize_f32_mve_params;

/* Computes output [size] = (input [size] - zero_point) * scale. Input and output must not
 * overlap. */
MG_DECLARE_UNARY(mg_dequantize_f32_mve, void, float);

/* x in halves, rounded to zero. Results beyond 2^22 in magnitude may saturate. */
MG_INLINE int32_t mg_halves_by_fpu(float x)
{
#if defined(__arm__) && !defined(MG_NO_FPU)
    float converted = x; /* the register has the integer's bits then */
    int32_t result;
    __asm__("vcvt.s32.f32 %0, %0, #1" : "+t"(converted));
    memcpy(&result, &converted, sizeof(result));
    return result;
#elif defined(__riscv) && !defined(MG_NO_FPU)
    int32_t result;
    __asm__("fcvt.w.s %0, %1, rtz" : "=r"(result) : "f"(x + x));
    return result;
#else
    const float limit = 4194304.0F; /* 2^22 */
    if (!(x > -limit) || !(x < limit)) {
        return (x < 0.0F) ? -8388608 : 8388608;
    }
    return (int32_t)(x + x);
#endif
}

/* x clamped to 21 bits. No output has as many. */
MG_INLINE int32_t mg_quantize_f32_fpu_near(int32_t x)
{
#if MG_HAS_SSAT
    return (int32_t)__builtin_arm_ssat(x, 21);
#else
    return mg_offset_and_clamp_wide(x, 0, -1048576, 1048575);
#endif
}

/* The stored value of a quotient that is not NaN. */
MG_INLINE int32_t mg_quantize_f32_fpu_stored(const mg_quantize_f32_fpu_params *p, float quotient)
{
    int32_t stored;

    if (p->ties_even != 0) {
#ifdef MG_NO_FPU
        stored = mg_quantize_f32_fpu_near(mg_integer_to_even(quotient)) + p->zero_point;
#else
        stored = mg_quantize_f32_fpu_near(mg_nearest_by_fpu(quotient)) + p->zero_point;
#endif
    } else {
        const int32_t halves = mg_quantize_f32_fpu_near(mg_halves_by_fpu(quotient));
        /* -3 and 3 are two wholes, -2 and 2 one. */
        stored = mg_shift_right(halves + (2 * p->zero_point + 1) + mg_shift_right(halves, 31), 1);
    }
    if (p->least == INT8_MIN && p->greatest == INT8_MAX) {
        return mg_clamp_s8(stored, INT8_MIN, INT8_MAX);
    }
    return mg_offset_and_clamp_wide(stored, 0, p->least, p->greatest);
}

MG_INLINE void mg_quantize_f32_store(const mg_quantize_f32_fpu_params *p, void *output,
                                     int32_t index, int32_t stored)
{
    if (p->output_bytes == 1) {
        ((uint8_t *)output)[index] = (uint8_t)stored;
    } else {
        ((uint16_t *)output)[index] = (uint16_t)stored;
    }
}

/* Stores four values and returns 1, or returns 0 if a quotient, or a sum of infinite ones, is
 * NaN. */
MG_INLINE int32_t mg_quantize_f32_fpu_four(const mg_quantize_f32_fpu_params *p, const float *input,
                                           void *output, int32_t index)
{
    const float first = input[index] / p->scale;
    const float second = input[index + 1] / p->scale;
    const float third = input[index + 2] / p->scale;
    const float fourth = input[index + 3] / p->scale;
    const float sum = (first + second) + (third + fourth);

    if (!(sum == sum)) {
        return 0;
    }
    mg_quantize_f32_store(p, output, index, mg_quantize_f32_fpu_stored(p, first));
    mg_quantize_f32_store(p, output, index + 1, mg_quantize_f32_fpu_stored(p, second));
    mg_quantize_f32_store(p, output, index + 2, mg_quantize_f32_fpu_stored(p, third));
    mg_quantize_f32_store(p, output, index + 3, mg_quantize_f32_fpu_stored(p, fourth));
    return 1;
}

MG_INLINE void mg_quantize_f32_fpu_body(const mg_quantize_f32_fpu_params *p, const float *input,
                                        void *output)
{
    int32_t i = 0;

    while (i < p->size) {
        if (p->size - i >= 4 && mg_quantize_f32_fpu_four(p, input, output, i) != 0) {
            i += 4;
        } else {
            const float quotient = input[i] / p->scale;
            const int32_t stored =
                (quotient == quotient) ? mg_quantize_f32_fpu_stored(p, quotient) : p->least;
            mg_quantize_f32_store(p, output, i, stored);
            i++;
        }
    }
}

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* The numbers that all values of a call need. */
typedef struct {
    float32x4_t low;  /* the values whose quotients are the least and the greatest output */
    float32x4_t high; /* the same */
    float inverse;    /* of the scale */
    float minus;      /* the scale, negated */
} mg_quantize_f32_mve_scale;

MG_INLINE mg_quantize_f32_mve_scale
mg_quantize_f32_mve_scale_of(const mg_quantize_f32_mve_params *p)
{
    const mg_quantize_f32_mve_scale scale = {
        vdupq_n_f32((float)(p->least - p->zero_point) * p->scale),
        vdupq_n_f32((float)(p->greatest - p->zero_point) * p->scale),
        1.0F / p->scale,
        -p->scale,
    };
    return scale;
}

/* The stored values of four numbers. Vectors have no division. The first quotient is less than two
 * units in the last place off, the second less than one. A correction of such a quotient by the
 * rounded reciprocal rounds the exact one correctly, unless bits are lost to underflow (P.
 * Markstein, IA-64 and Elementary Functions, 2000, section 8). */
MG_INLINE int32x4_t mg_quantize_f32_mve_stored(const mg_quantize_f32_mve_params *p,
                                               const mg_quantize_f32_mve_scale *scale,
                                               float32x4_t x)
{
    /* The sum of a signalling NaN is a quiet one, which is not the maximum of anything. */
    const float32x4_t above = vmaxnmq_f32(vaddq_n_f32(x, 0.0F), scale->low);
    const float32x4_t inside = vminnmq_f32(above, scale->high);
    float32x4_t quotient = vmulq_n_f32(inside, scale->inverse);
    float32x4_t rest = vfmaq_n_f32(inside, quotient, scale->minus);

    quotient = vfmaq_n_f32(quotient, rest, scale->inverse);
    rest = vfmaq_n_f32(inside, quotient, scale->minus);
    quotient = vfmaq_n_f32(quotient, rest, scale->inverse);
    return vaddq_n_s32((p->ties_even != 0) ? vcvtnq_s32_f32(quotient) : vcvtaq_s32_f32(quotient),
                       p->zero_point);
}

MG_INLINE void mg_quantize_f32_mve_body(const mg_quantize_f32_mve_params *p, const float *input,
                                        void *output)
{
    const mg_quantize_f32_mve_scale scale = mg_quantize_f32_mve_scale_of(p);
    int32_t i = 0;

    for (; i < (p->size & ~3); i += 4) {
        const int32x4_t stored = mg_quantize_f32_mve_stored(p, &scale, vldrwq_f32(&input[i]));
        if (p->output_bytes == 1) {
            vstrbq_s32((int8_t *)output + i, stored);
        } else {
            vstrhq_s32((int16_t *)output + i, stored);
        }
    }
    if (i < p->size) {
        const mve_pred16_t active = vctp32q((uint32_t)(p->size - i));
        const int32x4_t stored =
            mg_quantize_f32_mve_stored(p, &scale, vldrwq_z_f32(&input[i], active));
        if (p->output_bytes == 1) {
            vstrbq_p_s32((int8_t *)output + i, stored, active);
        } else {
            vstrhq_p_s32((int16_t *)output + i, stored, active);
        }
    }
}

/* Four values. */
MG_INLINE int32x4_t mg_dequantize_f32_mve_loaded(const mg_dequantize_f32_mve_params *p,
                                                 const void *input, int32_t index)
{
    if (p->stored.input_bytes == 2) {
        return vldrhq_s32((const int16_t *)input + index);
    }
    if (p->is_unsigned != 0) {
        return vreinterpretq_s32_u32(vldrbq_u32((const uint8_t *)input + index));
    }
    return vldrbq_s32((const int8_t *)input + index);
}

MG_INLINE void mg_dequantize_f32_mve_body(const mg_dequantize_f32_mve_params *p, const void *input,
                                          float *output)
{
    const int32_t zero_point = p->stored.zero_point;
    int32_t i = 0;

    for (; i < (p->stored.size & ~3); i += 4) {
        const int32x4_t x = vsubq_n_s32(mg_dequantize_f32_mve_loaded(p, input, i), zero_point);
        vstrwq_f32(&output[i], vmulq_n_f32(vcvtq_f32_s32(x), p->stored.scale));
    }
    for (; i < p->stored.size; i++) {
        const int32_t x = (p->is_unsigned != 0) ? ((const uint8_t *)input)[i]
                                                : mg_load_int(input, i, p->stored.input_bytes);
        output[i] = (float)(x - zero_point) * p->stored.scale;
    }
}

#endif

#ifdef MG_QUANTIZE_F32_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_quantize_f32_fpu, float, void)

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
MG_DEFINE_UNARY(mg_quantize_f32_mve, float, void)
MG_DEFINE_UNARY(mg_dequantize_f32_mve, void, float)
#endif
#endif

#endif
