/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, for MVE: raw products of four output features at a time. */
#ifndef MICROGEN_DENSE_S8_ROWS_MVE_H
#define MICROGEN_DENSE_S8_ROWS_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve_rows.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_rows_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* What is left of a layer, in the order in which the assembly loads it. */
typedef struct {
    int8_t *output;
    int32_t depth;
    int32_t left;      /* MG_LINEAR_VECTOR: the shift of sums; otherwise the output's zero point */
    int32_t right;     /* the shift of products, to the left, so it is negative */
    int32_t next;      /* bytes from four multipliers to the next, or 0 if all are the same */
    const int8_t *end; /* of the outputs, for the assembly */
    const int8_t *input;
    const int8_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    int32x4_t low;
    int32x4_t high;
    const int8_t *shift; /* the rounding shifts of features that have scales of their own */
} mg_mve_dense;

/* Whether all features have one scale, or each its own. MG_LINEAR_VECTOR and MG_ROUND_FLOAT_FPU
 * have no shifts by feature, so either suits them. */
enum {
    MG_ONE_SCALE,
    MG_SCALE_EACH
};

/* MG_LINEAR_VECTOR: what microgen/graph/arithmetic/linear_vector.py computes. The bias is
 * scaled, and contains the output's zero point. */
MG_INLINE int32x4_t mg_mve_linear(const mg_mve_dense *d, int32x4_t sums, int32x4_t bias,
                                  int32x4_t multiplier)
{
    const int32x4_t x = vqaddq_s32(vqshlq_r_s32(sums, d->left), bias);
    return vminq_s32(vmaxq_s32(vshlq_r_s32(vqrdmulhq_s32(x, multiplier), d->right), d->low),
                     d->high);
}

/* What the other requantizations compute of scaled_s8.h's, without the clamp:
 * MG_ROUND_TWICE_NARROW, MG_ROUND_UPWARD_NARROW or MG_ROUND_FLOAT_FPU. `right` shifts to the left,
 * so it is negative. The first rounding of the first one is that of the product, the second that of
 * the shift. The second one's product is rounded down. */
MG_INLINE int32x4_t mg_mve_dense_rounded(int32x4_t x, int32x4_t multiplier, int32x4_t right,
                                         int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        return mg_mve_scaled_in_float(x, multiplier);
    }
#endif
    if (requantization == MG_ROUND_UPWARD_NARROW) {
        return vrshlq_s32(vqdmulhq_s32(x, multiplier), right);
    }
    return vrshlq_s32(mg_mve_ties_down(vqrdmulhq_s32(x, multiplier)), right);
}

MG_INLINE int32x4_t mg_mve_dense_scaled(const mg_mve_dense *d, int32x4_t x, int32x4_t multiplier,
                                        int32x4_t right, int requantization)
{
    const int32x4_t stored =
        vaddq_n_s32(mg_mve_dense_rounded(x, multiplier, right, requantization), d->left);
    return vminq_s32(vmaxq_s32(stored, d->low), d->high);
}

/* The next four features, or `count` if these are less. Reads no weights or tables of others. */
MG_INLINE void mg_mve_dense_four(mg_mve_dense *d, int32_t count, int form, int requantization)
{
    const int has_shifts = (form == MG_SCALE_EACH) && (requantization != MG_LINEAR_VECTOR) &&
                           (requantization != MG_ROUND_FLOAT_FPU);
    const mve_pred16_t active = vctp32q((uint32_t)count);
    const mg_mve_four_filters of = {{d->weight, d->weight + ((count > 1) ? d->depth : 0),
                                     d->weight + ((count > 2) ? 2 * d->depth : 0),
                                     d->weight + ((count > 3) ? 3 * d->depth : 0)},
                                    d->input,
                                    d->depth};
    const int32x4_t sums = mg_mve_dot_four(&of);
    const int32x4_t multiplier =
        (d->next != 0) ? vldrwq_z_s32(d->multiplier, active) : vdupq_n_s32(d->multiplier[0]);
    const int32x4_t bias = vldrwq_z_s32(d->bias, active);
    const int32x4_t right =
        has_shifts ? vmvnq_s32(vldrbq_z_s32(d->shift, active)) : vdupq_n_s32(d->right);
    const int32x4_t stored =
        (requantization == MG_LINEAR_VECTOR)
            ? mg_mve_linear(d, sums, bias, multiplier)
            : mg_mve_dense_scaled(d, vaddq_s32(sums, bias), multiplier, right, requantization);
    vstrbq_p_s32(d->output, stored, active);
    d->shift += has_shifts ? MG_MVE_FILTERS : 0;
    d->weight += MG_MVE_FILTERS * d->depth;
    d->bias += MG_MVE_FILTERS;
    d->multiplier += d->next / (int32_t)sizeof(int32_t);
    d->output += MG_MVE_FILTERS;
}

#if defined(__OPTIMIZE__)

#define MG_MVE_DENSE_DEPTH 64 /* products of a feature in each step of the loop in assembly */

/* 64 products of each of four features. Generated so that each load is two instructions before its
 * use, and loads and products alternate. */
/* clang-format off */
#define MG_MVE_DENSE_STEP                                                                          \
    "vldrb.8 q0, [r1], #64\n\t" \
    "vldrb.8 q2, [r3], #64\n\t" \
    "vldrb.8 q3, [r5], #64\n\t" \
    "vmladava.s8 r0, q0, q2\n\t" \
    "vldrb.8 q4, [r8], #64\n\t" \
    "vmladava.s8 r2, q0, q3\n\t" \
    "vldrb.8 q5, [r9], #64\n\t" \
    "vmladava.s8 r4, q0, q4\n\t" \
    "vldrb.8 q1, [r1, #-48]\n\t" \
    "vldrb.8 q2, [r3, #-48]\n\t" \
    "vmladava.s8 r6, q0, q5\n\t" \
    "vldrb.8 q3, [r5, #-48]\n\t" \
    "vmladava.s8 r0, q1, q2\n\t" \
    "vldrb.8 q4, [r8, #-48]\n\t" \
    "vmladava.s8 r2, q1, q3\n\t" \
    "vldrb.8 q5, [r9, #-48]\n\t" \
    "vmladava.s8 r4, q1, q4\n\t" \
    "vldrb.8 q0, [r1, #-32]\n\t" \
    "vldrb.8 q2, [r3, #-32]\n\t" \
    "vmladava.s8 r6, q1, q5\n\t" \
    "vldrb.8 q3, [r5, #-32]\n\t" \
    "vmladava.s8 r0, q0, q2\n\t" \
    "vldrb.8 q4, [r8, #-32]\n\t" \
    "vmladava.s8 r2, q0, q3\n\t" \
    "vldrb.8 q5, [r9, #-32]\n\t" \
    "vmladava.s8 r4, q0, q4\n\t" \
    "vldrb.8 q1, [r1, #-16]\n\t" \
    "vldrb.8 q2, [r3, #-16]\n\t" \
    "vmladava.s8 r6, q0, q5\n\t" \
    "vldrb.8 q3, [r5, #-16]\n\t" \
    "vmladava.s8 r0, q1, q2\n\t" \
    "vldrb.8 q4, [r8, #-16]\n\t" \
    "vmladava.s8 r2, q1, q3\n\t" \
    "vldrb.8 q5, [r9, #-16]\n\t" \
    "vmladava.s8 r4, q1, q4\n\t" \
    "vmladava.s8 r6, q1, q5\n\t"
/* clang-format on */

/* Features up to d->end, four at a time, for depths that are multiples of 64. In assembly, because
 * GCC 12 spills registers. The multiplier is a vector in memory if all are the same. `widen` shifts
 * sums, `add` adds biases, `product` multiplies, and `scale` makes outputs of products. */
#define MG_MVE_DENSE_QUADS(name, widen, add, product, scale)                                       \
    MG_INLINE void name(mg_mve_dense *d)                                                           \
    {                                                                                              \
        __asm__ volatile(                                                                          \
            "add r0, %[of], %[input]\n\t"                                                          \
            "ldm r0, {r1, r3, r10, r11}\n\t"                                                       \
            "ldr r4, [%[of], %[depth]]\n\t"                                                        \
            "vldrw.32 q6, [%[of], %[low]]\n\t"                                                     \
            "vldrw.32 q7, [%[of], %[high]]\n"                                                      \
            "1:\n\t"                                                                               \
            "add r5, r3, r4\n\t"                                                                   \
            "add r8, r5, r4\n\t"                                                                   \
            "add r9, r8, r4\n\t"                                                                   \
            "lsr lr, r4, #6\n\t"                                                                   \
            "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\t"                         \
            "dls lr, lr\n"                                                                         \
            "2:\n\t" MG_MVE_DENSE_STEP "le lr, 2b\n\t"                                             \
            "vmov q0[2], q0[0], r0, r4\n\t"                                                        \
            "vmov q0[3], q0[1], r2, r6\n\t"                                                        \
            "vldrw.32 q1, [r10], #16\n\t"                                                          \
            "mov r3, r9\n\t"                                                                       \
            "ldm %[of], {r0, r4, r5, r6, r8, r9}\n\t" widen "vldrw.32 q2, [r11]\n\t" add           \
            " q0, q0, q1\n\t"                                                                      \
            "add r11, r11, r8\n\t"                                                                 \
            "sub r1, r1, r4\n\t" product " q0, q0, q2\n\t" scale "vmax.s32 q0, q0, q6\n\t"         \
            "vmin.s32 q0, q0, q7\n\t"                                                              \
            "vstrb.32 q0, [r0], #4\n\t"                                                            \
            "str r0, [%[of]]\n\t"                                                                  \
            "cmp r0, r9\n\t"                                                                       \
            "bne 1b"                                                                               \
            :                                                                                      \
            : [of] "r"(d), [depth] "i"(offsetof(mg_mve_dense, depth)),                             \
              [low] "i"(offsetof(mg_mve_dense, low)), [high] "i"(offsetof(mg_mve_dense, high)),    \
              [input] "i"(offsetof(mg_mve_dense, input)),                                          \
              [shifts] "i"(offsetof(mg_mve_dense, shift))                                          \
            : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "q0",      \
              "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");                           \
    }

/* The shifts of products of four features, to the left. */
#define MG_MVE_DENSE_RIGHT                                                                         \
    "ldr r6, [%[of], %[shifts]]\n\t"                                                               \
    "vldrb.s32 q1, [r6], #4\n\t"                                                                   \
    "str r6, [%[of], %[shifts]]\n\t"                                                               \
    "vmvn q1, q1\n\t"
#define MG_MVE_DENSE_TIES_DOWN                                                                     \
    "vshr.s32 q3, q0, #31\n\t"                                                                     \
    "vadd.i32 q0, q0, q3\n\t"
#define MG_MVE_DENSE_OFFSET "vadd.i32 q0, q0, r5\n\t"
#define MG_MVE_DENSE_SHIFT "vrshl.s32 q0, r6\n\t" MG_MVE_DENSE_OFFSET
#define MG_MVE_DENSE_SHIFT_EACH MG_MVE_DENSE_RIGHT "vrshl.s32 q0, q0, q1\n\t" MG_MVE_DENSE_OFFSET

MG_MVE_DENSE_QUADS(mg_mve_dense_quads_linear, "vqshl.s32 q0, r5\n\t", "vqadd.s32", "vqrdmulh.s32",
                   "vshl.s32 q0, r6\n\t")
MG_MVE_DENSE_QUADS(mg_mve_dense_quads_twice, "", "vadd.i32", "vqrdmulh.s32",
                   MG_MVE_DENSE_TIES_DOWN MG_MVE_DENSE_SHIFT)
MG_MVE_DENSE_QUADS(mg_mve_dense_quads_twice_each, "", "vadd.i32", "vqrdmulh.s32",
                   MG_MVE_DENSE_TIES_DOWN MG_MVE_DENSE_SHIFT_EACH)
MG_MVE_DENSE_QUADS(mg_mve_dense_quads_upward, "", "vadd.i32", "vqdmulh.s32", MG_MVE_DENSE_SHIFT)
MG_MVE_DENSE_QUADS(mg_mve_dense_quads_upward_each, "", "vadd.i32", "vqdmulh.s32",
                   MG_MVE_DENSE_SHIFT_EACH)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_DENSE_QUADS(mg_mve_dense_quads_fpu, "", "vadd.i32", "vcvt.f32.s32 q0, q0\n\tvmul.f32",
                   "vcvtn.s32.f32 q0, q0\n\t" MG_MVE_DENSE_OFFSET)
#endif

MG_INLINE void mg_mve_dense_quads(mg_mve_dense *d, int form, int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        mg_mve_dense_quads_fpu(d);
        return;
    }
#endif
    if (requantization == MG_LINEAR_VECTOR) {
        mg_mve_dense_quads_linear(d);
    } else if (requantization == MG_ROUND_UPWARD_NARROW) {
        if (form == MG_SCALE_EACH) {
            mg_mve_dense_quads_upward_each(d);
        } else {
            mg_mve_dense_quads_upward(d);
        }
    } else if (form == MG_SCALE_EACH) {
        mg_mve_dense_quads_twice_each(d);
    } else {
        mg_mve_dense_quads_twice(d);
    }
}

/* The same and moves on. Returns the features that are left. */
MG_INLINE int32_t mg_mve_dense_whole(mg_mve_dense *d, int32_t features, int form,
                                     int requantization)
{
    const int32_t done = features & -MG_MVE_FILTERS;
    if (done == 0 || d->depth % MG_MVE_DENSE_DEPTH != 0) {
        return features;
    }
    const int32x4_t all = vdupq_n_s32(d->multiplier[0]);
    mg_mve_dense of = *d;
    of.multiplier = (d->next != 0) ? d->multiplier : (const int32_t *)(const void *)&all;
    of.end = of.output + done;
    mg_mve_dense_quads(&of, form, requantization);
    d->shift = of.shift;
    d->weight += done * d->depth;
    d->bias += done;
    d->multiplier += (d->next != 0) ? done : 0;
    d->output += done;
    return features - done;
}

#else

MG_INLINE int32_t mg_mve_dense_whole(mg_mve_dense *d, int32_t features, int form,
                                     int requantization)
{
    (void)d;
    (void)form;
    (void)requantization;
    return features;
}

#endif

/* The outputs of one row of inputs. */
MG_INLINE void mg_mve_dense_features(const mg_dense_s8_params *p, const int8_t *input,
                                     const int8_t *weight, const int32_t *bias,
                                     const int32_t *multiplier, const int8_t *shift, int8_t *output,
                                     int form, int requantization)
{
    const int is_linear = requantization == MG_LINEAR_VECTOR;
    const int has_one = !is_linear && (form == MG_ONE_SCALE);
    const int has_shift = requantization != MG_ROUND_FLOAT_FPU;
    mg_mve_dense d = {output,
                      p->input_features,
                      is_linear ? shift[0] : p->output_offset,
                      is_linear ? shift[1] : ((has_one && has_shift) ? -1 - shift[0] : 0),
                      (!has_one && (p->per_channel != 0)) ? MG_MVE_BYTES : 0,
                      NULL,
                      input,
                      weight,
                      bias,
                      multiplier,
                      vdupq_n_s32(p->activation_min),
                      vdupq_n_s32(p->activation_max),
                      shift};

    for (int32_t left = mg_mve_dense_whole(&d, p->output_features, form, requantization); left > 0;
         left -= MG_MVE_FILTERS) {
        mg_mve_dense_four(&d, left, form, requantization);
    }
}

/* The same. Out of line, so that all layers of a model share it. */
#define MG_MVE_DENSE_FEATURES(name, form, requantization)                                          \
    static __attribute__((noinline, unused)) void name(                                            \
        const mg_dense_s8_params *p, const int8_t *input, const int8_t *weight,                    \
        const int32_t *bias, const int32_t *multiplier, const int8_t *shift, int8_t *output)       \
    {                                                                                              \
        mg_mve_dense_features(p, input, weight, bias, multiplier, shift, output, form,             \
                              requantization);                                                     \
    }

MG_MVE_DENSE_FEATURES(mg_mve_dense_linear, MG_SCALE_EACH, MG_LINEAR_VECTOR)
MG_MVE_DENSE_FEATURES(mg_mve_dense_twice, MG_ONE_SCALE, MG_ROUND_TWICE_NARROW)
MG_MVE_DENSE_FEATURES(mg_mve_dense_twice_each, MG_SCALE_EACH, MG_ROUND_TWICE_NARROW)
MG_MVE_DENSE_FEATURES(mg_mve_dense_upward, MG_ONE_SCALE, MG_ROUND_UPWARD_NARROW)
MG_MVE_DENSE_FEATURES(mg_mve_dense_upward_each, MG_SCALE_EACH, MG_ROUND_UPWARD_NARROW)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_DENSE_FEATURES(mg_mve_dense_fpu, MG_SCALE_EACH, MG_ROUND_FLOAT_FPU)
#endif

typedef void mg_mve_dense_function(const mg_dense_s8_params *p, const int8_t *input,
                                   const int8_t *weight, const int32_t *bias,
                                   const int32_t *multiplier, const int8_t *shift, int8_t *output);

MG_INLINE mg_mve_dense_function *mg_mve_dense_of(int form, int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        return mg_mve_dense_fpu;
    }
#endif
    if (requantization == MG_LINEAR_VECTOR) {
        return mg_mve_dense_linear;
    }
    if (requantization == MG_ROUND_UPWARD_NARROW) {
        return (form == MG_SCALE_EACH) ? mg_mve_dense_upward_each : mg_mve_dense_upward;
    }
    return (form == MG_SCALE_EACH) ? mg_mve_dense_twice_each : mg_mve_dense_twice;
}

/* Computes the same as mg_dense_s8_body with the same arguments. `requantization` is
 * MG_LINEAR_VECTOR, MG_ROUND_TWICE_NARROW, MG_ROUND_UPWARD_NARROW or MG_ROUND_FLOAT_FPU. Sums
 * contain no zero point; the bias does. */
MG_INLINE void mg_dense_s8_rows_mve_body(const mg_dense_s8_params *p, const int8_t *input,
                                         const int8_t *weight, const int32_t *bias,
                                         const int32_t *multiplier, const int8_t *shift,
                                         void *output, int form, int requantization)
{
    int8_t *stored = (int8_t *)output;

    for (int32_t n = 0; n < p->batches; n++) {
        mg_mve_dense_of(form, requantization)(p, input, weight, bias, multiplier, shift, stored);
        input += p->input_features;
        stored += p->output_features;
    }
}

#define MG_DENSE_S8_ROWS_MVE_KERNEL(name, ...)                                                     \
    MG_KERNEL(name, mg_dense_s8_rows_mve, int8_t, __VA_ARGS__)

#else

#define MG_DENSE_S8_ROWS_MVE_KERNEL(name, ...) MG_DENSE_S8_ROWS_MVE_PROTOTYPE(name);

#endif

#define MG_DENSE_S8_ROWS_MVE_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_rows_mve, int8_t)

#endif
