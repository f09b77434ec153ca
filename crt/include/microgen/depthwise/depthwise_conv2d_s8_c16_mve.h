/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int8, for MVE: sixteen channels at a time, one in each lane.
 *
 * The lanes are the values of a pixel as they are in memory, so no data is copied, unless a window
 * reaches beyond the input. The last sixteen channels may overlap with those before.
 * Sums contain products with the data's zero point, see mve_rows.h. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_C16_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_C16_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve_axis.h"
#include "microgen/blocks/mve_c16.h"
#include "microgen/depthwise/depthwise_conv2d_s8_compact.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

/* The dilations are those of mg_depthwise_conv2d_s8_params. */
typedef struct {
    mg_depthwise_conv2d_s8_compact layer;
    uint16_t dilation_height;
    uint16_t dilation_width;
} mg_depthwise_conv2d_s8_c16_mve_params;

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_CLIPPED_TAPS 25 /* the most that a window has if it reaches beyond the input */

/* One of the two axes. Its `weight_step` is in bytes of a copied window. */
typedef struct {
    mg_mve_axis axis;
    int32_t dilation;
    int32_t room; /* the last position of a window that ends inside the input */
} mg_mve_c16_axis;

/* A layer, and sixteen of its channels. */
typedef struct {
    mg_mve_c16_axis along; /* the one with more outputs */
    mg_mve_c16_axis around;
    int8_t *window; /* a copied one, [taps][16] */
    int32_t zero;   /* the input's zero point */
    int32_t until;  /* the place along after the last one whose window ends inside the input */
    mg_mve_c16 pixels;
} mg_mve_c16_layer;

MG_INLINE void mg_mve_c16_axis_of(mg_mve_c16_axis *of, mg_mve_axis axis, int32_t dilation,
                                  int32_t taps)
{
    of->axis = axis;
    of->axis.weight_step = taps * MG_MVE_BYTES;
    of->dilation = dilation;
    of->room = axis.size - 1 - (axis.kernel - 1) * dilation;
}

/* The position of a place's window, which may be negative. */
MG_INLINE int32_t mg_mve_c16_origin(const mg_mve_c16_axis *of, int32_t place)
{
    return place * of->axis.stride - of->axis.pad;
}

/* Copies the window at positions y and x along the two axes. */
MG_INLINE void mg_mve_c16_copy(const mg_mve_c16_layer *l, const int8_t *input, int32_t y, int32_t x)
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
MG_INLINE void mg_mve_c16_inside(const mg_depthwise_conv2d_s8_c16_mve_params *p, mg_mve_c16 *of)
{
    const int is_column = p->layer.kernel_width == 1;
    const int32_t line = p->layer.input_width * p->layer.input_channels * p->dilation_height;

    of->runs = is_column ? 1 : p->layer.kernel_height;
    of->taps = is_column ? p->layer.kernel_height : p->layer.kernel_width;
    of->tap_step = is_column ? line : p->layer.input_channels * p->dilation_width;
    of->gap = line - (of->taps & -2) * of->tap_step;
}

/* The next pixel's window is a copied one. */
MG_INLINE void mg_mve_c16_copied(const mg_depthwise_conv2d_s8_c16_mve_params *p, mg_mve_c16 *of)
{
    of->runs = 1;
    of->taps = p->layer.kernel_height * p->layer.kernel_width;
    of->tap_step = MG_MVE_BYTES;
}

/* Computes all places along one axis at position x along the other. */
MG_INLINE void mg_mve_c16_line(const mg_depthwise_conv2d_s8_c16_mve_params *p, mg_mve_c16_layer *l,
                               const int8_t *input, int8_t *output, int32_t x, int requantization)
{
    const int32_t until = (x >= 0 && x <= l->around.room) ? l->until : 0;
    mg_mve_c16 *of = &l->pixels;

    for (int32_t i = 0; i < l->along.axis.outputs; i += of->count) {
        const int32_t y = mg_mve_c16_origin(&l->along, i);
        of->output = output + i * of->output_step;
        if (y >= 0 && i < until) {
            mg_mve_c16_inside(p, of);
            of->count = until - i;
            of->input = input + y * l->along.axis.input_step + x * l->around.axis.input_step;
        } else {
            mg_mve_c16_copied(p, of);
            of->count = 1;
            of->input = l->window;
            mg_mve_c16_copy(l, input, y, x);
        }
        mg_mve_c16_pixels(of, requantization);
    }
}

/* The places along an axis whose windows end inside the input. */
MG_INLINE int32_t mg_mve_c16_until(const mg_mve_c16_axis *of)
{
    const int32_t last = of->room + of->axis.pad;
    const int32_t until = (last < 0) ? 0 : last / of->axis.stride + 1;
    return (until < of->axis.outputs) ? until : of->axis.outputs;
}

/* Fills in what all channels of a layer share. */
MG_INLINE void mg_mve_c16_of(const mg_depthwise_conv2d_s8_c16_mve_params *p, mg_mve_c16_layer *l)
{
    const int is_tall = p->layer.output_height >= p->layer.output_width;
    mg_mve_c16 *of = &l->pixels;

    mg_mve_c16_axis_of(is_tall ? &l->along : &l->around, mg_mve_axis_of_rows(&p->layer),
                       p->dilation_height, p->layer.kernel_width);
    mg_mve_c16_axis_of(is_tall ? &l->around : &l->along, mg_mve_axis_of_columns(&p->layer),
                       p->dilation_width, 1);
    l->zero = -p->layer.input_offset;
    l->until = mg_mve_c16_until(&l->along);
    of->offset = p->layer.output_offset;
    of->is_upward = (p->layer.activation_min >= p->layer.output_offset) ? 1 : 0;
    of->is_clamped =
        (p->layer.activation_min > INT8_MIN || p->layer.activation_max < INT8_MAX) ? 1 : 0;
    of->pixel_step = l->along.axis.input_step * l->along.axis.stride;
    of->output_step = l->along.axis.output_step;
    of->low = vdupq_n_s8((int8_t)p->layer.activation_min);
    of->high = vdupq_n_s8((int8_t)p->layer.activation_max);
}

/* Whether a window reaches beyond the input. */
MG_INLINE int mg_mve_c16_is_clipped(const mg_depthwise_conv2d_s8_c16_mve_params *p)
{
    const int32_t bottom = (p->layer.output_height - 1) * p->layer.stride_height -
                           p->layer.pad_top + (p->layer.kernel_height - 1) * p->dilation_height;
    const int32_t right = (p->layer.output_width - 1) * p->layer.stride_width - p->layer.pad_left +
                          (p->layer.kernel_width - 1) * p->dilation_width;
    return p->layer.pad_top > 0 || p->layer.pad_left > 0 || bottom >= p->layer.input_height ||
           right >= p->layer.input_width;
}

/* All channels of all images. `window` is for copies of windows, unless none is clipped. */
MG_INLINE void mg_mve_c16_images(const mg_depthwise_conv2d_s8_c16_mve_params *p,
                                 const int8_t *input, const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *shift, int8_t *output,
                                 int8_t *window, int requantization)
{
    const int32_t last = p->layer.input_channels - MG_MVE_BYTES;
    mg_mve_c16_layer l;

    l.window = window;
    l.pixels.weight = weight;
    mg_mve_c16_of(p, &l);
    for (int32_t c = 0; c < p->layer.input_channels; c += MG_MVE_BYTES) {
        const int32_t from = (c < last) ? c : last;
        const int8_t *image = input + from;
        int8_t *result = output + from;
        l.pixels.bias = bias + from;
        l.pixels.multiplier = multiplier + from;
        l.pixels.shift = (requantization == MG_ROUND_FLOAT_FPU) ? NULL : shift + from;
        for (int32_t n = 0; n < p->layer.batches; n++) {
            for (int32_t j = 0; j < l.around.axis.outputs; j++) {
                mg_mve_c16_line(p, &l, image, result + j * l.around.axis.output_step,
                                mg_mve_c16_origin(&l.around, j), requantization);
            }
            image += p->layer.input_height * p->layer.input_width * p->layer.input_channels;
            result += p->layer.output_height * p->layer.output_width * p->layer.input_channels;
        }
        l.pixels.weight += p->layer.kernel_height * p->layer.kernel_width * MG_MVE_BYTES;
    }
}

/* The same out of line, so that layers of a model share it. */
#define MG_MVE_C16_FUNCTION(name, requantization)                                                  \
    static __attribute__((noinline, unused)) void name(                                            \
        const mg_depthwise_conv2d_s8_c16_mve_params *p, const int8_t *input, const int8_t *weight, \
        const int32_t *bias, const int32_t *multiplier, const int8_t *shift, int8_t *output,       \
        int8_t *window)                                                                            \
    {                                                                                              \
        mg_mve_c16_images(p, input, weight, bias, multiplier, shift, output, window,               \
                          requantization);                                                         \
    }

MG_MVE_C16_FUNCTION(mg_mve_c16_compute, MG_ROUND_TWICE_NARROW)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_C16_FUNCTION(mg_mve_c16_compute_float, MG_ROUND_FLOAT_FPU)
#endif

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments, for sixteen channels or
 * more. depth_multiplier is 1, and weights are at least -127. They are [blocks][taps][16], see
 * microgen/kernels/depthwise/depthwise_conv2d_c16_mve.py; the last block has the last sixteen
 * channels. The bias contains the input's zero point. `requantization` is MG_ROUND_TWICE_NARROW or
 * MG_ROUND_FLOAT_FPU. If windows
 * reach beyond the input, they have at most MG_MVE_CLIPPED_TAPS taps. The output may be the input
 * if no channels overlap, nothing is padded before the input, and no later place reads a value
 * where a result is. */
MG_INLINE void mg_depthwise_conv2d_s8_c16_mve_body(const mg_depthwise_conv2d_s8_c16_mve_params *p,
                                                   const int8_t *input, const int8_t *weight,
                                                   const int32_t *bias, const int32_t *multiplier,
                                                   const int8_t *shift, void *output,
                                                   int requantization)
{
    int8_t window[MG_MVE_CLIPPED_TAPS * MG_MVE_BYTES];
    /* Without its address the array takes no stack, if the compiler knows the shape. */
    int8_t *const used = mg_mve_c16_is_clipped(p) ? window : NULL;
    int8_t *const stored = (int8_t *)output;

    MG_MVE_EITHER(mg_mve_c16_compute, requantization, p, input, weight, bias, multiplier, shift,
                  stored, used);
}

#define MG_DEPTHWISE_CONV2D_S8_C16_MVE_KERNEL(name, shifts, ...)                                   \
    MG_KERNEL_COMPACT(name, mg_depthwise_conv2d_s8_c16_mve, int8_t, shifts, __VA_ARGS__)

#else

#define MG_DEPTHWISE_CONV2D_S8_C16_MVE_KERNEL(name, shifts, ...)                                   \
    MG_DEPTHWISE_CONV2D_S8_C16_MVE_PROTOTYPE(name, shifts);

#endif

#define MG_DEPTHWISE_CONV2D_S8_C16_MVE_PROTOTYPE(name, shifts)                                     \
    MG_PROTOTYPE_COMPACT(name, mg_depthwise_conv2d_s8_c16_mve, int8_t, shifts)

#endif
