/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over any axes: sums, means, extremes, and whether all bools are true.
 *
 * `shape` has six sizes, alternately of kept and reduced axes; the first axis is kept. The output
 * has the kept axes, in order. */
#ifndef MICROGEN_REDUCTION_H
#define MICROGEN_REDUCTION_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/reductions/sums_s8.h"
#include "microgen/requantization/requantize.h"
#include "microgen/requantization/requantize_float.h"

/* The number of values of the output. */
MG_INLINE int32_t mg_reduction_size(const int32_t *shape)
{
    return shape[0] * shape[2] * shape[4];
}

/* The position in the input of the first value of the reduction that gives output value `index`. */
MG_INLINE int32_t mg_reduction_start(const int32_t *shape, int32_t index)
{
    const int32_t kept_4 = index % shape[4];
    const int32_t kept_2 = (index / shape[4]) % shape[2];
    const int32_t kept_0 = index / shape[4] / shape[2];
    return (((kept_0 * shape[1]) * shape[2] + kept_2) * shape[3] * shape[4] + kept_4) * shape[5];
}

/* The distance in the input between neighbours on the first and on the second reduced axis. On the
 * third it is 1. */
MG_INLINE int32_t mg_reduction_stride_1(const int32_t *shape)
{
    return shape[2] * shape[3] * shape[4] * shape[5];
}

MG_INLINE int32_t mg_reduction_stride_3(const int32_t *shape)
{
    return shape[4] * shape[5];
}

/* Reduces input [shape] to output [kept axes]. For each value of the output:
 *     state = first;
 *     state = step(p, state, value) for each value of its reduction, in order;
 *     output = result(p, state)
 * p points to a struct with `shape`, and `type` is the type of the state.
 *
 * This is a macro so that step and result work for any types and are inlined at every optimisation
 * level. */
#define MG_REDUCE(type, first, step, result, p, input, output)                                     \
    do {                                                                                           \
        const int32_t stride_1_ = mg_reduction_stride_1((p)->shape);                               \
        const int32_t stride_3_ = mg_reduction_stride_3((p)->shape);                               \
        for (int32_t o_ = 0; o_ < mg_reduction_size((p)->shape); o_++) {                           \
            const int32_t start_ = mg_reduction_start((p)->shape, o_);                             \
            type state_ = (first);                                                                 \
            for (int32_t i_ = 0; i_ < (p)->shape[1]; i_++) {                                       \
                for (int32_t j_ = 0; j_ < (p)->shape[3]; j_++) {                                   \
                    for (int32_t k_ = 0; k_ < (p)->shape[5]; k_++) {                               \
                        state_ = step((p), state_,                                                 \
                                      (input)[start_ + i_ * stride_1_ + j_ * stride_3_ + k_]);     \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            (output)[o_] = result((p), state_);                                                    \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol`, and defines its body by MG_REDUCE with the functions `symbol`_step
 * and `symbol`_result. */
#define MG_REDUCTION(symbol, in, type, out, first)                                                 \
    MG_DECLARE_UNARY(symbol, in, out);                                                             \
    MG_INLINE void symbol##_body(const symbol##_params *p, const in *input, out *output)           \
    {                                                                                              \
        MG_REDUCE(type, first, symbol##_step, symbol##_result, p, input, output);                  \
    }

/* Defines the step of a kernel whose states, of `type`, are sums. */
#define MG_SUM_STEP(symbol, type, in)                                                              \
    MG_INLINE type symbol##_step(const symbol##_params *p, type sum, in value)                     \
    {                                                                                              \
        (void)p;                                                                                   \
        return sum + (type)value;                                                                  \
    }

typedef struct {
    int32_t shape[6];
    float divisor; /* the number of values summed for a mean, 1 for a sum */
} mg_reduce_sum_f32_params;

MG_SUM_STEP(mg_reduce_sum_f32, float, float)

MG_INLINE float mg_reduce_sum_f32_result(const mg_reduce_sum_f32_params *p, float sum)
{
    return sum / p->divisor;
}

/* Sums input [shape] over its reduced axes, in order, and stores the sums divided by `divisor` in
 * output [kept axes]. Output must not overlap the input. */
MG_REDUCTION(mg_reduce_sum_f32, float, float, float, 0.0F)

typedef struct {
    int32_t shape[6];
    int32_t bias;          /* minus the input's zero point times the number of values summed */
    int32_t multiplier;    /* Q31, input scale / output scale; for a mean, also / count */
    int32_t shift;         /* as microgen/requantization/requantize.h says */
    int32_t output_offset; /* the output's zero point */
    int32_t is_unsigned;   /* 1: input and output are read as uint8, as LiteRT does for sums */
} mg_reduce_sum_s8_params;

MG_INLINE int32_t mg_reduce_sum_s8_step(const mg_reduce_sum_s8_params *p, int32_t sum, int8_t value)
{
    return sum + ((p->is_unsigned != 0) ? (int32_t)(uint8_t)value : (int32_t)value);
}

/* The int8 with the bits of a uint8. */
MG_INLINE int8_t mg_reduce_sum_s8_bits(int32_t value)
{
    return (int8_t)((value > INT8_MAX) ? value - 256 : value);
}

MG_INLINE int8_t mg_reduce_sum_s8_result(const mg_reduce_sum_s8_params *p, int32_t sum)
{
    const int32_t low = ((p->is_unsigned != 0) ? 0 : INT8_MIN) - p->output_offset;
    const int32_t high = ((p->is_unsigned != 0) ? (int32_t)UINT8_MAX : INT8_MAX) - p->output_offset;
    int32_t stored = mg_requantize(sum + p->bias, p->multiplier, p->shift);

    stored = (stored < low) ? low : stored;
    stored = (stored > high) ? high : stored;
    return mg_reduce_sum_s8_bits(stored + p->output_offset);
}

/* Sums input [shape] over its reduced axes, requantizes the sums with double rounding, and stores
 * them, saturated, in output [kept axes]. Output must not overlap the input. Sums must fit int32,
 * bias included. */
MG_DECLARE_UNARY(mg_reduce_sum_s8, int8_t, int8_t);

#if defined(MG_SUMS_S8_LANES)
/* Sums `size` columns of `count` rows each. */
MG_INLINE void mg_reduce_sum_s8_columns(const mg_reduce_sum_s8_params *p, const int8_t *input,
                                        int32_t count, int32_t size, int8_t *output)
{
    int32_t c = 0;

#if defined(__ARM_FEATURE_MVE)
    for (; c < size; c += MG_SUMS_S8_LANES) {
        const mve_pred16_t active = vctp16q((uint32_t)(size - c));
        int32x4_t sums[2];
        mg_sums_s8_columns(&input[c], size, count, active, sums);
        for (int32_t n = 0; n < 2; n++) {
            const int32x4_t scaled =
                mg_mve_requantize_n(vaddq_n_s32(sums[n], p->bias), p->multiplier, p->shift);
            /* Saturating, because nothing bounds the ratio of the scales. */
            sums[n] = vqaddq_n_s32(scaled, p->output_offset);
        }
        int16x8_t stored = vqmovnbq_s32(vdupq_n_s16(0), sums[0]);
        stored = vqmovntq_s32(stored, sums[1]);
        stored = vminq_s16(vmaxq_s16(stored, vdupq_n_s16(INT8_MIN)), vdupq_n_s16(INT8_MAX));
        vstrbq_p_s16(&output[c], stored, active);
    }
#else
    for (; c < (size & ~3); c += MG_SUMS_S8_LANES) {
        int32_t sums[MG_SUMS_S8_LANES];
        mg_sums_s8_columns(&input[c], size, count, sums);
        for (int32_t n = 0; n < MG_SUMS_S8_LANES; n++) {
            output[c + n] = mg_reduce_sum_s8_result(p, sums[n]);
        }
    }
    for (; c < size; c++) {
        output[c] = mg_reduce_sum_s8_result(p, mg_sums_s8_column(&input[c], size, count));
    }
#endif
}
#endif

MG_INLINE void mg_reduce_sum_s8_body(const mg_reduce_sum_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
#if defined(MG_SUMS_S8_LANES)
    const int32_t parts = p->shape[0] * p->shape[2];
    if (p->shape[1] == 1 && p->shape[5] == 1 && p->is_unsigned == 0) {
        const int32_t count = p->shape[3];
        const int32_t size = p->shape[4];
        for (int32_t n = 0; n < parts; n++) {
            mg_reduce_sum_s8_columns(p, &input[n * count * size], count, size, &output[n * size]);
        }
        return;
    }
    if (p->shape[1] == 1 && p->shape[3] == 1 && p->is_unsigned == 0) {
        for (int32_t n = 0; n < parts * p->shape[4]; n++) {
            const int32_t sum = mg_sums_s8_row(&input[n * p->shape[5]], p->shape[5]);
            output[n] = mg_reduce_sum_s8_result(p, sum);
        }
        return;
    }
#endif
    MG_REDUCE(int32_t, 0, mg_reduce_sum_s8_step, mg_reduce_sum_s8_result, p, input, output);
}

typedef struct {
    int32_t shape[6];
    int32_t multiplier; /* Q31, input scale / output scale; for a mean, also / count */
    int32_t shift;      /* as microgen/requantization/requantize.h says */
} mg_reduce_sum_s16_params;

MG_SUM_STEP(mg_reduce_sum_s16, int32_t, int16_t)

MG_INLINE int16_t mg_reduce_sum_s16_result(const mg_reduce_sum_s16_params *p, int32_t sum)
{
    return mg_clamp_s16(mg_requantize(sum, p->multiplier, p->shift), INT16_MIN, INT16_MAX);
}

/* Sums input [shape] over its reduced axes, requantizes the sums with double rounding, and stores
 * them, saturated, in output [kept axes]. Zero points are 0. Output must not overlap the input.
 * Sums must fit int32. */
MG_REDUCTION(mg_reduce_sum_s16, int16_t, int32_t, int16_t, 0)

typedef struct {
    int32_t shape[6];
} mg_reduce_sum_s32_params;

MG_SUM_STEP(mg_reduce_sum_s32, uint32_t, int32_t)

MG_INLINE int32_t mg_reduce_sum_s32_result(const mg_reduce_sum_s32_params *p, uint32_t sum)
{
    (void)p;
    return (int32_t)sum;
}

/* Sums input [shape] over its reduced axes, modulo 2^32, into output [kept axes]. Output must not
 * overlap the input. */
MG_REDUCTION(mg_reduce_sum_s32, int32_t, uint32_t, int32_t, 0)

typedef struct {
    int32_t shape[6];
    int32_t bias; /* minus the input's zero point times the number of values summed */
    int32_t
        multiplier; /* of the scale of sums, as microgen/requantization/requantize_float.h says */
    int32_t shift;  /* the same */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
} mg_reduce_mean_in_float_s8_params;

MG_SUM_STEP(mg_reduce_mean_in_float_s8, int32_t, int8_t)

MG_INLINE int8_t mg_reduce_mean_in_float_s8_result(const mg_reduce_mean_in_float_s8_params *p,
                                                   int32_t sum)
{
    return mg_offset_and_clamp(mg_requantize_float(sum + p->bias, p->multiplier, p->shift),
                               p->output_offset, INT8_MIN, INT8_MAX);
}

/* Sums input [shape] over its reduced axes, scales the sums by mg_requantize_float, and stores
 * them, saturated, in output [kept axes]. Output must not overlap the input. Sums must fit int32,
 * bias included. */
MG_REDUCTION(mg_reduce_mean_in_float_s8, int8_t, int32_t, int8_t, 0)

typedef struct {
    int32_t shape[6];
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_reduce_max_params;

typedef struct {
    int32_t shape[6];
    int32_t is_minimum; /* the same */
    float first;        /* what the search begins with, such as -FLT_MAX for the greatest */
} mg_reduce_max_float_params;

/* Defines the kernel `symbol`, which writes the extremes of input [shape] over its reduced axes
 * into output [kept axes]. NaN is ignored. If no value is better than first, the result is first.
 * Output must not overlap the input. */
#define MG_REDUCE_MAX(symbol, params, type, first)                                                 \
    typedef params symbol##_params;                                                                \
    MG_INLINE type symbol##_step(const symbol##_params *p, type best, type value)                  \
    {                                                                                              \
        return ((p->is_minimum != 0) ? (value < best) : (value > best)) ? value : best;            \
    }                                                                                              \
    MG_INLINE type symbol##_result(const symbol##_params *p, type best)                            \
    {                                                                                              \
        (void)p;                                                                                   \
        return best;                                                                               \
    }                                                                                              \
    MG_REDUCTION(symbol, type, type, type, first)

MG_REDUCE_MAX(mg_reduce_max_s8, mg_reduce_max_params, int8_t,
              (p->is_minimum != 0) ? INT8_MAX : INT8_MIN)
MG_REDUCE_MAX(mg_reduce_max_s16, mg_reduce_max_params, int16_t,
              (p->is_minimum != 0) ? INT16_MAX : INT16_MIN)
MG_REDUCE_MAX(mg_reduce_max_s32, mg_reduce_max_params, int32_t,
              (p->is_minimum != 0) ? INT32_MAX : INT32_MIN)
MG_REDUCE_MAX(mg_reduce_max_f32, mg_reduce_max_float_params, float, p->first)

typedef struct {
    int32_t shape[6];
} mg_reduce_all_bool_params;

MG_INLINE uint8_t mg_reduce_all_bool_step(const mg_reduce_all_bool_params *p, uint8_t all,
                                          uint8_t value)
{
    (void)p;
    return (uint8_t)(all & value);
}

MG_INLINE uint8_t mg_reduce_all_bool_result(const mg_reduce_all_bool_params *p, uint8_t all)
{
    (void)p;
    return all;
}

/* Writes for each value of output [kept axes] 1 if no value of its reduction in input [shape] is 0,
 * otherwise 0. All values are 0 or 1. Output must not overlap the input. */
MG_REDUCTION(mg_reduce_all_bool, uint8_t, uint8_t, uint8_t, 1)

#ifdef MG_REDUCTION_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_reduce_sum_f32, float, float)
MG_DEFINE_UNARY(mg_reduce_sum_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_reduce_sum_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_reduce_sum_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_reduce_mean_in_float_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_reduce_max_f32, float, float)
MG_DEFINE_UNARY(mg_reduce_max_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_reduce_max_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_reduce_max_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_reduce_all_bool, uint8_t, uint8_t)
#endif

#endif
