/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of depth multiplier 1, undilated, int8, for cores without SIMD
 * instructions: three neighbouring pixels of a channel at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_ROWS_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_ROWS_H

#include <stdint.h>
#include <string.h>

#include "microgen/depthwise_conv2d_s8.h"
#include "microgen/inline.h"
#include "microgen/out_of_line.h"
#include "microgen/scaling_s8.h"
#include "microgen/window.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s8_rows_params;

/* The sums of three pixels. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
} mg_depthwise_sums;

/* The rows of a window: the first, and where the one after the last of a ring is. */
typedef struct {
    const int8_t *first;
    const int8_t *end; /* NULL if rows are not in a ring */
    int32_t step;      /* from one row to the next */
    int32_t size;      /* of the ring */
} mg_depthwise_rows;

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

    sums.a += x[0] * w0 + x1 * w1 + x2 * w2;
    sums.b += x1 * w0 + x2 * w1 + x3 * w2;
    sums.c += x2 * w0 + x3 * w1 + x[4 * depth] * w2;
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

/* The sums of three pixels of a channel. `at` is its place in the first pixel's window, in each
 * row. */
MG_INLINE mg_depthwise_sums mg_depthwise_dot(const mg_depthwise_conv2d_s8_params *p,
                                             const mg_depthwise_rows *rows, const int8_t *weight,
                                             int32_t at)
{
    const int32_t depth = p->input_channels;
    const int32_t threes =
        (p->stride_width == 1) ? p->kernel_width - p->kernel_width % 3 : 0;
    const int8_t *row = rows->first;
    mg_depthwise_sums sums = {0, 0, 0};

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int8_t *x = &row[at];
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
        row += rows->step;
        if (row == rows->end) {
            row -= rows->size;
        }
    }
    return sums;
}

/* One row of outputs. Its last three pixels are computed again if their number is no multiple of
 * three. */
MG_INLINE void mg_depthwise_row(const mg_depthwise_conv2d_s8_params *p, const mg_scaling *scaling,
                                const mg_depthwise_rows *rows, const int8_t *weight,
                                const int32_t *bias, int8_t *output, int requantization)
{
    const int32_t depth = p->input_channels;

    for (int32_t start = 0; start < p->output_width; start += 3) {
        const int32_t last = p->output_width - 3;
        const int32_t x = (start < last) ? start : last;
        for (int32_t c = 0; c < depth; c++) {
            const mg_depthwise_sums sums =
                mg_depthwise_dot(p, rows, &weight[c], x * p->stride_width * depth + c);
            const mg_channel channel = mg_channel_of(scaling, bias, c, requantization);
            int8_t *out = &output[x * depth + c];
            out[0] = mg_output(scaling, &channel, sums.a, requantization);
            out[depth] = mg_output(scaling, &channel, sums.b, requantization);
            out[2 * depth] = mg_output(scaling, &channel, sums.c, requantization);
        }
    }
}

/* All rows of outputs, from the input itself, or from padded copies of rows in a ring of
 * kernel_height rows, unless that is NULL. */
MG_INLINE void mg_depthwise_all_rows(const mg_depthwise_conv2d_s8_params *p,
                                     const mg_scaling *scaling, const int8_t *input,
                                     const int8_t *weight, const int32_t *bias, int8_t *output,
                                     int8_t *ring, int requantization)
{
    const int32_t columns = (ring != NULL) ? mg_depthwise_columns(p) : p->input_width;
    const int32_t step = columns * p->input_channels;
    const int32_t size = p->kernel_height * step;

    for (int32_t n = 0; n < p->batches; n++) {
        int32_t copied = 0; /* rows, from the first of the padding on */
        for (int32_t y = 0; y < p->output_height; y++) {
            const int32_t top = y * p->stride_height;
            mg_depthwise_rows rows = {NULL, NULL, step, size};
            if (ring != NULL) {
                for (; copied < top + p->kernel_height; copied++) {
                    mg_depthwise_copy_row(p, input, n, copied - p->pad_top,
                                          &ring[copied % p->kernel_height * step]);
                }
                rows.first = &ring[top % p->kernel_height * step];
                rows.end = &ring[size];
            } else {
                rows.first = &input[mg_nhwc(n, top, 0, p->input_height, p->input_width,
                                            p->input_channels)];
            }
            mg_depthwise_row(p, scaling, &rows, weight, bias, output, requantization);
            output += p->output_width * p->input_channels;
        }
    }
}

/* Computes the same as mg_depthwise_conv2d_s8_body. depth_multiplier and dilations must be 1, and
 * output_width at least 3. No window may reach beyond the input. The bias contains the input's zero
 * point, or is the offset of MG_LINEAR. */
MG_INLINE void mg_depthwise_conv2d_s8_rows_body(const mg_depthwise_conv2d_s8_rows_params *p,
                                                const int8_t *input, const int8_t *weight,
                                                const int32_t *bias, const int32_t *multiplier,
                                                const int8_t *shift, void *output,
                                                int requantization)
{
    const mg_scaling scaling = {multiplier, shift, p->output_offset, p->activation_min,
                                p->activation_max};
    mg_depthwise_all_rows(p, &scaling, input, weight, bias, (int8_t *)output, NULL, requantization);
}

#define MG_DEPTHWISE_CONV2D_S8_ROWS_PROTOTYPE(name)                                                \
    MG_PROTOTYPE(name, mg_depthwise_conv2d_s8_rows, int8_t)
#define MG_DEPTHWISE_CONV2D_S8_ROWS_KERNEL(name, ...)                                              \
    MG_KERNEL(name, mg_depthwise_conv2d_s8_rows, int8_t, __VA_ARGS__)

#endif
