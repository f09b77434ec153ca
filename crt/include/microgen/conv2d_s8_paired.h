/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, four pixels and two channels at a
 * time, with the paired weights of paired_s8.h. */
#ifndef MICROGEN_CONV2D_S8_PAIRED_H
#define MICROGEN_CONV2D_S8_PAIRED_H

#include <stdint.h>

#include "microgen/conv2d_s8.h"
#include "microgen/inline.h"
#include "microgen/out_of_line.h"
#include "microgen/paired_s8.h"
#include "microgen/scaling_s8.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_paired_params;

/* The column of a pixel, whose next values are stored at `to`. `left` has `count` values, which are
 * left over at the ends of a window's rows. They are stored as soon as there are four. */
typedef struct {
    uint32_t *to;
    uint32_t left;
    int32_t count;
} mg_paired_column;

MG_INLINE void mg_paired_next(mg_paired_column *column, uint32_t values)
{
    mg_paired_put(column->to, MG_PAIRED_COLUMN / 2, values);
    column->to += MG_PAIRED_COLUMN;
}

MG_INLINE void mg_paired_leave(mg_paired_column *column, int8_t value)
{
    column->left |= (uint32_t)(uint8_t)value << (8 * column->count);
    column->count++;
    if (column->count == 4) {
        mg_paired_next(column, column->left);
        column->left = 0;
        column->count = 0;
    }
}

/* A row of a window: `run` values from index `first` of an image on. Those from `begin` to `end` are
 * inside the image, the others have the value `zero`. */
typedef struct {
    const int8_t *image;
    int32_t first;
    int32_t run;
    int32_t begin;
    int32_t end;
    int8_t zero;
} mg_paired_row;

MG_INLINE int8_t mg_paired_value(const mg_paired_row *row, int32_t i)
{
    return ((i >= row->begin) && (i < row->end)) ? row->image[row->first + i] : row->zero;
}

/* Four values of a row that reaches beyond the image. */
MG_INLINE uint32_t mg_paired_clipped(const mg_paired_row *row, int32_t i)
{
    uint32_t values = 0;

    if ((i >= row->begin) && (i + 4 <= row->end)) {
        return mg_load_4_s8(&row->image[row->first + i]);
    }
    if ((i + 4 <= row->begin) || (i >= row->end)) {
        return (uint8_t)row->zero * 0x01010101U;
    }
    for (int32_t k = 0; k < 4; k++) {
        values |= (uint32_t)(uint8_t)mg_paired_value(row, i + k) << (8 * k);
    }
    return values;
}

MG_INLINE void mg_paired_add_row(mg_paired_column *column, const mg_paired_row *row)
{
    const int32_t whole = row->run - row->run % 4;

    if ((row->begin == 0) && (row->end == row->run)) {
        const int8_t *values = &row->image[row->first];
        const int8_t *const end = values + whole;
        for (; values != end; values += 4) {
            mg_paired_next(column, mg_load_4_s8(values));
        }
    } else {
        for (int32_t i = 0; i < whole; i += 4) {
            mg_paired_next(column, mg_paired_clipped(row, i));
        }
    }
    for (int32_t i = whole; i < row->run; i++) {
        mg_paired_leave(column, mg_paired_value(row, i));
    }
}

/* The window of pixel n of an image, stored from `to` on. */
MG_INLINE void mg_conv2d_s8_paired_window(const mg_conv2d_s8_params *p, const int8_t *image,
                                          int32_t n, uint32_t *to)
{
    const int32_t depth = p->input_channels;
    const int32_t y = n / p->output_width;
    const int32_t top = y * p->stride_height - p->pad_top;
    const int32_t left = (n - y * p->output_width) * p->stride_width - p->pad_left;
    const mg_taps inside = mg_taps_inside(left, p->kernel_width, 1, p->input_width);
    mg_paired_column column = {to, 0, 0};
    mg_paired_row row = {image, 0, p->kernel_width * depth, 0, 0, (int8_t)-p->input_offset};

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t at = top + ky * p->dilation_height;
        const int is_inside = (at >= 0) && (at < p->input_height);
        row.first = (at * p->input_width + left) * depth;
        row.begin = inside.begin * depth;
        row.end = is_inside ? inside.end * depth : row.begin;
        mg_paired_add_row(&column, &row);
    }
    if (column.count > 0) {
        mg_paired_next(&column, column.left);
    }
}

/* Words of four values of a window. */
MG_INLINE int32_t mg_conv2d_s8_paired_steps(const mg_conv2d_s8_params *p)
{
    const int32_t run = p->kernel_width * p->input_channels;
    return p->kernel_height * (run / 4) + (p->kernel_height * (run % 4) + 3) / 4;
}

/* The pixels of an image. If four are not left, each of the last ones is computed four times. */
MG_INLINE void mg_conv2d_s8_paired_image(const mg_conv2d_s8_params *p, const int8_t *image,
                                         const mg_paired_filters *filters, const mg_scaling *scaling,
                                         int8_t *output, uint32_t *columns, int requantization)
{
    const int32_t pixels = p->output_height * p->output_width;
    const int32_t whole = pixels - pixels % 4;
    int32_t step = 1;

    for (int32_t n = 0; n < pixels; n += (step > 0) ? 4 : 1) {
        step = (n < whole) ? 1 : 0;
        for (int32_t i = 0; i < 4; i++) {
            mg_conv2d_s8_paired_window(p, image, n + i * step, &columns[i]);
        }
        mg_paired_block(filters, scaling, columns, &output[n * p->output_channels],
                        step * p->output_channels, requantization);
    }
}

MG_INLINE void mg_conv2d_s8_paired_with(const mg_conv2d_s8_params *p, const int8_t *input,
                                        const int32_t *weight, const int32_t *bias,
                                        const int32_t *multiplier, const int8_t *shift,
                                        void *output, uint32_t *columns, int requantization)
{
    const mg_scaling scaling = {multiplier, shift, p->output_offset, p->activation_min,
                                p->activation_max};
    const mg_paired_filters filters = {weight, bias, mg_conv2d_s8_paired_steps(p),
                                       p->output_channels};
    const int32_t values = p->input_height * p->input_width * p->input_channels;
    const int32_t results = p->output_height * p->output_width * p->output_channels;

    for (int32_t n = 0; n < p->batches; n++) {
        mg_conv2d_s8_paired_image(p, &input[n * values], &filters, &scaling,
                                  (int8_t *)output + n * results, columns, requantization);
    }
}

/* Computes the same as mg_conv2d_s8_body. There must be one group and two output channels or more,
 * and dilation_width must be 1. Weights are in the layout of microgen/kernels/paired.py. Sums
 * contain no zero point; the bias does. The scratch memory, aligned to 4 bytes, has
 * MG_PAIRED_COLUMN words for each four values of a window, whose rows' ends share words. Input and
 * output may be the same buffer if the kernel is 1x1, strides are 1, there is no padding, and there
 * are no more output channels than input channels. */
MG_INLINE void mg_conv2d_s8_paired_body(const mg_conv2d_s8_paired_params *p, const int8_t *input,
                                        const int32_t *weight, const int32_t *bias,
                                        const int32_t *multiplier, const int8_t *shift,
                                        void *output, uint8_t *scratch, int requantization)
{
    mg_conv2d_s8_paired_with(p, input, weight, bias, multiplier, shift, output,
                             (uint32_t *)(void *)scratch, requantization);
}

#define MG_CONV2D_S8_PAIRED_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s8_paired, int32_t)
#define MG_CONV2D_S8_PAIRED_KERNEL(name, ...)                                                      \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s8_paired, int32_t, __VA_ARGS__)

#endif
