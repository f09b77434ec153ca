/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, four pixels and two channels at a
 * time, with the paired weights of paired_s8.h. */
#ifndef MICROGEN_CONV2D_S8_PAIRED_H
#define MICROGEN_CONV2D_S8_PAIRED_H

#include <stddef.h>

#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/paired_s8.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_paired_params;

/* The column of a pixel, whose next values are stored at `to` for so many `pixels` at a time.
 * `left` has `count` values, which are left over at the ends of a window's rows. They are stored as
 * soon as there are four. */
typedef struct {
    uint32_t *to;
    int32_t pixels;
    uint32_t left;
    int32_t count;
} mg_paired_column;

MG_INLINE void mg_paired_next(mg_paired_column *column, uint32_t values)
{
    mg_paired_put(column->to, column->pixels, values, mg_paired_less());
    column->to += 2 * column->pixels;
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

/* Leaves a value of each of four windows over. If there are four, or if it `is_last`, stores them
 * at `to` and returns the number of words that this took. */
MG_INLINE int32_t mg_paired_leave_four(mg_paired_column columns[4], const int8_t *values,
                                       int32_t apart, uint32_t *to, int is_last)
{
    int32_t stored = 0;

    for (int32_t k = 0; k < 4; k++) {
        columns[k].to = &to[k];
        mg_paired_leave(&columns[k], values[k * apart]);
        if (is_last && (columns[k].count > 0)) {
            mg_paired_next(&columns[k], columns[k].left);
        }
        stored = (int32_t)(columns[k].to - &to[k]);
    }
    return stored;
}

/* A row of a window: `run` values from index `first` of an image on. Those from `begin` to `end`
 * are inside the image, the others have the value `zero`. */
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

/* Four values of a row that may reach beyond the image. */
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

    for (int32_t i = 0; i < whole; i += 4) {
        mg_paired_next(column, mg_paired_clipped(row, i));
    }
    for (int32_t i = whole; i < row->run; i++) {
        mg_paired_leave(column, mg_paired_value(row, i));
    }
}

/* Where windows are. A 1x1 convolution of all pixels has one row of them. */
typedef struct {
    const int8_t *image;
    int32_t height;
    int32_t width;
    int32_t output_height;
    int32_t output_width;
} mg_paired_image;

MG_INLINE mg_paired_image mg_paired_image_at(const mg_conv2d_s8_params *p, const int8_t *image)
{
    const mg_paired_image rows = {image, p->input_height, p->input_width, p->output_height,
                                  p->output_width};
    const mg_paired_image pixels = {image, 1, p->input_height * p->input_width, 1,
                                    p->input_height * p->input_width};
    const int is_row = (p->kernel_height == 1) && (p->kernel_width == 1) &&
                       (p->stride_height == 1) && (p->stride_width == 1) &&
                       (p->output_height == p->input_height) && (p->output_width == p->input_width);
    return is_row ? pixels : rows;
}

/* The column of the window of pixel n, which may reach beyond the image, in a block of `pixels`
 * pixels. */
MG_INLINE void mg_paired_window(const mg_conv2d_s8_params *p, const mg_paired_image *image,
                                int32_t n, int32_t pixels, uint32_t *to)
{
    const int32_t depth = p->input_channels;
    const int32_t y = n / image->output_width;
    const int32_t top = y * p->stride_height - p->pad_top;
    const int32_t left = (n - y * image->output_width) * p->stride_width - p->pad_left;
    const mg_taps inside = mg_taps_inside(left, p->kernel_width, 1, image->width);
    mg_paired_column column = {to, pixels, 0, 0};
    mg_paired_row row = {image->image, 0, p->kernel_width * depth, 0, 0, (int8_t)-p->input_offset};

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t at = top + ky * p->dilation_height;
        const int is_inside = (at >= 0) && (at < image->height);
        row.first = (at * image->width + left) * depth;
        row.begin = inside.begin * depth;
        row.end = is_inside ? inside.end * depth : row.begin;
        mg_paired_add_row(&column, &row);
    }
    if (column.count > 0) {
        mg_paired_next(&column, column.left);
    }
}

/* Whole words of a row of four windows, which are `apart` values apart. */
MG_INLINE uint32_t *mg_paired_four(uint32_t *to, const int8_t *values, int32_t whole, int32_t apart)
{
    const uint32_t less = mg_paired_less();
    const int8_t *const end = values + whole;

    for (; values != end; values += 4) {
        mg_paired_put(&to[0], MG_PAIRED_COLUMN / 2, mg_load_4_s8(values), less);
        mg_paired_put(&to[1], MG_PAIRED_COLUMN / 2, mg_load_4_s8(&values[apart]), less);
        mg_paired_put(&to[2], MG_PAIRED_COLUMN / 2, mg_load_4_s8(&values[2 * apart]), less);
        mg_paired_put(&to[3], MG_PAIRED_COLUMN / 2, mg_load_4_s8(&values[3 * apart]), less);
        to += MG_PAIRED_COLUMN;
    }
    return to;
}

/* The columns of four windows inside the image. The first begins at `values`. */
MG_INLINE void mg_paired_inside(const mg_conv2d_s8_params *p, const mg_paired_image *image,
                                const int8_t *values, int32_t apart, uint32_t *to)
{
    const int32_t run = p->kernel_width * p->input_channels;
    const int32_t whole = run - run % 4;
    mg_paired_column columns[4] = {
        {NULL, 4, 0, 0}, {NULL, 4, 0, 0}, {NULL, 4, 0, 0}, {NULL, 4, 0, 0}};

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        to = mg_paired_four(to, values, whole, apart);
        for (int32_t i = whole; i < run; i++) {
            const int is_last = (i + 1 == run) && (ky + 1 == p->kernel_height);
            to += mg_paired_leave_four(columns, &values[i], apart, to, is_last);
        }
        values += p->dilation_height * image->width * p->input_channels;
    }
}

/* Words of four values of a window. */
MG_INLINE int32_t mg_conv2d_s8_paired_steps(const mg_conv2d_s8_params *p)
{
    const int32_t run = p->kernel_width * p->input_channels;
    return p->kernel_height * (run / 4) + (p->kernel_height * (run % 4) + 3) / 4;
}

/* The columns of the pixels from n on: of four in one block, or of `count` on their own. */
MG_INLINE void mg_paired_gather(const mg_conv2d_s8_params *p, const mg_paired_image *image,
                                int32_t n, int32_t count, uint32_t *columns)
{
    const int32_t row = n / image->output_width;
    const int32_t column = n - row * image->output_width;
    const int32_t top = row * p->stride_height - p->pad_top;
    const int32_t left = column * p->stride_width - p->pad_left;
    const int32_t right = left + 3 * p->stride_width + p->kernel_width;
    const int32_t bottom = top + (p->kernel_height - 1) * p->dilation_height;
    const int is_block = count == 4;
    const int32_t next = is_block ? 1 : 2 * mg_conv2d_s8_paired_steps(p);

    if (is_block && (column + 3 < image->output_width) && (top >= 0) && (left >= 0) &&
        (right <= image->width) && (bottom < image->height)) {
        mg_paired_inside(p, image, &image->image[(top * image->width + left) * p->input_channels],
                         p->stride_width * p->input_channels, columns);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        mg_paired_window(p, image, n + i, is_block ? 4 : 1, &columns[i * next]);
    }
}

/* The pixels of an image: four at a time, and those that are left one by one. All of these are
 * gathered before the first is stored, because outputs may overwrite values. */
MG_INLINE void mg_conv2d_s8_paired_image(const mg_conv2d_s8_params *p, const int8_t *image,
                                         const mg_paired_filters *filters,
                                         const mg_scaling *scaling, int8_t *output,
                                         uint32_t *columns, int requantization)
{
    const mg_paired_image windows = mg_paired_image_at(p, image);
    const int32_t pixels = p->output_height * p->output_width;
    const int32_t outputs = p->output_channels;

    for (int32_t n = 0; n < pixels; n += 4) {
        /* Compilers see only from the first condition that no pixels are left. */
        const int32_t count = ((pixels % 4 == 0) || (pixels - n > 4)) ? 4 : pixels - n;
        mg_paired_gather(p, &windows, n, count, columns);
        if (count == 4) {
            mg_paired_block(filters, scaling, columns, &output[n * outputs], outputs,
                            requantization);
            continue;
        }
        for (int32_t i = 0; i < count; i++) {
            mg_paired_pixel(filters, scaling, &columns[2 * filters->steps * i],
                            &output[(n + i) * outputs], requantization);
        }
    }
}

/* A row of a window inside the image. */
MG_INLINE void mg_paired_add_inner_row(mg_paired_column *column, const int8_t *values, int32_t run)
{
    const uint32_t less = mg_paired_less();
    const int32_t whole = run - run % 4;
    uint32_t *to = column->to;

    for (int32_t i = 0; i < whole; i += 4) {
        mg_paired_put(to, 1, mg_load_4_s8(&values[i]), less);
        to += 2;
    }
    column->to = to;
    for (int32_t i = whole; i < run; i++) {
        mg_paired_leave(column, values[i]);
    }
}

/* The column of pixel n on its own. */
MG_INLINE void mg_paired_single(const mg_conv2d_s8_params *p, const mg_paired_image *image,
                                int32_t n, uint32_t *to)
{
    const int32_t y = n / image->output_width;
    const int32_t top = y * p->stride_height - p->pad_top;
    const int32_t left = (n - y * image->output_width) * p->stride_width - p->pad_left;
    const int32_t bottom = top + (p->kernel_height - 1) * p->dilation_height;
    const int32_t depth = p->input_channels;
    mg_paired_column column = {to, 1, 0, 0};

    if ((top < 0) || (left < 0) || (left + p->kernel_width > image->width) ||
        (bottom >= image->height)) {
        mg_paired_window(p, image, n, 1, to);
        return;
    }
    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t at = (top + ky * p->dilation_height) * image->width + left;
        mg_paired_add_inner_row(&column, &image->image[at * depth], p->kernel_width * depth);
    }
    if (column.count > 0) {
        mg_paired_next(&column, column.left);
    }
}

/* The same pixels one by one, with columns of a quarter of the size. */
MG_INLINE void mg_conv2d_s8_single_image(const mg_conv2d_s8_params *p, const int8_t *image,
                                         const mg_paired_filters *filters,
                                         const mg_scaling *scaling, int8_t *output,
                                         uint32_t *column, int requantization)
{
    const mg_paired_image windows = mg_paired_image_at(p, image);
    const int32_t pixels = p->output_height * p->output_width;

    for (int32_t n = 0; n < pixels; n++) {
        mg_paired_single(p, &windows, n, column);
        mg_paired_pixel(filters, scaling, column, &output[n * p->output_channels], requantization);
    }
}

/* The convolution by four pixels at a time, or `single`. */
MG_INLINE void mg_conv2d_s8_paired_with(const mg_conv2d_s8_params *p, const int8_t *input,
                                        const int32_t *weight, const int32_t *bias,
                                        const int32_t *multiplier, const int8_t *shift,
                                        void *output, uint32_t *columns, int single,
                                        int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const mg_paired_filters filters = {weight, bias, mg_conv2d_s8_paired_steps(p),
                                       p->output_channels};
    const int32_t values = p->input_height * p->input_width * p->input_channels;
    const int32_t results = p->output_height * p->output_width * p->output_channels;

    for (int32_t n = 0; n < p->batches; n++) {
        (single ? mg_conv2d_s8_single_image : mg_conv2d_s8_paired_image)(
            p, &input[n * values], &filters, &scaling, (int8_t *)output + n * results, columns,
            requantization);
    }
}

/* Computes the same as mg_conv2d_s8_body. There must be one group and two output channels or more,
 * and dilation_width must be 1. Weights are in the layout of
 * microgen/kernels/requantization/paired.py. Sums contain no zero point; the bias does. The scratch
 * memory, aligned to 4 bytes, has MG_PAIRED_COLUMN words for each four values of a window, whose
 * rows' ends share words. Input and output may overlap as far as the results of the blocks before
 * do not reach the windows of the next blocks. */
MG_BODY(mg_conv2d_s8_paired, int32_t, uint8_t *scratch, int requantization)
{
    mg_conv2d_s8_paired_with(p, input, weight, bias, multiplier, shift, output,
                             (uint32_t *)(void *)scratch, 0, requantization);
}

#define MG_CONV2D_S8_PAIRED_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s8_paired, int32_t)
#define MG_CONV2D_S8_PAIRED_KERNEL(name, ...)                                                      \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s8_paired, int32_t, __VA_ARGS__)

/* conv2d_s8_paired.h without scratch memory: its columns are on the stack. */
typedef mg_conv2d_s8_params mg_conv2d_s8_paired_stack_params;

/* As mg_conv2d_s8_paired_body. The columns of four pixels fit MG_PAIRED_STACK words. */
MG_BODY(mg_conv2d_s8_paired_stack, int32_t, int requantization)
{
    uint32_t columns[MG_PAIRED_STACK];

    mg_conv2d_s8_paired_with(p, input, weight, bias, multiplier, shift, output, columns, 0,
                             requantization);
}

#define MG_CONV2D_S8_PAIRED_STACK_PROTOTYPE(name)                                                  \
    MG_PROTOTYPE(name, mg_conv2d_s8_paired_stack, int32_t)
#define MG_CONV2D_S8_PAIRED_STACK_KERNEL(name, ...)                                                \
    MG_KERNEL(name, mg_conv2d_s8_paired_stack, int32_t, __VA_ARGS__)

/* conv2d_s8_paired.h one pixel at a time: the scratch memory has two words for each four values of
 * a window. */
typedef mg_conv2d_s8_params mg_conv2d_s8_single_params;

/* As mg_conv2d_s8_paired_body. */
MG_BODY(mg_conv2d_s8_single, int32_t, uint8_t *scratch, int requantization)
{
    mg_conv2d_s8_paired_with(p, input, weight, bias, multiplier, shift, output,
                             (uint32_t *)(void *)scratch, 1, requantization);
}

#define MG_CONV2D_S8_SINGLE_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s8_single, int32_t)
#define MG_CONV2D_S8_SINGLE_KERNEL(name, ...)                                                      \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s8_single, int32_t, __VA_ARGS__)

#endif
