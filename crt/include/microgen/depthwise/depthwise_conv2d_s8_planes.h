/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int8, for cores with the DSP extension: four channels at a time are
 * copied to planes of int16 (microgen/depthwise/planes_s8.h), and then each filter slides over its
 * plane. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_PLANES_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_PLANES_H

#include "microgen/depthwise/filters_3x3_s8.h"
#include "microgen/depthwise/filters_s8.h"
#include "microgen/depthwise/planes_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

/* Which filters the body is for. */
enum {
    MG_FILTERS_3X3,   /* 3x3, stride 1 along the fast axis */
    MG_FILTERS_3X3_2, /* 3x3, stride 2 along the fast axis */
    MG_FILTERS_ANY    /* any size, stride 1 or 2 along the fast axis */
};

/* The fast axis is the height if is_upright is not 0, otherwise the width. */
typedef struct {
    int32_t batches;
    int32_t input_channels;
    int32_t depth_multiplier; /* output channels per input channel, at least 1 */
    int32_t input_fast;
    int32_t input_slow;
    int32_t output_fast;
    int32_t output_slow;
    int32_t kernel_fast;
    int32_t kernel_slow;
    int32_t stride_fast; /* 1 or 2 */
    int32_t stride_slow;
    int32_t pad_fast; /* columns or rows of zero points before the input */
    int32_t pad_slow;
    int32_t is_upright;
    int32_t input_offset;   /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_depthwise_conv2d_s8_planes_params;

typedef mg_depthwise_conv2d_s8_planes_params mg_planes_params;

/* The outputs of a line in each band, which is copied on its own. */
MG_INLINE int32_t mg_planes_band(const mg_planes_params *p, int filters)
{
    if (filters == MG_FILTERS_ANY) {
        return p->output_fast;
    }
    return (filters == MG_FILTERS_3X3) ? MG_3X3_BAND : MG_3X3_2_BAND;
}

MG_INLINE int32_t mg_planes_words(const mg_planes_params *p, int32_t count, int filters)
{
    if (filters == MG_FILTERS_3X3) {
        return (count + 1) / 2 + 1;
    }
    if (filters == MG_FILTERS_3X3_2) {
        return count + 1;
    }
    return mg_filters_words_read(count, p->kernel_fast, p->stride_fast);
}

/* Words of scratch for the taps of a filter. */
MG_INLINE int32_t mg_planes_taps(const mg_planes_params *p, int filters)
{
    return (filters == MG_FILTERS_ANY)
               ? 2 * p->kernel_slow * mg_filters_words(p->kernel_fast, p->stride_fast)
               : 0;
}

MG_INLINE int32_t mg_planes_pitch(const mg_planes_params *p, int filters)
{
    if (filters == MG_FILTERS_ANY) {
        return mg_planes_words(p, p->output_fast, filters);
    }
    return (filters == MG_FILTERS_3X3) ? MG_3X3_PITCH : MG_3X3_2_PITCH;
}

/* A band of lines, and what all blocks of channels have in common. */
typedef struct {
    mg_planes_copy copy;
    mg_filters_lines lines;
    int32_t from; /* the offset of its first value in an image */
    int32_t to;   /* the offset of its first output */
} mg_planes_area;

/* The band of `count` outputs of each line that begins with output `first`. It is out of line,
 * because operators share it. */
static __attribute__((noinline, unused)) void mg_planes_describe(const mg_planes_params *p,
                                                                 int32_t first, int32_t count,
                                                                 int32_t words, int32_t pitch,
                                                                 mg_planes_area *area)
{
    mg_planes_copy *c = &area->copy;
    mg_filters_lines *l = &area->lines;
    const int32_t is_upright = p->is_upright;
    const int32_t depth = p->input_channels;
    const int32_t outputs = depth * p->depth_multiplier;
    const int32_t begin = first * p->stride_fast - p->pad_fast;
    const int32_t before = (begin < 0) ? -begin : 0;
    const int32_t start = begin + before;
    const int32_t room = 2 * words - before;
    const int32_t values = (p->input_fast - start < room) ? p->input_fast - start : room;
    const int32_t below = (p->output_slow - 1) * p->stride_slow + p->kernel_slow - p->pad_slow;
    const int32_t inside = (p->input_slow < below) ? p->input_slow : below;

    c->pitch = pitch;
    c->begin = MG_PLANES * pitch * p->pad_slow + before / 2;
    c->lines = (values > 0) ? inside : 0;
    c->has_zero = before % 2;
    c->pairs = (values - c->has_zero) / 2;
    c->has_rest = (values - c->has_zero) % 2;
    c->step = depth * ((is_upright != 0) ? p->input_slow : 1);
    c->line_step = depth * ((is_upright != 0) ? 1 : p->input_fast);
    l->output_offset = p->output_offset;
    l->count = count;
    l->lines = p->output_slow;
    l->row_words = MG_PLANES * pitch;
    l->line_words = l->row_words * p->stride_slow;
    l->step = outputs * ((is_upright != 0) ? p->output_slow : 1);
    l->line_step = outputs * ((is_upright != 0) ? 1 : p->output_fast);
    area->from = start * c->step;
    area->to = first * l->step;
}

/* The arguments of the kernel, and the parts of the scratch. */
typedef struct {
    const mg_planes_params *p;
    const int8_t *weight;
    const int32_t *bias;
    mg_scaling scaling;
    uint32_t *pairs;
    uint32_t *planes;
} mg_planes_job;

/* One output channel of a band. */
MG_INLINE void mg_planes_channel_by(const mg_planes_job *job, const mg_filters_lines *lines,
                                    const mg_filters_channel *channel, int32_t c, int filters,
                                    int requantization)
{
    const mg_planes_params *p = job->p;
    const int32_t stride = (filters == MG_FILTERS_3X3) ? 1 : 2;

    if (filters == MG_FILTERS_ANY) {
        const int32_t words = mg_filters_words(p->kernel_fast, p->stride_fast);
        mg_filters_widen(&job->weight[c * p->kernel_slow * p->kernel_fast], p->kernel_slow,
                         p->kernel_fast, words, job->pairs);
        if (p->stride_fast == 1) {
            mg_filters_slide(lines, channel, job->pairs, p->kernel_slow, words, 1, requantization);
        } else {
            mg_filters_slide(lines, channel, job->pairs, p->kernel_slow, words, 2, requantization);
        }
    } else if (requantization == MG_LINEAR_MIXED) {
        mg_filters_3x3_mixed(lines, channel, &job->weight[c * MG_3X3_TAPS], stride);
    } else if (requantization == MG_LINEAR) {
        mg_filters_3x3_linear(lines, channel, &job->weight[c * MG_3X3_TAPS], stride);
    } else {
        mg_filters_3x3(lines, channel, &job->weight[c * MG_3X3_TAPS], stride, requantization);
    }
}

MG_INLINE void mg_planes_channel(const mg_planes_job *job, const mg_filters_lines *lines,
                                 const uint32_t *plane, int8_t *output, int32_t c, int filters,
                                 int requantization)
{
    const mg_filters_channel channel = {plane, output,
                                        mg_channel_of(&job->scaling, job->bias, c, requantization)};

    if ((requantization != MG_LINEAR_MIXED) || (filters != MG_FILTERS_ANY)) {
        mg_planes_channel_by(job, lines, &channel, c, filters, requantization);
    } else if (mg_is_marked(&channel.scale)) {
        mg_planes_channel_by(job, lines, &channel, c, filters, MG_MARKED);
    } else {
        mg_planes_channel_by(job, lines, &channel, c, filters, MG_LINEAR);
    }
}

/* The block of up to four input channels that begins with `channel`; the first `done` of them were
 * computed with the block before. */
MG_INLINE void mg_planes_block(const mg_planes_job *job, const mg_planes_area *area,
                               const int8_t *input, int8_t *output, int32_t channel, int32_t done,
                               int filters, int requantization)
{
    const mg_planes_params *p = job->p;
    const int32_t end = (p->input_channels < MG_PLANES) ? 1 : MG_PLANES;

    if (p->input_channels < MG_PLANES) {
        mg_planes_fill_one(&area->copy, &input[area->from + channel], job->planes);
    } else {
        mg_planes_fill(&area->copy, &input[area->from + channel], job->planes);
    }
    for (int32_t k = done; k < end; k++) {
        int32_t c = (channel + k) * p->depth_multiplier;
        const uint32_t *plane = &job->planes[k * area->copy.pitch];
        for (int32_t m = 0; m < p->depth_multiplier; m++) {
            mg_planes_channel(job, &area->lines, plane, &output[area->to + c], c, filters,
                              requantization);
            c++;
        }
    }
}

/* A band of an image. The last block of four channels overlaps the one before it if the number of
 * channels is no multiple of four. Fewer than four are computed one by one. */
MG_INLINE void mg_planes_image(const mg_planes_job *job, const mg_planes_area *area,
                               const int8_t *input, int8_t *output, int filters, int requantization)
{
    const int32_t channels = job->p->input_channels;
    const int32_t step = (channels < MG_PLANES) ? 1 : MG_PLANES;

    for (int32_t c = 0; c < channels; c += step) {
        const int32_t channel = (c + step <= channels) ? c : channels - step;
        mg_planes_block(job, area, input, output, channel, c - channel, filters, requantization);
    }
}

MG_INLINE void mg_planes_all(const mg_planes_params *p, const int8_t *input, const int8_t *weight,
                             const int32_t *bias, const int32_t *multiplier, const int8_t *shift,
                             int8_t *output, uint8_t *scratch, int filters, int requantization)
{
    const mg_planes_job job = {p,
                               weight,
                               bias,
                               {multiplier, shift, p->output_offset, INT8_MIN, INT8_MAX},
                               (uint32_t *)(void *)scratch,
                               (uint32_t *)(void *)scratch + mg_planes_taps(p, filters)};
    const int32_t band = mg_planes_band(p, filters);
    const int32_t pitch = mg_planes_pitch(p, filters);
    const int32_t lines = (p->output_slow - 1) * p->stride_slow + p->kernel_slow;
    const int32_t channels = p->input_channels;
    mg_planes_area area;
    int32_t count = 0;

    for (int32_t first = 0; first < p->output_fast; first += count) {
        const int32_t left = p->output_fast - first;
        count = (left < band) ? left : band;
        mg_planes_describe(p, first, count, mg_planes_words(p, count, filters), pitch, &area);
        if (filters != MG_FILTERS_ANY) {
            mg_filters_3x3_set_gaps(&area.lines, (filters == MG_FILTERS_3X3) ? 1 : 2);
        }
        mg_planes_clear(job.planes, MG_PLANES * pitch * lines, mg_twice_s16(-p->input_offset));
        for (int32_t n = 0; n < p->batches; n++) {
            mg_planes_image(
                &job, &area, &input[n * p->input_fast * p->input_slow * channels],
                &output[n * p->output_fast * p->output_slow * channels * p->depth_multiplier],
                filters, requantization);
        }
    }
}

/* GCC would make a copy for a model that has one such operator, whose cost nobody has measured. */
#if defined(__GNUC__) && !defined(__clang__)
#define MG_PLANES_ATTRIBUTES __attribute__((noinline, noclone, unused))
#else
#define MG_PLANES_ATTRIBUTES __attribute__((noinline, unused))
#endif

/* Out of line, so that the operators of a model share the code, which gains little from a constant
 * shape. */
#define MG_PLANES_FUNCTION(name, filters, requantization)                                          \
    static MG_PLANES_ATTRIBUTES void name(                                                         \
        const mg_planes_params *p, const int8_t *input, const int8_t *weight, const int32_t *bias, \
        const int32_t *multiplier, const int8_t *shift, int8_t *output, uint8_t *scratch)          \
    {                                                                                              \
        mg_planes_all(p, input, weight, bias, multiplier, shift, output, scratch, filters,         \
                      requantization);                                                             \
    }

/* They are named like the kernels, so that their bytes are counted as those of the kernels. */
#define MG_PLANES_FUNCTIONS(name, dispatch, requantization)                                        \
    MG_PLANES_FUNCTION(name##3x3_all, MG_FILTERS_3X3, requantization)                              \
    MG_PLANES_FUNCTION(name##3x3_stride_2_all, MG_FILTERS_3X3_2, requantization)                   \
    MG_PLANES_FUNCTION(name##planes_all, MG_FILTERS_ANY, requantization)                           \
    MG_INLINE void dispatch(const mg_planes_params *p, const int8_t *input, const int8_t *weight,  \
                            const int32_t *bias, const int32_t *multiplier, const int8_t *shift,   \
                            int8_t *output, uint8_t *scratch, int filters)                         \
    {                                                                                              \
        if (filters == MG_FILTERS_3X3) {                                                           \
            name##3x3_all(p, input, weight, bias, multiplier, shift, output, scratch);             \
        } else if (filters == MG_FILTERS_3X3_2) {                                                  \
            name##3x3_stride_2_all(p, input, weight, bias, multiplier, shift, output, scratch);    \
        } else {                                                                                   \
            name##planes_all(p, input, weight, bias, multiplier, shift, output, scratch);          \
        }                                                                                          \
    }

MG_PLANES_FUNCTIONS(mg_depthwise_conv2d_s8_, mg_planes_twice, MG_ROUND_TWICE_NARROW)
MG_PLANES_FUNCTIONS(mg_depthwise_conv2d_s8_upward_, mg_planes_upward, MG_ROUND_UPWARD_NARROW)
MG_PLANES_FUNCTIONS(mg_depthwise_conv2d_s8_fpu_, mg_planes_fpu, MG_ROUND_FLOAT_FPU)
MG_PLANES_FUNCTIONS(mg_depthwise_conv2d_s8_float_, mg_planes_float, MG_ROUND_FLOAT_NARROW)
MG_PLANES_FUNCTIONS(mg_depthwise_conv2d_s8_linear_, mg_planes_linear, MG_LINEAR)
MG_PLANES_FUNCTIONS(mg_depthwise_conv2d_s8_mixed_, mg_planes_mixed, MG_LINEAR_MIXED)

/* Computes the same as mg_depthwise_conv2d_s8_body (microgen/depthwise/depthwise_conv2d_s8.h).
 *
 * `filters` and `requantization` are constants. weight has the filters of all output channels, one
 * after the other: [output_channels][kernel_slow][kernel_fast], and then four bytes that are read
 * but do not count. For MG_FILTERS_3X3 and MG_FILTERS_3X3_2 the taps of a row are in the order 0,
 * 2, 1. bias [output_channels] contains the zero point of the data; see mg_output of
 * microgen/requantization/scaling_s8.h. scratch is aligned to 4 bytes, and as large as the kernel's
 * module in microgen/kernels says.
 *
 * If the depth multiplier is 1, the output may be in the input's place, or whole pixels before it:
 * all values of a channel in a band are copied before the first of its outputs is stored, and
 * outputs have the places of this channel. None may reach the values of the next band. Sums of
 * products of int8 and int8 in int32 need fewer than 2^17 taps.
 */
MG_BODY(mg_depthwise_conv2d_s8_planes, int8_t, uint8_t *scratch, int filters, int requantization)
{
    const int32_t count =
        p->batches * p->output_fast * p->output_slow * p->input_channels * p->depth_multiplier;
    int8_t *out = (int8_t *)output;

    if (requantization == MG_LINEAR) {
        mg_planes_linear(p, input, weight, bias, multiplier, shift, out, scratch, filters);
    } else if (requantization == MG_LINEAR_MIXED) {
        mg_planes_mixed(p, input, weight, bias, multiplier, shift, out, scratch, filters);
    } else if (requantization == MG_ROUND_TWICE_NARROW) {
        mg_planes_twice(p, input, weight, bias, multiplier, shift, out, scratch, filters);
    } else if (requantization == MG_ROUND_FLOAT_FPU) {
        mg_planes_fpu(p, input, weight, bias, multiplier, shift, out, scratch, filters);
    } else if (requantization == MG_ROUND_FLOAT_NARROW) {
        mg_planes_float(p, input, weight, bias, multiplier, shift, out, scratch, filters);
    } else {
        mg_planes_upward(p, input, weight, bias, multiplier, shift, out, scratch, filters);
    }
    if ((p->activation_min != INT8_MIN) || (p->activation_max != INT8_MAX)) {
        for (int32_t i = 0; i < count; i++) {
            out[i] = mg_offset_and_clamp(out[i], 0, p->activation_min, p->activation_max);
        }
    }
}

#define MG_DEPTHWISE_CONV2D_S8_PLANES_PROTOTYPE(name)                                              \
    MG_PROTOTYPE_SCRATCH(name, mg_depthwise_conv2d_s8_planes, int8_t)
#define MG_DEPTHWISE_CONV2D_S8_PLANES_KERNEL(name, ...)                                            \
    MG_KERNEL_SCRATCH(name, mg_depthwise_conv2d_s8_planes, int8_t, __VA_ARGS__)

#endif
