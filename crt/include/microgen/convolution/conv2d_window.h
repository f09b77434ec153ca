/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the input that a convolution's window covers, as runs of contiguous values. */
#ifndef MICROGEN_CONV2D_WINDOW_H
#define MICROGEN_CONV2D_WINDOW_H

#include "microgen/window.h"

/* The extents of a convolution, grouped or depthwise. */
typedef struct {
    /* input_channels is groups * filter_channels. */
    MG_IMAGE_SIZES(input_channels)
    int32_t output_channels; /* a multiple of groups; if depthwise, of input_channels */
    int32_t kernel_height;
    int32_t kernel_width;
    int32_t filter_channels; /* input channels that one output channel sees */
    int32_t stride_height;   /* 1 to 32767, like all strides and dilations */
    int32_t stride_width;
    int32_t dilation_height; /* its product with the size of an input row fits int32 */
    int32_t dilation_width;
    int32_t pad_top;  /* rows of zeros above the input, 0 to 32767 */
    int32_t pad_left; /* columns of zeros before the input, 0 to 32767 */
} mg_conv2d_shape;

/* The parameters of float32 kernels. */
typedef struct {
    mg_conv2d_shape shape;
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_conv2d_f32_params;

/* The parameters of int16 kernels. */
typedef struct {
    mg_conv2d_shape shape;
    int32_t rounding;       /* MG_ROUND_DOUBLE or MG_ROUND_REDUCED */
    int32_t activation_min; /* -32768 to 32767 */
    int32_t activation_max; /* activation_min to 32767 */
} mg_conv2d_s16_params;

/* The part of a window that lies inside the input. */
typedef struct {
    int32_t value;  /* index of its first value, in the input */
    int32_t weight; /* index of that value's weight, in the filter */
    int32_t rows;
    int32_t runs;     /* in each row */
    int32_t length;   /* values of a run */
    int32_t next_row; /* values from one row to the next */
    int32_t next_run;
    int32_t next_weight_row; /* weights from one row to the next */
    int32_t next_weight_run;
} mg_window;

/* The window of output pixel [n][y][x]. It reads `depth` values of each input pixel. Weights of
 * neighbouring taps are `weight_depth` apart. */
MG_INLINE mg_window mg_window_at(const mg_conv2d_shape *s, int32_t n, int32_t y, int32_t x,
                                 int32_t depth, int32_t weight_depth)
{
    const int32_t top = y * s->stride_height - s->pad_top;
    const int32_t left = x * s->stride_width - s->pad_left;
    MG_TAPS_OF(s, top, left);
    const int32_t pixel = s->input_channels;
    mg_window window = {0,
                        0,
                        0,
                        0,
                        depth,
                        s->dilation_height * s->input_width * pixel,
                        s->dilation_width * pixel,
                        s->kernel_width * weight_depth,
                        weight_depth};

    if ((rows.begin < rows.end) && (columns.begin < columns.end)) {
        window.value = mg_nhwc(n, top + rows.begin * s->dilation_height,
                               left + columns.begin * s->dilation_width, s->input_height,
                               s->input_width, pixel);
        window.weight = (rows.begin * s->kernel_width + columns.begin) * weight_depth;
        window.rows = rows.end - rows.begin;
        window.runs = columns.end - columns.begin;
    }
    return window;
}

/* The window of a convolution's output pixel: each row without gaps is one run. */
MG_INLINE mg_window mg_conv2d_window_at(const mg_conv2d_shape *s, int32_t n, int32_t y, int32_t x)
{
    mg_window window = mg_window_at(s, n, y, x, s->filter_channels, s->filter_channels);

    if ((s->filter_channels == s->input_channels) && (s->dilation_width == 1)) {
        window.length *= window.runs;
        window.runs = 1;
    }
    return window;
}

/* The window of a depthwise convolution's output pixel, for its first channel. */
MG_INLINE mg_window mg_depthwise_window_at(const mg_conv2d_shape *s, int32_t n, int32_t y,
                                           int32_t x)
{
    return mg_window_at(s, n, y, x, 1, s->output_channels);
}

/* Executes the statement `compute` for each pixel of a layer's output, in order, with `window` and
 * `pixel`: the pixel's window, which is window_at(s, n, y, x), and a pointer to its output, which
 * is `output` at first. This is a macro so that compilers see one function. */
#define MG_EACH_WINDOW(s, window_at, type, output, compute)                                        \
    do {                                                                                           \
        type *pixel = (output);                                                                    \
        for (int32_t n_ = 0; n_ < (s)->batches; n_++) {                                            \
            for (int32_t y_ = 0; y_ < (s)->output_height; y_++) {                                  \
                for (int32_t x_ = 0; x_ < (s)->output_width; x_++) {                               \
                    const mg_window window = window_at((s), n_, y_, x_);                           \
                    compute;                                                                       \
                    pixel += (s)->output_channels;                                                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Output channels of one group. */
MG_INLINE int32_t mg_group_outputs(const mg_conv2d_shape *s)
{
    return s->output_channels / (s->input_channels / s->filter_channels);
}

/* The pixels that reach position (y, x) of output n, with their weights. Strides and padding of the
 * shape are those of the convolution in the opposite direction, which is neither grouped nor
 * dilated. Tap 0 of a filter is added at pixel * stride, so later pixels have earlier weights. */
MG_INLINE mg_window mg_conv2d_transpose_window_at(const mg_conv2d_shape *s, int32_t n, int32_t y,
                                                  int32_t x)
{
    const int32_t at_y = y + s->pad_top;
    const int32_t at_x = x + s->pad_left;
    const int32_t depth = s->input_channels;
    const mg_taps rows =
        mg_pixels_reaching(at_y, s->kernel_height, s->stride_height, s->input_height);
    const mg_taps columns =
        mg_pixels_reaching(at_x, s->kernel_width, s->stride_width, s->input_width);
    mg_window window = {0, 0, 0, 0, depth, s->input_width * depth, depth, 0, 0};

    if ((rows.begin < rows.end) && (columns.begin < columns.end)) {
        window.value =
            mg_nhwc(n, rows.begin, columns.begin, s->input_height, s->input_width, depth);
        window.weight =
            mg_nhwc(0, at_y - rows.begin * s->stride_height, at_x - columns.begin * s->stride_width,
                    s->kernel_height, s->kernel_width, depth);
        window.rows = rows.end - rows.begin;
        window.runs = columns.end - columns.begin;
    }
    /* The step past a single pixel is never used and might overflow. */
    if (window.rows > 1) {
        window.next_weight_row = -s->stride_height * s->kernel_width * depth;
    }
    if (window.runs > 1) {
        window.next_weight_run = -s->stride_width * depth;
    }
    return window;
}

/* The sums of a convolution's windows and filters, and the outputs of these sums. */

/* Defines, for values and weights of these types, and sums of type `sum_type`:
 *     mg_conv2d_<suffix>_sum       the sum of products of a filter and its window
 *     mg_conv2d_<suffix>_sums      the same for four consecutive filters of `size` weights each
 *     mg_conv2d_<suffix>_channels  computes channels [first, last) of an output pixel; all of them
 *                                  are of one group
 *     mg_conv2d_<suffix>_pixel     computes all channels of an output pixel
 * by mg_dot_<suffix>, mg_dot_4_<suffix> and mg_store_4_<suffix>. finished(finish, c, sum) is the
 * output of channel c, and `finish` has the type `finish_type`. */
#define MG_CONV2D_SUMS(suffix, value_type, weight_type, sum_type, finish_type, finished)           \
    MG_INLINE sum_type mg_conv2d_##suffix##_sum(const mg_window *window, const value_type *values, \
                                                const weight_type *filter)                         \
    {                                                                                              \
        sum_type sum = 0;                                                                          \
        for (int32_t row = 0; row < window->rows; row++) {                                         \
            for (int32_t run = 0; run < window->runs; run++) {                                     \
                sum = mg_dot_##suffix(                                                             \
                    sum, &values[row * window->next_row + run * window->next_run],                 \
                    &filter[row * window->next_weight_row + run * window->next_weight_run],        \
                    window->length);                                                               \
            }                                                                                      \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    MG_INLINE mg_sums_##suffix mg_conv2d_##suffix##_sums(const mg_window *window,                  \
                                                         const value_type *values,                 \
                                                         const weight_type *filters, int32_t size) \
    {                                                                                              \
        mg_sums_##suffix sums = {0, 0, 0, 0};                                                      \
        for (int32_t row = 0; row < window->rows; row++) {                                         \
            for (int32_t run = 0; run < window->runs; run++) {                                     \
                sums = mg_dot_4_##suffix(                                                          \
                    sums, &values[row * window->next_row + run * window->next_run],                \
                    &filters[row * window->next_weight_row + run * window->next_weight_run], size, \
                    window->length);                                                               \
            }                                                                                      \
        }                                                                                          \
        return sums;                                                                               \
    }                                                                                              \
    MG_INLINE void mg_conv2d_##suffix##_channels(                                                  \
        const mg_conv2d_shape *s, const mg_window *window, const value_type *values,               \
        const weight_type *weight, const finish_type *finish, int32_t first, int32_t last,         \
        value_type *pixel)                                                                         \
    {                                                                                              \
        const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;              \
        const int32_t whole = last - (last - first) % 4;                                           \
        for (int32_t c = first; c < whole; c += 4) {                                               \
            const weight_type *filters = &weight[c * size + window->weight];                       \
            mg_store_4_##suffix(finish, c,                                                         \
                                mg_conv2d_##suffix##_sums(window, values, filters, size), pixel);  \
        }                                                                                          \
        for (int32_t c = whole; c < last; c++) {                                                   \
            const weight_type *filter = &weight[c * size + window->weight];                        \
            pixel[c] = finished(finish, c, mg_conv2d_##suffix##_sum(window, values, filter));      \
        }                                                                                          \
    }                                                                                              \
    MG_INLINE void mg_conv2d_##suffix##_pixel(                                                     \
        const mg_conv2d_shape *s, const mg_window *window, const value_type *input,                \
        const weight_type *weight, const finish_type *finish, int32_t group, value_type *pixel)    \
    {                                                                                              \
        const value_type *values = &input[window->value];                                          \
        for (int32_t first = 0; first < s->output_channels; first += group) {                      \
            mg_conv2d_##suffix##_channels(s, window, values, weight, finish, first, first + group, \
                                          pixel);                                                  \
            values += s->filter_channels;                                                          \
        }                                                                                          \
    }

#endif
