/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, for cores without SIMD instructions:
 * three pixels of four channels at a time, or six pixels of one. */
#ifndef MICROGEN_CONV2D_S8_SWAR_H
#define MICROGEN_CONV2D_S8_SWAR_H

#include <string.h>

#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/convolution/s8/swar_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

/* Those of mg_conv2d_s8_params of the same names, in half the flash; see
 * depthwise_conv2d_s8_compact.h. */
typedef struct {
    uint16_t batches;
    uint16_t input_height;
    uint16_t input_width;
    uint16_t input_channels;
    uint16_t output_height;
    uint16_t output_width;
    uint16_t output_channels;
    uint16_t kernel_height;
    uint16_t kernel_width;
    uint16_t stride_height;
    uint16_t stride_width;
    uint16_t dilation_height;
    uint16_t pad_top;
    uint16_t pad_left;
    int16_t input_offset;
    int16_t output_offset;
    int16_t activation_min;
    int16_t activation_max;
    uint16_t block; /* products of a channel after which words are split; see swar_s8.h */
} mg_conv2d_s8_swar_params;

MG_INLINE mg_conv2d_s8_params mg_conv2d_s8_swar_conv(const mg_conv2d_s8_swar_params *p)
{
    const mg_conv2d_s8_params conv = {p->batches,         p->input_height,
                                      p->input_width,     p->input_channels,
                                      p->output_height,   p->output_width,
                                      p->output_channels, p->kernel_height,
                                      p->kernel_width,    p->input_channels,
                                      p->stride_height,   p->stride_width,
                                      p->dilation_height, 1,
                                      p->pad_top,         p->pad_left,
                                      p->input_offset,    p->output_offset,
                                      p->activation_min,  p->activation_max};
    return conv;
}

/* The loops, by pixels and channels of a tile: how many times three pixels are packed for each
 * weight of a filter. */
enum {
    MG_SWAR_3X4 = 1, /* one: for cores with registers for the sums of four channels */
    MG_SWAR_6X1 = 2  /* two: for Armv6-M and Armv8-M baseline */
};

/* Where an output pixel is. */
typedef struct {
    int32_t batch;
    int32_t y;
    int32_t x;
} mg_conv2d_s8_place;

/* What a window covers: the position of its first tap, where this tap is in the input, and whether
 * all of its taps are inside. */
typedef struct {
    int32_t batch;
    int32_t top;
    int32_t left;
    int32_t at;
    int32_t is_inside;
} mg_conv2d_s8_cover;

MG_INLINE mg_conv2d_s8_cover mg_conv2d_s8_cover_of(const mg_conv2d_s8_params *p,
                                                   const mg_conv2d_s8_place *place)
{
    const int32_t top = place->y * p->stride_height - p->pad_top;
    const int32_t left = place->x * p->stride_width - p->pad_left;
    const int32_t bottom = top + (p->kernel_height - 1) * p->dilation_height;
    const mg_conv2d_s8_cover cover = {
        place->batch, top, left,
        mg_nhwc(place->batch, top, left, p->input_height, p->input_width, p->input_channels),
        ((top >= 0) && (left >= 0) && (bottom < p->input_height) &&
         (left + p->kernel_width <= p->input_width))
            ? 1
            : 0};
    return cover;
}

/* The next pixel in memory. */
MG_INLINE void mg_conv2d_s8_advance(const mg_conv2d_s8_params *p, mg_conv2d_s8_place *place)
{
    place->x++;
    if (place->x == p->output_width) {
        place->x = 0;
        place->y++;
    }
    if (place->y == p->output_height) {
        place->y = 0;
        place->batch++;
    }
}

/* Adds the taps of a window that are inside the input to packed zero points. `row` is how far
 * its rows are apart. */
MG_INLINE void mg_conv2d_s8_swar_put(const mg_conv2d_s8_params *p, const int8_t *input,
                                     const mg_conv2d_s8_cover *cover, mg_swar *packs, int32_t row,
                                     int32_t pixel, int loop)
{
    const mg_taps columns = mg_taps_inside(cover->left, p->kernel_width, 1, p->input_width);
    const int32_t depth = p->input_channels;
    const int32_t skipped = columns.begin * depth;
    const int32_t n = columns.end * depth - skipped;

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t y = cover->top + ky * p->dilation_height;
        if ((y >= 0) && (y < p->input_height) && (n > 0)) {
            mg_swar_put(&packs[(ky * p->kernel_width * depth + skipped) * loop], loop,
                        &input[cover->at + ky * row + skipped], n, p->input_offset, pixel);
        }
    }
}

/* Packs the windows of three pixels. */
MG_INLINE void mg_conv2d_s8_swar_pack(const mg_conv2d_s8_params *p, const int8_t *input,
                                      const mg_conv2d_s8_cover covers[3], mg_swar *packs, int loop)
{
    const int32_t run = p->kernel_width * p->input_channels;
    const int32_t row = p->dilation_height * p->input_width * p->input_channels;

    if ((covers[0].is_inside & covers[1].is_inside & covers[2].is_inside) != 0) {
        for (int32_t ky = 0; ky < p->kernel_height; ky++) {
            mg_swar_pack(&packs[ky * run * loop], loop, &input[covers[0].at + ky * row],
                         &input[covers[1].at + ky * row], &input[covers[2].at + ky * row], run);
        }
        return;
    }
    mg_swar_fill(packs, loop, -p->input_offset, p->kernel_height * run);
    for (int32_t pixel = 0; pixel < 3; pixel++) {
        mg_conv2d_s8_swar_put(p, input, &covers[pixel], packs, row, pixel, loop);
    }
}

/* Packs the windows of `count` pixels from `place` on, one to three, and moves it to the pixel
 * after them. The window of the last one is there for those that are missing, too. */
MG_INLINE void mg_conv2d_s8_swar_next(const mg_conv2d_s8_params *p, const int8_t *input,
                                      mg_conv2d_s8_place *place, int32_t count, mg_swar *packs,
                                      int loop)
{
    mg_conv2d_s8_cover covers[3];
    mg_conv2d_s8_cover cover = {0, 0, 0, 0, 0};

    for (int32_t pixel = 0; pixel < 3; pixel++) {
        if (pixel < count) {
            cover = mg_conv2d_s8_cover_of(p, place);
            mg_conv2d_s8_advance(p, place);
        }
        covers[pixel] = cover;
    }
    mg_conv2d_s8_swar_pack(p, input, covers, packs, loop);
}

/* Stores the outputs of `count` pixels for channel c. `output` is the first pixel's. */
MG_INLINE void mg_conv2d_s8_swar_store(const mg_scaling *scaling, const int32_t *bias, int32_t c,
                                       const int32_t *sums, int8_t *output, int32_t channels,
                                       int32_t count, int requantization)
{
    const mg_channel channel = mg_channel_of(scaling, bias, c, requantization);
    int8_t *to = &output[c];

    for (int32_t pixel = 0; pixel < count; pixel++) {
        *to = mg_output(scaling, &channel, sums[pixel], requantization);
        to += channels;
    }
}

/* Adds the products of one channel, or of four, to its sums. */
MG_INLINE void mg_conv2d_s8_swar_add(const mg_swar *packs, const int8_t *weight, int32_t n,
                                     int32_t *sums, int is_four, int loop)
{
    if (loop == MG_SWAR_6X1) {
        mg_swar_add_6x1(packs, weight, n, sums);
    } else if (is_four) {
        mg_swar_add_3x4(packs, weight, n, sums);
    } else {
        mg_swar_add_3x1(packs, weight, n, sums);
    }
}

/* The outputs of up to three or six pixels, for all channels. MG_SWAR_3X4 computes
 * four at a time while there are so many. */
MG_INLINE void mg_conv2d_s8_swar_channels(const mg_scaling *scaling, const mg_swar *packs,
                                          int32_t size, int32_t block, const int8_t *weight,
                                          const int32_t *bias, int8_t *output, int32_t channels,
                                          int32_t count, int loop, int requantization)
{
    const int32_t whole = (loop == MG_SWAR_3X4) ? channels - channels % 4 : 0;

    for (int32_t c = 0; c < channels;) {
        const int is_four = (c < whole) ? 1 : 0;
        const int32_t next = c + (is_four ? 4 : 1);
        int32_t sums[12];
        const int32_t *results = sums;
        memset(sums, 0, ((loop == MG_SWAR_6X1) ? 6U : 12U) * sizeof(sums[0]));
        for (int32_t k = 0; k < size; k += block) {
            const int32_t n = (size - k < block) ? size - k : block;
            mg_conv2d_s8_swar_add(&packs[k * loop], weight, n, sums, is_four, loop);
            weight += is_four ? 4 * n : n;
        }
        for (; c < next; c++) {
            mg_conv2d_s8_swar_store(scaling, bias, c, results, output, channels, count,
                                    requantization);
            results += 3;
        }
    }
}

/* Computes the same as mg_conv2d_s8_body. There must be one group, and dilation_width must be 1.
 * The bias contains the input's zero point, or is that of MG_LINEAR. scratch must be aligned
 * to 4 bytes.
 *
 * For MG_SWAR_3X4 scratch has 8 bytes for each weight of a filter, and weights of each four
 * filters are interleaved, [filter / 4][tap][4]; those of the last one to three filters, if their
 * number is no multiple of four, are not. For MG_SWAR_6X1 scratch has 16 bytes for each weight of
 * a filter, and the weights are in the usual order. The output and the input may overlap as far as
 * the results of the pixels before do not reach the windows of the next ones. */
MG_INLINE void mg_conv2d_s8_swar_body(const mg_conv2d_s8_swar_params *params, const int8_t *input,
                                      const int8_t *weight, const int32_t *bias,
                                      const int32_t *multiplier, const int8_t *shift, void *output,
                                      uint8_t *scratch, int loop, int requantization)
{
    const mg_conv2d_s8_params conv = mg_conv2d_s8_swar_conv(params);
    const mg_conv2d_s8_params *const p = &conv;
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    mg_swar *const packs = (mg_swar *)(void *)scratch;
    const int32_t size = p->kernel_height * p->kernel_width * p->input_channels;
    const int32_t pixels = p->batches * p->output_height * p->output_width;
    const int32_t channels = p->output_channels;
    const int32_t most = 3 * loop;
    mg_conv2d_s8_place place = {0, 0, 0};

    for (int32_t i = 0; i < pixels; i += most) {
        const int32_t count = (pixels - i < most) ? pixels - i : most;
        int8_t *const to = (int8_t *)output + i * channels;

        for (int32_t first = 0; first < count; first += 3) {
            const int32_t some = (count - first < 3) ? count - first : 3;
            mg_conv2d_s8_swar_next(p, input, &place, some, &packs[first / 3], loop);
        }
        mg_conv2d_s8_swar_channels(&scaling, packs, size, params->block, weight, bias, to, channels,
                                   count, loop, requantization);
    }
}

#define MG_CONV2D_S8_SWAR_PROTOTYPE(name, shifts)                                                  \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, mg_conv2d_s8_swar, int8_t, shifts)
#define MG_CONV2D_S8_SWAR_KERNEL(name, shifts, ...)                                                \
    MG_KERNEL_COMPACT_SCRATCH(name, mg_conv2d_s8_swar, int8_t, shifts, __VA_ARGS__)

#endif
