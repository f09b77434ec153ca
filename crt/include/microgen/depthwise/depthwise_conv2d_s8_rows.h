/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of depth multiplier 1, undilated, int8, for cores without SIMD
 * instructions: three neighbouring pixels of a channel at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_ROWS_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_ROWS_H

#include <string.h>

#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/depthwise/depthwise_conv2d_s8_compact.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef mg_depthwise_conv2d_s8_compact mg_depthwise_conv2d_s8_rows_params;

MG_INLINE mg_depthwise_conv2d_s8_params
mg_depthwise_rows_layer(const mg_depthwise_conv2d_s8_rows_params *p)
{
    const mg_depthwise_conv2d_s8_params layer = {p->batches,
                                                 p->input_height,
                                                 p->input_width,
                                                 p->input_channels,
                                                 p->output_height,
                                                 p->output_width,
                                                 1,
                                                 p->kernel_height,
                                                 p->kernel_width,
                                                 p->stride_height,
                                                 p->stride_width,
                                                 1,
                                                 1,
                                                 p->pad_top,
                                                 p->pad_left,
                                                 p->input_offset,
                                                 p->output_offset,
                                                 p->activation_min,
                                                 p->activation_max};
    return layer;
}

/* The sums of three pixels. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
} mg_depthwise_sums;

/* Compilers move the requantization into the loops, and then run out of registers, unless the sums
 * are opaque. */
#if defined(__GNUC__)
#define MG_DEPTHWISE_OPAQUE(sums) __asm__("" : "+r"((sums).a), "+r"((sums).b), "+r"((sums).c))
#else
#define MG_DEPTHWISE_OPAQUE(sums) (void)(sums)
#endif

/* Columns that all windows of an output row cover. */
MG_INLINE int32_t mg_depthwise_columns(const mg_depthwise_conv2d_s8_params *p)
{
    return (p->output_width - 1) * p->stride_width + p->kernel_width;
}

/* Copies row y of the input, with its padding. */
MG_INLINE void mg_depthwise_copy_row(const mg_depthwise_conv2d_s8_params *p, const int8_t *input,
                                     int32_t batch, int32_t y, int8_t *to)
{
    const int32_t depth = p->input_channels;
    const int32_t columns = mg_depthwise_columns(p);
    const int32_t room = columns - p->pad_left;
    const int32_t copied = (room < p->input_width) ? room : p->input_width;

    memset(to, -p->input_offset, (size_t)(columns * depth));
    if ((y >= 0) && (y < p->input_height)) {
        memcpy(&to[p->pad_left * depth],
               &input[mg_nhwc(batch, y, 0, p->input_height, p->input_width, depth)],
               (size_t)(copied * depth));
    }
}

/* Adds the products of three taps of one row, with neighbouring windows one column apart. */
MG_INLINE mg_depthwise_sums mg_depthwise_taps_3(mg_depthwise_sums sums, const int8_t *x,
                                                const int8_t *weight, int32_t depth)
{
    const int32_t w0 = weight[0];
    const int32_t w1 = weight[depth];
    const int32_t w2 = weight[2 * depth];
    const int32_t x1 = x[depth];
    const int32_t x2 = x[2 * depth];
    const int32_t x3 = x[3 * depth];

    sums.a += x[0] * w0;
    sums.a += x1 * w1;
    sums.a += x2 * w2;
    sums.b += x1 * w0;
    sums.b += x2 * w1;
    sums.b += x3 * w2;
    sums.c += x2 * w0;
    sums.c += x3 * w1;
    sums.c += x[4 * depth] * w2;
    return sums;
}

/* Adds the products of one tap, with neighbouring windows `next` values apart. */
MG_INLINE mg_depthwise_sums mg_depthwise_tap(mg_depthwise_sums sums, const int8_t *x,
                                             int32_t weight, int32_t next)
{
    sums.a += x[0] * weight;
    sums.b += x[next] * weight;
    sums.c += x[2 * next] * weight;
    return sums;
}

/* The sums of three pixels of a channel. Values are those of the channel in the first pixel's
 * window, whose rows are `step` apart. */
MG_INLINE mg_depthwise_sums mg_depthwise_dot(const mg_depthwise_conv2d_s8_params *p,
                                             const int8_t *values, int32_t step,
                                             const int8_t *weight)
{
    const int32_t depth = p->input_channels;
    const int is_dense = MG_IS_KNOWN(p->kernel_width) && (p->stride_width == 1);
    const int32_t threes = is_dense ? p->kernel_width - p->kernel_width % 3 : 0;
    mg_depthwise_sums sums = {0, 0, 0};

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int8_t *x = values;
        for (int32_t kx = 0; kx < threes; kx += 3) {
            sums = mg_depthwise_taps_3(sums, x, weight, depth);
            x += 3 * depth;
            weight += 3 * depth;
        }
        for (int32_t kx = threes; kx < p->kernel_width; kx++) {
            sums = mg_depthwise_tap(sums, x, *weight, p->stride_width * depth);
            x += depth;
            weight += depth;
        }
        values += step;
    }
    return sums;
}

/* The same. The out-of-line forms have loops of their own for 3x3 windows with stride 1 and 2,
 * whose taps are not counted. */
MG_INLINE mg_depthwise_sums mg_depthwise_dot_known(const mg_depthwise_conv2d_s8_params *p,
                                                   const int8_t *values, int32_t step,
                                                   const int8_t *weight)
{
    mg_depthwise_conv2d_s8_params known = *p;

    if ((p->kernel_height != 3) || (p->kernel_width != 3) || (p->stride_width > 2)) {
        return mg_depthwise_dot(p, values, step, weight);
    }
    known.kernel_height = 3;
    known.kernel_width = 3;
    if (p->stride_width == 1) {
        known.stride_width = 1;
        return mg_depthwise_dot(&known, values, step, weight);
    }
    known.stride_width = 2;
    return mg_depthwise_dot(&known, values, step, weight);
}

/* One row of outputs. Its last three pixels are computed again if their number is no multiple of
 * three. `rows` are those of the windows, `step` apart. */
MG_INLINE void mg_depthwise_row(const mg_depthwise_conv2d_s8_params *p, const mg_scaling *scaling,
                                const int8_t *rows, int32_t step, const int8_t *weight,
                                const int32_t *bias, int8_t *output, int requantization)
{
    const int32_t depth = p->input_channels;

    for (int32_t start = 0; start < p->output_width; start += 3) {
        const int32_t last = p->output_width - 3;
        const int32_t x = (start < last) ? start : last;
        for (int32_t c = 0; c < depth; c++) {
            mg_depthwise_sums sums =
                mg_depthwise_dot_known(p, &rows[x * p->stride_width * depth + c], step, &weight[c]);
            MG_DEPTHWISE_OPAQUE(sums);
            const mg_channel channel = mg_channel_of(scaling, bias, c, requantization);
            int8_t *out = &output[x * depth + c];
            out[0] = mg_output(scaling, &channel, sums.a, requantization);
            out[depth] = mg_output(scaling, &channel, sums.b, requantization);
            out[2 * depth] = mg_output(scaling, &channel, sums.c, requantization);
        }
    }
}

/* Copies the padded rows of the windows of output row y. Those that are there from the row before
 * are moved. */
MG_INLINE void mg_depthwise_copy_rows(const mg_depthwise_conv2d_s8_params *p, const int8_t *input,
                                      int32_t batch, int32_t y, int8_t *rows, int32_t step)
{
    const int32_t common = p->kernel_height - p->stride_height;
    const int32_t kept = ((y > 0) && (common > 0)) ? common : 0;
    const int32_t top = y * p->stride_height - p->pad_top;

    for (int32_t i = 0; i < kept; i++) {
        memcpy(&rows[i * step], &rows[(i + p->stride_height) * step], (size_t)step);
    }
    for (int32_t i = kept; i < p->kernel_height; i++) {
        mg_depthwise_copy_row(p, input, batch, top + i, &rows[i * step]);
    }
}

/* All rows of outputs, from the input itself, or from padded copies of kernel_height rows, unless
 * `copies` is NULL. */
MG_INLINE void mg_depthwise_all_rows(const mg_depthwise_conv2d_s8_params *p,
                                     const mg_scaling *scaling, const int8_t *input,
                                     const int8_t *weight, const int32_t *bias, int8_t *output,
                                     int8_t *copies, int requantization)
{
    const int32_t columns = (copies != NULL) ? mg_depthwise_columns(p) : p->input_width;
    const int32_t step = columns * p->input_channels;
    const int32_t line = p->output_width * p->input_channels;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            const int8_t *rows = copies;
            if (copies != NULL) {
                mg_depthwise_copy_rows(p, input, n, y, copies, step);
            } else {
                rows = &input[mg_nhwc(n, y * p->stride_height, 0, p->input_height, p->input_width,
                                      p->input_channels)];
            }
            mg_depthwise_row(p, scaling, rows, step, weight, bias, output, requantization);
            output += line;
        }
    }
}

/* Computes the same as mg_depthwise_conv2d_s8_body. depth_multiplier and dilations must be 1, and
 * output_width at least 3. No window may reach beyond the input. The bias contains the input's zero
 * point, or is that of MG_LINEAR. The output may be whole pixels before the input, or at
 * its address, if a channel's results do not reach its values in the next windows. */
MG_BODY(mg_depthwise_conv2d_s8_rows, int8_t, int requantization)
{
    const mg_depthwise_conv2d_s8_params layer = mg_depthwise_rows_layer(p);
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    mg_depthwise_all_rows(&layer, &scaling, input, weight, bias, (int8_t *)output, NULL,
                          requantization);
}

#define MG_DEPTHWISE_CONV2D_S8_ROWS_PROTOTYPE(name, shifts)                                        \
    MG_PROTOTYPE_COMPACT(name, mg_depthwise_conv2d_s8_rows, int8_t, shifts)
#define MG_DEPTHWISE_CONV2D_S8_ROWS_KERNEL(name, shifts, ...)                                      \
    MG_KERNEL_COMPACT(name, mg_depthwise_conv2d_s8_rows, int8_t, shifts, __VA_ARGS__)

/* 2-D depthwise convolution of depth multiplier 1, undilated, int8, for cores without SIMD
 * instructions: three neighbouring pixels of a channel at a time, from padded copies of rows. */
typedef mg_depthwise_conv2d_s8_rows_params mg_depthwise_conv2d_s8_padded_rows_params;

/* Computes the same as mg_depthwise_conv2d_s8_body. depth_multiplier and dilations must be 1, and
 * output_width at least 3. The bias contains the input's zero point, or is that of MG_LINEAR.
 * scratch has kernel_height rows of mg_depthwise_columns pixels. The output and the input may
 * overlap as far as no output row ends after the first row of the input that is copied for the
 * next. */
MG_INLINE void mg_depthwise_conv2d_s8_padded_rows_body(
    const mg_depthwise_conv2d_s8_padded_rows_params *p, const int8_t *input, const int8_t *weight,
    const int32_t *bias, const int32_t *multiplier, const int8_t *shift, void *output,
    uint8_t *scratch, int requantization)
{
    const mg_depthwise_conv2d_s8_params layer = mg_depthwise_rows_layer(p);
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    mg_depthwise_all_rows(&layer, &scaling, input, weight, bias, (int8_t *)output,
                          (int8_t *)scratch, requantization);
}

#define MG_DEPTHWISE_CONV2D_S8_PADDED_ROWS_PROTOTYPE(name, shifts)                                 \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, mg_depthwise_conv2d_s8_padded_rows, int8_t, shifts)
#define MG_DEPTHWISE_CONV2D_S8_PADDED_ROWS_KERNEL(name, shifts, ...)                               \
    MG_KERNEL_COMPACT_SCRATCH(name, mg_depthwise_conv2d_s8_padded_rows, int8_t, shifts, __VA_ARGS__)

#endif
