/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int8, for MVE: sixteen channels at a time, one in each lane.
 *
 * The lanes are the values of a pixel as they are in memory, so no data is copied, unless a window
 * reaches beyond the input. The last sixteen channels may overlap with those before.
 *
 * VMULLB and VMULLT multiply the even and the odd channels. Weights are at least -127, so the sum
 * of the products of two taps is at most 32,512 in magnitude: it fits int16, and only these sums
 * are widened. That leaves channels 0, 4, 8 and 12 in the first vector of sums, and so on, as VLD4
 * loads the tables. Two narrowing steps restore the order. Sums contain products with the data's
 * zero point, see mve_rows.h.
 *
 * A result is at most 2^30 in magnitude before it is narrowed to int16, the offset is added, and it
 * is narrowed to int8; all three saturate, and the clamp is inside int8, so saturation changes no
 * output. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_SIXTEENS_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_SIXTEENS_MVE_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/depthwise_conv2d_s8.h"
#include "microgen/mve_axis.h"
#include "microgen/mve_rows.h"
#include "microgen/out_of_line.h"
#include "microgen/scaling_s8.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s8_sixteens_mve_params;

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_CLIPPED_TAPS 25 /* the most that a window has if it reaches beyond the input */

/* Sixteen channels of `count` pixels, in the order in which the assembly loads it. The window of a
 * pixel is `runs` runs of `taps` values, `tap_step` bytes apart. The others are `pixel_step` and
 * `output_step` bytes apart. */
typedef struct {
    const int32_t *bias;
    const int8_t *weight; /* [runs][taps][16] */
    int32_t runs;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t offset;
    int32_t is_upward;  /* 1 if it does not matter how ties of negative values are rounded */
    int32_t is_clamped; /* 1 if not all values of int8 are outputs */
    int32_t pixel_step;
    int32_t output_step;
    int32_t tap_step;
    const int8_t *input;
    int32_t taps;
    int32_t gap; /* bytes from an even number of taps on to the next run */
    int32_t count;
    int8_t *output;
    int8x16_t low;
    int8x16_t high;
} mg_mve_sixteen;

#if defined(__OPTIMIZE__)

/* clang-format off */

/* Adds the products of one tap or two, in q6 and q7, to the sums. */
#define MG_MVE_SIXTEEN_ADD                                                                         \
    "vmovlb.s16 q4, q6\n"                                                                          \
    "vmovlt.s16 q5, q6\n"                                                                          \
    "vadd.i32 q0, q0, q4\n"                                                                        \
    "vmovlb.s16 q4, q7\n"                                                                          \
    "vadd.i32 q2, q2, q5\n"                                                                        \
    "vmovlt.s16 q5, q7\n"                                                                          \
    "vadd.i32 q1, q1, q4\n"                                                                        \
    "vadd.i32 q3, q3, q5\n"

/* The products of two taps. There is no ninth register, so the values of the second one are loaded
 * twice. */
#define MG_MVE_SIXTEEN_PAIR                                                                        \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "add r0, r0, r1\n"                                                                             \
    "vldrb.8 q5, [r2], #32\n"                                                                      \
    "vmullb.s8 q6, q4, q5\n"                                                                       \
    "vmullt.s8 q7, q4, q5\n"                                                                       \
    "vldrb.8 q5, [r2, #-16]\n"                                                                     \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "vmullb.s8 q4, q4, q5\n"                                                                       \
    "vadd.i16 q6, q6, q4\n"                                                                        \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "add r0, r0, r1\n"                                                                             \
    "vmullt.s8 q4, q4, q5\n"                                                                       \
    "vadd.i16 q7, q7, q4\n"                                                                        \
    MG_MVE_SIXTEEN_ADD

#define MG_MVE_SIXTEEN_LAST                                                                        \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "vldrb.8 q5, [r2], #16\n"                                                                      \
    "vmullb.s8 q6, q4, q5\n"                                                                       \
    "vmullt.s8 q7, q4, q5\n"                                                                       \
    MG_MVE_SIXTEEN_ADD

#define MG_MVE_SIXTEEN_TIES(x) "vshr.s32 q4, " x ", #31\nvadd.i32 " x ", " x ", q4\n"

/* Makes outputs of the sums. VRSHL takes its shift from the lowest byte of a lane. */
#define MG_MVE_SIXTEEN_SCALE                                                                       \
    "vld40.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vld41.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vld42.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vld43.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vqrdmulh.s32 q0, q0, q4\n"                                                                    \
    "vqrdmulh.s32 q1, q1, q5\n"                                                                    \
    "vldrb.8 q5, [r2]\n"                                                                           \
    "vqrdmulh.s32 q2, q2, q6\n"                                                                    \
    "vmvn q5, q5\n"                                                                                \
    "vqrdmulh.s32 q3, q3, q7\n"                                                                    \
    "cbnz r5, 5f\n"                                                                                \
    MG_MVE_SIXTEEN_TIES("q0") MG_MVE_SIXTEEN_TIES("q1")                                            \
    MG_MVE_SIXTEEN_TIES("q2") MG_MVE_SIXTEEN_TIES("q3")                                            \
    "5:\n"                                                                                         \
    "vrshl.s32 q0, q0, q5\n"                                                                       \
    "vshr.u32 q6, q5, #8\n"                                                                        \
    "vshr.u32 q7, q5, #16\n"                                                                       \
    "vrshl.s32 q1, q1, q6\n"                                                                       \
    "vshr.u32 q5, q5, #24\n"                                                                       \
    "vrshl.s32 q2, q2, q7\n"                                                                       \
    "vqmovnb.s32 q0, q0\n"                                                                         \
    "vrshl.s32 q3, q3, q5\n"                                                                       \
    "vqmovnb.s32 q1, q1\n"                                                                         \
    "vqmovnt.s32 q0, q2\n"                                                                         \
    "vqmovnt.s32 q1, q3\n"                                                                         \
    "vqadd.s16 q0, q0, r3\n"                                                                       \
    "vqadd.s16 q1, q1, r3\n"                                                                       \
    "vqmovnb.s16 q0, q0\n"                                                                         \
    "vqmovnt.s16 q0, q1\n"
/* clang-format on */

/* In assembly, because GCC 12 spills registers. */
MG_INLINE void mg_mve_sixteen_pixels(const mg_mve_sixteen *of)
{
    __asm__ volatile(
        "add r0, %[of], %[tap_step]\n"
        "ldm r0, {r1, r4, r8, r9, r10, r11}\n"
        "1:\n"
        "ldm %[of], {r0, r2, r3}\n"
        "vld40.32 {q0, q1, q2, q3}, [r0]\n"
        "vld41.32 {q0, q1, q2, q3}, [r0]\n"
        "vld42.32 {q0, q1, q2, q3}, [r0]\n"
        "vld43.32 {q0, q1, q2, q3}, [r0]\n"
        "mov r0, r4\n"
        "2:\n"
        "lsrs r5, r8, #1\n" /* the loop keeps the carry: an odd tap is left */
        "wls lr, r5, 4f\n"
        "3:\n" MG_MVE_SIXTEEN_PAIR "le lr, 3b\n"
        "4:\n"
        "bcc 4f\n" MG_MVE_SIXTEEN_LAST "4:\n"
        "add r0, r0, r9\n"
        "subs r3, r3, #1\n"
        "bne 2b\n"
        "add r0, %[of], %[multiplier]\n"
        "ldm r0, {r0, r2, r3, r5, r6}\n" MG_MVE_SIXTEEN_SCALE "cbz r6, 6f\n"
        "vldrw.32 q1, [%[of], %[low]]\n"
        "vldrw.32 q2, [%[of], %[high]]\n"
        "vmax.s8 q0, q0, q1\n"
        "vmin.s8 q0, q0, q2\n"
        "6:\n"
        "ldrd r5, r6, [%[of], %[pixel_step]]\n"
        "vstrb.8 q0, [r11]\n"
        "add r4, r4, r5\n"
        "add r11, r11, r6\n"
        "subs r10, r10, #1\n"
        "bne 1b"
        :
        : [of] "r"(of), [tap_step] "i"(offsetof(mg_mve_sixteen, tap_step)),
          [multiplier] "i"(offsetof(mg_mve_sixteen, multiplier)),
          [pixel_step] "i"(offsetof(mg_mve_sixteen, pixel_step)),
          [low] "i"(offsetof(mg_mve_sixteen, low)), [high] "i"(offsetof(mg_mve_sixteen, high))
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "q0", "q1",
          "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

#else

/* Without optimisation the assembly would need too many registers. */
MG_INLINE int32_t mg_mve_sixteen_sum(const mg_mve_sixteen *of, const int8_t *input, int32_t c)
{
    const int32_t run_step = of->gap + (of->taps & -2) * of->tap_step;
    int32_t sum = of->bias[c];

    for (int32_t i = 0; i < of->runs; i++) {
        for (int32_t k = 0; k < of->taps; k++) {
            sum += input[i * run_step + k * of->tap_step + c] *
                   of->weight[(i * of->taps + k) * MG_MVE_BYTES + c];
        }
    }
    return sum;
}

MG_INLINE void mg_mve_sixteen_pixels(const mg_mve_sixteen *of)
{
    const mg_scaling scaling = {of->multiplier, of->shift, of->offset, vgetq_lane_s8(of->low, 0),
                                vgetq_lane_s8(of->high, 0)};

    for (int32_t i = 0; i < of->count; i++) {
        for (int32_t c = 0; c < MG_MVE_BYTES; c++) {
            const int32_t sum = mg_mve_sixteen_sum(of, of->input + i * of->pixel_step, c);
            of->output[i * of->output_step + c] =
                mg_scaled(&scaling, c, sum, MG_ROUND_TWICE_NARROW);
        }
    }
}

#endif

/* One of the two axes. Its `weight_step` is in bytes of a copied window. */
typedef struct {
    mg_mve_axis axis;
    int32_t dilation;
    int32_t room; /* the last position of a window that ends inside the input */
} mg_mve_sixteens_axis;

/* A layer, and sixteen of its channels. */
typedef struct {
    mg_mve_sixteens_axis along; /* the one with more outputs */
    mg_mve_sixteens_axis around;
    int8_t *window; /* a copied one, [taps][16] */
    int32_t zero;   /* the input's zero point */
    int32_t until;  /* the place along after the last one whose window ends inside the input */
    mg_mve_sixteen pixels;
} mg_mve_sixteens;

MG_INLINE void mg_mve_sixteens_axis_of(mg_mve_sixteens_axis *of, mg_mve_axis axis, int32_t dilation,
                                       int32_t taps)
{
    of->axis = axis;
    of->axis.weight_step = taps * MG_MVE_BYTES;
    of->dilation = dilation;
    of->room = axis.size - 1 - (axis.kernel - 1) * dilation;
}

/* The position of a place's window, which may be negative. */
MG_INLINE int32_t mg_mve_sixteens_origin(const mg_mve_sixteens_axis *of, int32_t place)
{
    return place * of->axis.stride - of->axis.pad;
}

/* Copies the window at positions y and x along the two axes. */
MG_INLINE void mg_mve_sixteens_copy(const mg_mve_sixteens *l, const int8_t *input, int32_t y,
                                    int32_t x)
{
    const mg_mve_axis *along = &l->along.axis;
    const mg_mve_axis *around = &l->around.axis;

    for (int32_t i = 0; i < along->kernel; i++) {
        int8_t *to = l->window + i * along->weight_step;
        int32_t at = x;
        for (int32_t k = around->kernel; k > 0; k--) {
            int8x16_t values = vdupq_n_s8((int8_t)l->zero);
            if (y >= 0 && y < along->size && at >= 0 && at < around->size) {
                values = vldrbq_s8(input + y * along->input_step + at * around->input_step);
            }
            vstrbq_s8(to, values);
            to += around->weight_step;
            at += l->around.dilation;
        }
        y += l->along.dilation;
    }
}

/* The next pixels are inside the input. The rows of filters of one column are one run. */
MG_INLINE void mg_mve_sixteens_inside(const mg_depthwise_conv2d_s8_params *p, mg_mve_sixteen *of)
{
    const int is_column = p->kernel_width == 1;
    const int32_t line = p->input_width * p->input_channels * p->dilation_height;

    of->runs = is_column ? 1 : p->kernel_height;
    of->taps = is_column ? p->kernel_height : p->kernel_width;
    of->tap_step = is_column ? line : p->input_channels * p->dilation_width;
    of->gap = line - (of->taps & -2) * of->tap_step;
}

/* The next pixel's window is a copied one. */
MG_INLINE void mg_mve_sixteens_copied(const mg_depthwise_conv2d_s8_params *p, mg_mve_sixteen *of)
{
    of->runs = 1;
    of->taps = p->kernel_height * p->kernel_width;
    of->tap_step = MG_MVE_BYTES;
}

/* Computes all places along one axis at position x along the other. */
MG_INLINE void mg_mve_sixteens_line(const mg_depthwise_conv2d_s8_params *p, mg_mve_sixteens *l,
                                    const int8_t *input, int8_t *output, int32_t x)
{
    const int32_t until = (x >= 0 && x <= l->around.room) ? l->until : 0;
    mg_mve_sixteen *of = &l->pixels;

    for (int32_t i = 0; i < l->along.axis.outputs; i += of->count) {
        const int32_t y = mg_mve_sixteens_origin(&l->along, i);
        of->output = output + i * of->output_step;
        if (y >= 0 && i < until) {
            mg_mve_sixteens_inside(p, of);
            of->count = until - i;
            of->input = input + y * l->along.axis.input_step + x * l->around.axis.input_step;
        } else {
            mg_mve_sixteens_copied(p, of);
            of->count = 1;
            of->input = l->window;
            mg_mve_sixteens_copy(l, input, y, x);
        }
        mg_mve_sixteen_pixels(of);
    }
}

/* The places along an axis whose windows end inside the input. */
MG_INLINE int32_t mg_mve_sixteens_until(const mg_mve_sixteens_axis *of)
{
    const int32_t last = of->room + of->axis.pad;
    const int32_t until = (last < 0) ? 0 : last / of->axis.stride + 1;
    return (until < of->axis.outputs) ? until : of->axis.outputs;
}

/* Fills in what all channels of a layer share. */
MG_INLINE void mg_mve_sixteens_of(const mg_depthwise_conv2d_s8_params *p, mg_mve_sixteens *l)
{
    const int is_tall = p->output_height >= p->output_width;
    mg_mve_sixteen *of = &l->pixels;

    mg_mve_sixteens_axis_of(is_tall ? &l->along : &l->around, mg_mve_axis_of_rows(p),
                            p->dilation_height, p->kernel_width);
    mg_mve_sixteens_axis_of(is_tall ? &l->around : &l->along, mg_mve_axis_of_columns(p),
                            p->dilation_width, 1);
    l->zero = -p->input_offset;
    l->until = mg_mve_sixteens_until(&l->along);
    of->offset = p->output_offset;
    of->is_upward = (p->activation_min >= p->output_offset) ? 1 : 0;
    of->is_clamped = (p->activation_min > INT8_MIN || p->activation_max < INT8_MAX) ? 1 : 0;
    of->pixel_step = l->along.axis.input_step * l->along.axis.stride;
    of->output_step = l->along.axis.output_step;
    of->low = vdupq_n_s8((int8_t)p->activation_min);
    of->high = vdupq_n_s8((int8_t)p->activation_max);
}

/* All channels of all images. Out of line, so that layers of a model share it. */
static __attribute__((noinline, unused)) void
mg_mve_sixteens_compute(const mg_depthwise_conv2d_s8_params *p, const int8_t *input,
                        const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                        const int8_t *shift, int8_t *output)
{
    int8_t window[MG_MVE_CLIPPED_TAPS * MG_MVE_BYTES];
    const int32_t last = p->input_channels - MG_MVE_BYTES;
    mg_mve_sixteens l;

    l.window = window;
    l.pixels.weight = weight;
    mg_mve_sixteens_of(p, &l);
    for (int32_t c = 0; c < p->input_channels; c += MG_MVE_BYTES) {
        const int32_t from = (c < last) ? c : last;
        const int8_t *image = input + from;
        int8_t *result = output + from;
        l.pixels.bias = bias + from;
        l.pixels.multiplier = multiplier + from;
        l.pixels.shift = shift + from;
        for (int32_t n = 0; n < p->batches; n++) {
            for (int32_t j = 0; j < l.around.axis.outputs; j++) {
                mg_mve_sixteens_line(p, &l, image, result + j * l.around.axis.output_step,
                                     mg_mve_sixteens_origin(&l.around, j));
            }
            image += p->input_height * p->input_width * p->input_channels;
            result += p->output_height * p->output_width * p->input_channels;
        }
        l.pixels.weight += p->kernel_height * p->kernel_width * MG_MVE_BYTES;
    }
}

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments, for sixteen channels or
 * more. depth_multiplier is 1, and weights are at least -127. They are [blocks][taps][16], see
 * microgen/kernels/depthwise_conv2d_sixteens_mve.py; the last block has the last sixteen channels.
 * The bias contains the input's zero point. `requantization` is MG_ROUND_TWICE_NARROW. If windows
 * reach beyond the input, they have at most MG_MVE_CLIPPED_TAPS taps. */
MG_INLINE void mg_depthwise_conv2d_s8_sixteens_mve_body(const mg_depthwise_conv2d_s8_params *p,
                                                        const int8_t *input, const int8_t *weight,
                                                        const int32_t *bias,
                                                        const int32_t *multiplier,
                                                        const int8_t *shift, void *output,
                                                        int requantization)
{
    (void)requantization;
    mg_mve_sixteens_compute(p, input, weight, bias, multiplier, shift, (int8_t *)output);
}

#define MG_DEPTHWISE_CONV2D_S8_SIXTEENS_MVE_KERNEL(name, ...)                                      \
    MG_KERNEL(name, mg_depthwise_conv2d_s8_sixteens_mve, int8_t, __VA_ARGS__)

#else

#define MG_DEPTHWISE_CONV2D_S8_SIXTEENS_MVE_KERNEL(name, ...)                                      \
    MG_DEPTHWISE_CONV2D_S8_SIXTEENS_MVE_PROTOTYPE(name);

#endif

#define MG_DEPTHWISE_CONV2D_S8_SIXTEENS_MVE_PROTOTYPE(name)                                        \
    MG_PROTOTYPE(name, mg_depthwise_conv2d_s8_sixteens_mve, int8_t)

#endif
