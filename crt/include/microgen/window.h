/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of elements and sliding windows in NHWC tensors. */
#ifndef MICROGEN_WINDOW_H
#define MICROGEN_WINDOW_H

#include "microgen/inline.h"

/* The first parameters of kernels that make one image of another. `channels` is the name of the
 * field with the number of the input's channels. */
#define MG_IMAGE_SIZES(channels)                                                                   \
    int32_t batches;                                                                               \
    int32_t input_height;                                                                          \
    int32_t input_width;                                                                           \
    int32_t channels;                                                                              \
    int32_t output_height;                                                                         \
    int32_t output_width;

/* A range, begin <= n < end, along one axis: of the taps of a window that are inside the input, or
 * of the pixels of an input that reach a position of a transposed convolution's output. */
typedef struct {
    int32_t begin;
    int32_t end;
} mg_taps;

/* Taps k in [0, count) whose position, origin + k * dilation, is in [0, size).
 *
 * Nothing here exceeds int32 if pads and dilation are at most 32767 and the padded size is at most
 * 2^31 - 65536. The reason: origin is y * stride - pad for an output's y, so the window, from
 * origin to the position of the last tap, is inside the padded input. Then size - origin is at most
 * the padded size, dilation - 1 + size - origin is less than 2^31, and dilation - 1 - origin is
 * less than 65536. */
MG_INLINE mg_taps mg_taps_inside(int32_t origin, int32_t count, int32_t dilation, int32_t size)
{
    const int32_t before = (origin < 0) ? (dilation - 1 - origin) / dilation : 0;
    const int32_t until = (size > origin) ? (dilation - 1 + size - origin) / dilation : 0;
    const mg_taps taps = {before, (until < count) ? until : count};
    return taps;
}

/* Declares `rows` and `columns`: the taps inside the input of the window whose tap (0, 0) is at
 * (top, left). p points to a kernel's parameters. */
#define MG_TAPS_OF(p, top, left)                                                                   \
    const mg_taps rows =                                                                           \
        mg_taps_inside((top), (p)->kernel_height, (p)->dilation_height, (p)->input_height);        \
    const mg_taps columns =                                                                        \
        mg_taps_inside((left), (p)->kernel_width, (p)->dilation_width, (p)->input_width)

/* Pixels p in [0, size) of a transposed convolution's input that reach position `at` of its full
 * result: those with p * stride + k = at for a tap k in [0, count). */
MG_INLINE mg_taps mg_pixels_reaching(int32_t at, int32_t count, int32_t stride, int32_t size)
{
    const int32_t until = at / stride + 1;
    const mg_taps pixels = {(at < count) ? 0 : (at - count) / stride + 1,
                            (until < size) ? until : size};
    return pixels;
}

/* Index of element [n][y][x][0] of a tensor [.][height][width][channels]. */
MG_INLINE int32_t mg_nhwc(int32_t n, int32_t y, int32_t x, int32_t height, int32_t width,
                          int32_t channels)
{
    return ((n * height + y) * width + x) * channels;
}

#endif
