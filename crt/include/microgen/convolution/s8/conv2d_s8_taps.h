/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of several groups, or with dilated columns, int8, four pixels and two channels at
 * a time, with the paired weights of paired_s8.h.
 *
 * Its windows have no rows without gaps, so each tap is copied on its own, whole or as zero points.
 * Groups of few channels are merged: a filter then has weights of 0 for the channels of the groups
 * that are not its own. */
#ifndef MICROGEN_CONV2D_S8_TAPS_H
#define MICROGEN_CONV2D_S8_TAPS_H

#include <string.h>

#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/paired_s8.h"
#include "microgen/requantization/scaling_s8.h"

/* filter_channels are those of merged groups. */
typedef mg_conv2d_s8_params mg_conv2d_s8_taps_params;

/* Finds the taps of pixel n: the index of each in an image of one group, or -1 if it is outside.
 * The next tap of a pixel is four places on, because there are three more pixels. */
MG_INLINE void mg_conv2d_s8_taps_at(const mg_conv2d_s8_params *p, int32_t n, int32_t *places)
{
    const int32_t row = n / p->output_width;
    const int32_t column = n - row * p->output_width;
    const int32_t top = row * p->stride_height - p->pad_top;
    const int32_t left = column * p->stride_width - p->pad_left;

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t y = top + ky * p->dilation_height;
        for (int32_t kx = 0; kx < p->kernel_width; kx++) {
            const int32_t x = left + kx * p->dilation_width;
            /* Places before the image are large numbers without a sign. */
            const int is_inside = ((uint32_t)y < (uint32_t)p->input_height) &&
                                  ((uint32_t)x < (uint32_t)p->input_width);
            *places = is_inside ? (y * p->input_width + x) * p->input_channels : -1;
            places += 4;
        }
    }
}

/* Stores `run` values of a tap of four pixels, four or more. The last four of them are a word, too,
 * whose values that another word has meet weights of 0. Returns the end. */
MG_INLINE uint32_t *mg_conv2d_s8_tap(uint32_t *to, const int8_t *const from[4], int32_t run)
{
    const uint32_t less = mg_paired_less();
    const int8_t *a = from[0];
    const int8_t *b = from[1];
    const int8_t *c = from[2];
    const int8_t *d = from[3];

    for (int32_t left = run; left > 0; left -= 4) {
        const int32_t back = (left < 4) ? 4 - left : 0;
        mg_paired_put(&to[0], MG_PAIRED_COLUMN / 2, mg_load_4_s8(a - back), less);
        mg_paired_put(&to[1], MG_PAIRED_COLUMN / 2, mg_load_4_s8(b - back), less);
        mg_paired_put(&to[2], MG_PAIRED_COLUMN / 2, mg_load_4_s8(c - back), less);
        mg_paired_put(&to[3], MG_PAIRED_COLUMN / 2, mg_load_4_s8(d - back), less);
        a += 4;
        b += 4;
        c += 4;
        d += 4;
        to += MG_PAIRED_COLUMN;
    }
    return to;
}

/* The columns of four windows, whose taps are at `places` of an image that begins with the group's
 * first channel. */
MG_INLINE void mg_conv2d_s8_taps_gather(const int32_t *places, int32_t taps, const int8_t *image,
                                        const int8_t *zeros, int32_t run, uint32_t *columns)
{
    for (int32_t tap = 0; tap < taps; tap++) {
        const int8_t *const from[4] = {(places[0] < 0) ? zeros : &image[places[0]],
                                       (places[1] < 0) ? zeros : &image[places[1]],
                                       (places[2] < 0) ? zeros : &image[places[2]],
                                       (places[3] < 0) ? zeros : &image[places[3]]};
        columns = mg_conv2d_s8_tap(columns, from, run);
        places += 4;
    }
}

/* The filters of a merged group, and their scales. */
typedef struct {
    mg_paired_filters filters;
    mg_scaling scaling;
} mg_conv2d_s8_group;

MG_INLINE void mg_conv2d_s8_next_group(mg_conv2d_s8_group *group, int requantization)
{
    const int32_t channels = group->filters.channels;
    group->filters.weight += 2 * group->filters.steps * ((channels + 1) / 2);
    group->filters.bias += channels;
    group->scaling.multiplier += channels;
    if (mg_has_shift(requantization)) {
        group->scaling.shift += channels;
    }
}

/* Computes the same as mg_conv2d_s8_body. Images have four pixels or more, merged groups two output
 * channels or more and four input channels or more. Weights are in the layout of
 * microgen/kernels/requantization/paired.py. Sums contain no zero point; the bias does. The scratch
 * memory, aligned to 4 bytes, has MG_PAIRED_COLUMN words for each four values of a window of a
 * merged group, whose taps are rounded up to whole words, four words for each tap, and the zero
 * points of one. The last
 * block of an image has its last four pixels, so some may be computed twice. Input and output may
 * overlap as far as the results of a block, and of those before, do not reach its windows. */
MG_BODY(mg_conv2d_s8_taps, int32_t, uint8_t *scratch, int requantization)
{
    const int32_t groups = p->input_channels / p->filter_channels;
    const int32_t channels = p->output_channels / groups;
    const int32_t pixels = p->output_height * p->output_width;
    const int32_t taps = p->kernel_height * p->kernel_width;
    const int32_t run = p->filter_channels;
    const int32_t steps = taps * ((run + 3) / 4);
    uint32_t *const columns = (uint32_t *)(void *)scratch;
    int32_t *const places = (int32_t *)(void *)&columns[MG_PAIRED_COLUMN * steps];
    int8_t *const zeros = (int8_t *)&places[4 * taps];
    int8_t *to = (int8_t *)output;

    memset(zeros, -p->input_offset, (size_t)run);
    for (int32_t image = 0; image < p->batches; image++) {
        for (int32_t n = 0; n < pixels; n += 4) {
            const int32_t first = (n < pixels - 4) ? n : pixels - 4;
            mg_conv2d_s8_group group = {{weight, bias, steps, channels},
                                        MG_SCALING_OF(p, multiplier, shift)};
            for (int32_t i = 0; i < 4; i++) {
                mg_conv2d_s8_taps_at(p, first + i, &places[i]);
            }
            for (int32_t g = 0; g < groups; g++) {
                mg_conv2d_s8_taps_gather(places, taps, &input[g * run], zeros, run, columns);
                mg_paired_block(&group.filters, &group.scaling, columns,
                                &to[first * p->output_channels + g * channels], p->output_channels,
                                requantization);
                mg_conv2d_s8_next_group(&group, requantization);
            }
        }
        input += p->input_height * p->input_width * p->input_channels;
        to += pixels * p->output_channels;
    }
}

#define MG_CONV2D_S8_TAPS_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s8_taps, int32_t)
#define MG_CONV2D_S8_TAPS_KERNEL(name, ...)                                                        \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s8_taps, int32_t, __VA_ARGS__)

#endif
