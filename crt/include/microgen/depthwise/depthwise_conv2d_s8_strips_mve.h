/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of any filters, without dilation, int8, for MVE: sums of sixteen taps.
 *
 * Eight channels at a time are copied to scratch memory, where each has a strip of its own:
 * [columns][lines] of the windows of some outputs. So each window is contiguous, although windows
 * overlap, and one instruction sums sixteen products. A strip has the lines of `rows` rows of
 * outputs, whose filters begin as many lines later; as many rows as need no more vectors for a
 * window. If rows of outputs are short, strips of several rows follow each other instead, and four
 * outputs at a time go through all of them. Sums contain products with the data's zero point, see
 * mve_rows.h. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_STRIPS_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_STRIPS_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve_rows.h"
#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

/* Of `rows` and `strips` one is 1. */
typedef struct {
    mg_depthwise_conv2d_s8_params layer; /* without dilation */
    int32_t rows;                        /* of outputs of a strip */
    int32_t strips;                      /* that follow each other */
} mg_depthwise_conv2d_s8_strips_mve_params;

#define MG_DEPTHWISE_CONV2D_S8_STRIPS_MVE_PROTOTYPE(name)                                          \
    MG_PROTOTYPE_SCRATCH(name, mg_depthwise_conv2d_s8_strips_mve, int8_t)

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_STRIP_CHANNELS 8 /* that are copied at a time */

/* What the outputs of a layer share. */
typedef struct {
    int32x4_t low;
    int32x4_t high;
    uint32x4_t lanes; /* offsets of four outputs */
} mg_mve_strip_vectors;

/* A filter and the strip of its channel, in the order in which the assembly loads it. `places` has
 * five words for each four outputs: where their windows begin in `values`, and the offset of the
 * first output. */
typedef struct {
    int32_t bias;
    int8_t *output;
    int32_t multiplier;
    int32_t shift;      /* to the left, so it is negative */
    const int32_t *end; /* of the places */
    int32_t offset;
    const int32_t *places;
    const int8_t *values;
    const int8_t *filter; /* [steps + 1][16] */
    int32_t steps;
    const mg_mve_strip_vectors *vectors;
    int32_t is_upward; /* 1 if it does not matter how ties of negative values are rounded */
} mg_mve_strip_filter;

#if defined(__OPTIMIZE__)

/* clang-format off */

/* Sums of sixteen products of four windows. */
#define MG_MVE_STRIP_STEP(sum)                                                                     \
    "vldrb.8 q4, [r7], #16\n"                                                                      \
    "vldrb.8 q5, [r1], #16\n"                                                                      \
    "vldrb.8 q6, [r3], #16\n"                                                                      \
    sum ".s8 r0, q4, q5\n"                                                                         \
    "vldrb.8 q5, [r5], #16\n"                                                                      \
    sum ".s8 r2, q4, q6\n"                                                                         \
    "vldrb.8 q6, [r8], #16\n"                                                                      \
    sum ".s8 r4, q4, q5\n"                                                                         \
    sum ".s8 r6, q4, q6\n"

#define MG_MVE_STRIP_TIES "vshr.s32 q4, q0, #31\nvadd.i32 q0, q0, q4\n"
#define MG_MVE_STRIP_TWICE(ties) "vqrdmulh.s32 q0, q0, r2\n" ties "vrshl.s32 q0, r4\n"
#define MG_MVE_STRIP_FLOAT                                                                         \
    "vcvt.f32.s32 q0, q0\n"                                                                        \
    "vmul.f32 q0, q0, r2\n"                                                                        \
    "vcvtn.s32.f32 q0, q0\n"

/* All outputs of a filter. In assembly, because GCC 12 spills registers. r7 may be a frame pointer
 * and is restored. */
#define MG_MVE_STRIP_OUTPUTS(scale)                                                                \
    "push {r0, r7}\n"                                                                              \
    "ldr r1, [r0, #40]\n"                                                                          \
    "add r0, r0, #24\n"                                                                            \
    "ldm r0, {r9, r10, r11, r12}\n"                                                                \
    "vldrw.32 q1, [r1]\n"                                                                          \
    "vldrw.32 q2, [r1, #16]\n"                                                                     \
    "vldrw.32 q3, [r1, #32]\n"                                                                     \
    "1:\n"                                                                                         \
    "ldm r9!, {r1, r3, r5, r8}\n"                                                                  \
    "mov r7, r11\n"                                                                                \
    "add r1, r1, r10\n"                                                                            \
    "add r3, r3, r10\n"                                                                            \
    "add r5, r5, r10\n"                                                                            \
    "add r8, r8, r10\n"                                                                            \
    MG_MVE_STRIP_STEP("vmladav")                                                                   \
    "wls lr, r12, 3f\n"                                                                            \
    "2:\n"                                                                                         \
    MG_MVE_STRIP_STEP("vmladava")                                                                  \
    "le lr, 2b\n"                                                                                  \
    "3:\n"                                                                                         \
    "vmov q0[2], q0[0], r0, r4\n"                                                                  \
    "ldr r7, [sp]\n"                                                                               \
    "vmov q0[3], q0[1], r2, r6\n"                                                                  \
    "ldr r3, [r9], #4\n"                                                                           \
    "ldm r7, {r0, r1, r2, r4, r5, r6}\n"                                                           \
    "vadd.i32 q0, q0, r0\n"                                                                        \
    scale                                                                                          \
    "vadd.i32 q0, q0, r6\n"                                                                        \
    "add r1, r1, r3\n"                                                                             \
    "vmax.s32 q0, q0, q1\n"                                                                        \
    "cmp r9, r5\n"                                                                                 \
    "vmin.s32 q0, q0, q2\n"                                                                        \
    "vstrb.32 q0, [r1, q3]\n"                                                                      \
    "bne 1b\n"                                                                                     \
    "pop {r0, r7}"

/* clang-format on */

#define MG_MVE_STRIP_ASM(scale)                                                                    \
    __asm__ volatile(MG_MVE_STRIP_OUTPUTS(scale)                                                   \
                     : "+r"(at)                                                                    \
                     :                                                                             \
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr",  \
                       "q0", "q1", "q2", "q3", "q4", "q5", "q6", "cc", "memory")

/* Out of line for all layers of a model. */
static __attribute__((noinline, unused)) void mg_mve_strip_outputs(const mg_mve_strip_filter *of)
{
    register const mg_mve_strip_filter *at __asm__("r0") = of;

    if (at->is_upward != 0) {
        MG_MVE_STRIP_ASM(MG_MVE_STRIP_TWICE(""));
    } else {
        MG_MVE_STRIP_ASM(MG_MVE_STRIP_TWICE(MG_MVE_STRIP_TIES));
    }
}

#ifdef MG_MVE_HAS_FLOATS
static __attribute__((noinline, unused)) void
mg_mve_strip_outputs_float(const mg_mve_strip_filter *of)
{
    register const mg_mve_strip_filter *at __asm__("r0") = of;

    MG_MVE_STRIP_ASM(MG_MVE_STRIP_FLOAT);
}
#endif

#else

/* The same in C, because without optimisation the assembly would need too many registers. */
MG_INLINE int32_t mg_mve_strip_sum(const mg_mve_strip_filter *of, const int8_t *values)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < (of->steps + 1) * MG_MVE_BYTES; i++) {
        sum += values[i] * of->filter[i];
    }
    return sum;
}

MG_INLINE void mg_mve_strip_all(const mg_mve_strip_filter *of, int requantization)
{
    for (const int32_t *at = of->places; at != of->end; at += 5) {
        int32x4_t x = mg_mve_lanes(
            mg_mve_strip_sum(of, of->values + at[0]), mg_mve_strip_sum(of, of->values + at[1]),
            mg_mve_strip_sum(of, of->values + at[2]), mg_mve_strip_sum(of, of->values + at[3]));
        x = vaddq_n_s32(x, of->bias);
        if (requantization == MG_ROUND_TWICE_NARROW) {
            x = vqrdmulhq_n_s32(x, of->multiplier);
            x = vrshlq_n_s32((of->is_upward != 0) ? x : mg_mve_ties_down(x), of->shift);
        }
#ifdef MG_MVE_HAS_FLOATS
        if (requantization == MG_ROUND_FLOAT_FPU) {
            x = mg_mve_scaled_in_float(x, vdupq_n_s32(of->multiplier));
        }
#endif
        x = vmaxq_s32(vaddq_n_s32(x, of->offset), of->vectors->low);
        vstrbq_scatter_offset_s32(of->output + at[4], of->vectors->lanes,
                                  vminq_s32(x, of->vectors->high));
    }
}

static __attribute__((noinline, unused)) void mg_mve_strip_outputs(const mg_mve_strip_filter *of)
{
    mg_mve_strip_all(of, MG_ROUND_TWICE_NARROW);
}

#ifdef MG_MVE_HAS_FLOATS
static __attribute__((noinline, unused)) void
mg_mve_strip_outputs_float(const mg_mve_strip_filter *of)
{
    mg_mve_strip_all(of, MG_ROUND_FLOAT_FPU);
}
#endif

#endif

MG_INLINE void mg_mve_strip_outputs_with(const mg_mve_strip_filter *of, int requantization)
{
    MG_MVE_EITHER(mg_mve_strip_outputs, requantization, of);
}

/* The sizes of a layer's strips, and their places in the scratch memory. */
typedef struct {
    int32_t lines;   /* bytes of a column */
    int32_t columns; /* of a strip, */
    int32_t left;    /* before the input, */
    int32_t inside;  /* and in it */
    int32_t channel; /* bytes of all strips of a channel, and a vector */
    int32_t steps;   /* vectors of a window after the first one */
    int32_t filter;  /* bytes of a filter: zeros for the lines before those of a row, and vectors */
    int32_t *places; /* of outputs, as in mg_mve_strip_filter */
    int8_t *values;  /* [8][channel] */
} mg_mve_strips;

MG_INLINE mg_mve_strips mg_mve_strips_of(const mg_depthwise_conv2d_s8_strips_mve_params *of,
                                         uint8_t *scratch)
{
    const mg_depthwise_conv2d_s8_params *p = &of->layer;
    const int32_t before = (of->rows - 1) * p->stride_height;
    const int32_t quads = (of->strips * p->output_width + 3) / 4;
    const int32_t columns = (p->output_width - 1) * p->stride_width + p->kernel_width;
    const mg_taps taps = mg_taps_inside(-p->pad_left, columns, 1, p->input_width);
    mg_mve_strips s = {before + p->kernel_height, columns, 0, 0, 0, 0, 0, NULL, NULL};

    if (taps.begin < taps.end) {
        s.left = taps.begin;
        s.inside = taps.end - taps.begin;
    }
    s.channel = of->strips * columns * s.lines + MG_MVE_BYTES;
    s.steps = (p->kernel_width * s.lines - 1) / MG_MVE_BYTES;
    s.filter = before + (s.steps + 1) * MG_MVE_BYTES;
    s.places = (int32_t *)(void *)scratch;
    s.values = (int8_t *)&s.places[5 * quads];
    return s;
}

/* Finds the windows of `count` outputs, four at a time. The last four outputs overlap those before;
 * if there are less than four, the last one is there several times. Returns the end. */
MG_INLINE const int32_t *mg_mve_strips_place(const mg_depthwise_conv2d_s8_params *p,
                                             const mg_mve_strips *s, int32_t count)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    int32_t *to = s->places;

    for (int32_t i = 0; i < count; i += 4) {
        const int32_t last = count - 4;
        const int32_t first = (i > last && last >= 0) ? last : i;
        for (int32_t k = first; k < first + 4; k++) {
            const int32_t output = (k < count) ? k : count - 1;
            const int32_t row = output / p->output_width;
            const int32_t column = (output - row * p->output_width) * p->stride_width;
            *to++ = (row * s->columns + column) * s->lines;
        }
        *to++ = first * channels;
    }
    return to;
}

/* Copies a line of the input to the strips of `count` channels, or fills it with zero points if
 * there is no such line. Columns beside the input have their zero points already. Out of line for
 * all layers. */
static __attribute__((noinline, unused)) void mg_mve_strips_line(const mg_mve_strips *s,
                                                                 const int8_t *line, int32_t zero,
                                                                 int32_t pixel, int32_t count,
                                                                 int8_t *to)
{
    const int32_t lines = s->lines;
    const uint16x8_t lanes = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)s->channel);
    const uint16x8_t second = vaddq_n_u16(lanes, (uint16_t)lines);
    const uint16x8_t third = vaddq_n_u16(second, (uint16_t)lines);
    const uint16x8_t fourth = vaddq_n_u16(third, (uint16_t)lines);
    int32_t left = s->inside;

    to += s->left * lines;
    if (line == NULL) {
        for (; left > 0; left--) {
            vstrbq_scatter_offset_s16(to, lanes, vdupq_n_s16((int16_t)zero));
            to += lines;
        }
        return;
    }
    if (count < MG_MVE_STRIP_CHANNELS) {
        const mve_pred16_t active = vctp16q((uint32_t)count);
        for (; left > 0; left--) {
            vstrbq_scatter_offset_s16(to, lanes, vldrbq_z_s16(line, active));
            line += pixel;
            to += lines;
        }
        return;
    }
    for (; left >= 4; left -= 4) {
        const int8_t *const next = line + pixel;
        const int8_t *const other = next + pixel;
        const int8_t *const last = other + pixel;
        vstrbq_scatter_offset_s16(to, lanes, vldrbq_s16(line));
        vstrbq_scatter_offset_s16(to, second, vldrbq_s16(next));
        vstrbq_scatter_offset_s16(to, third, vldrbq_s16(other));
        vstrbq_scatter_offset_s16(to, fourth, vldrbq_s16(last));
        line = last + pixel;
        to += 4 * lines;
    }
    for (; left > 0; left--) {
        vstrbq_scatter_offset_s16(to, lanes, vldrbq_s16(line));
        line += pixel;
        to += lines;
    }
}

/* The same for an input of one channel, eight columns at a time. */
static __attribute__((noinline, unused)) void
mg_mve_strips_line_of_one(const mg_mve_strips *s, const int8_t *line, int32_t zero, int8_t *to)
{
    const uint16x8_t lanes = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)s->lines);
    const int16x8_t zeros = vdupq_n_s16((int16_t)zero);

    to += s->left * s->lines;
    for (int32_t left = s->inside; left > 0; left -= MG_MVE_STRIP_CHANNELS) {
        const mve_pred16_t active = vctp16q((uint32_t)left);
        vstrbq_scatter_offset_p_s16(
            to, lanes, (line != NULL) ? vldrbq_z_s16(line + (s->inside - left), active) : zeros,
            active);
        to += MG_MVE_STRIP_CHANNELS * s->lines;
    }
}

/* Copies strips of channels c to c + count - 1 for outputs from row y on. If they `are_filled`
 * with zero points, lines that are not in the input are left as they are. */
MG_INLINE void mg_mve_strips_copy(const mg_depthwise_conv2d_s8_strips_mve_params *of,
                                  const mg_mve_strips *s, const int8_t *image, int32_t y, int32_t c,
                                  int32_t count, int32_t strips, int are_filled)
{
    const mg_depthwise_conv2d_s8_params *p = &of->layer;

    for (int32_t i = 0; i < strips; i++) {
        const int32_t top = (y + i) * p->stride_height - p->pad_top;
        int8_t *to = s->values + i * s->columns * s->lines;
        for (int32_t k = 0; k < s->lines; k++) {
            const int32_t row = top + k;
            const int8_t *line = NULL;
            if (row >= 0 && row < p->input_height && s->inside > 0) {
                line = &image[row * p->input_width * p->input_channels + c];
            }
            if (line == NULL && are_filled) {
                continue;
            }
            if (p->input_channels == 1) {
                mg_mve_strips_line_of_one(s, line, -p->input_offset, to + k);
            } else {
                mg_mve_strips_line(s, line, -p->input_offset, p->input_channels, count, to + k);
            }
        }
    }
}

/* Computes the filters of channels c to c + count - 1, for some rows from one at `output` on. */
MG_INLINE void mg_mve_strips_filters(const mg_depthwise_conv2d_s8_strips_mve_params *of,
                                     const mg_mve_strips *s, mg_mve_strip_filter *one,
                                     const int8_t *weight, const int32_t *bias,
                                     const int32_t *multiplier, const int8_t *shift, int32_t c,
                                     int32_t count, int32_t rows, int8_t *output,
                                     int requantization)
{
    const mg_depthwise_conv2d_s8_params *p = &of->layer;
    const int32_t until = (c + count) * p->depth_multiplier;
    const int32_t row = p->output_width * p->input_channels * p->depth_multiplier;
    int32_t left = p->depth_multiplier;

    one->values = s->values;
    for (int32_t k = c * p->depth_multiplier; k < until; k++) {
        one->bias = bias[k];
        one->multiplier = multiplier[k];
        one->shift = (requantization == MG_ROUND_FLOAT_FPU) ? 0 : -shift[k] - 1;
        one->filter = weight + k * s->filter + (of->rows - 1) * p->stride_height;
        one->output = output + k;
        for (int32_t i = rows; i > 0; i--) {
            mg_mve_strip_outputs_with(one, requantization);
            one->filter -= p->stride_height;
            one->output += row;
        }
        left--;
        if (left == 0) {
            left = p->depth_multiplier;
            one->values += s->channel;
        }
    }
}

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments, but with the input's
 * zero point in the bias, and with weights of int8 [channels][filter]: zeros for as many bytes as
 * the last row's filter begins later, and the columns of a filter, each followed by zeros for the
 * other rows' lines. Zeros make the columns whole vectors. `requantization` is
 * MG_ROUND_TWICE_NARROW or MG_ROUND_FLOAT_FPU. scratch, aligned to 4 bytes, has five words for each
 * four outputs of a row, or of all rows whose strips follow each other, and strips of eight
 * channels, or of one if there is one, each followed by a vector. */
MG_BODY(mg_depthwise_conv2d_s8_strips_mve, int8_t, uint8_t *scratch, int requantization)
{
    const mg_depthwise_conv2d_s8_params *l = &p->layer;
    const mg_mve_strips s = mg_mve_strips_of(p, scratch);
    const int32_t channels = l->input_channels * l->depth_multiplier;
    const int32_t most = p->rows * p->strips;
    mg_mve_strip_vectors vectors = {vdupq_n_s32(l->activation_min), vdupq_n_s32(l->activation_max),
                                    vdupq_n_u32(0)};
    mg_mve_strip_filter one = {
        0,        NULL, 0,    0,       NULL,     0,
        s.places, NULL, NULL, s.steps, &vectors, (l->activation_min >= l->output_offset) ? 1 : 0};
    int8_t *to = (int8_t *)output;

    one.offset = l->output_offset;
    (void)mg_mve_fill(s.values, -l->input_offset,
                      s.channel * ((l->input_channels == 1) ? 1 : MG_MVE_STRIP_CHANNELS));
    for (int32_t n = 0; n < l->batches; n++) {
        const int8_t *image =
            &input[mg_nhwc(n, 0, 0, l->input_height, l->input_width, l->input_channels)];
        for (int32_t y = 0; y < l->output_height; y += most) {
            const int32_t left = l->output_height - y;
            const int32_t rows = (left < most) ? left : most;
            const int32_t strips = (p->strips == 1) ? 1 : rows;
            const int32_t count = strips * l->output_width;
            one.end = mg_mve_strips_place(l, &s, count);
            vectors.lanes =
                vmulq_n_u32(vminq_u32(vidupq_n_u32(0, 1), vdupq_n_u32((uint32_t)count - 1U)),
                            (uint32_t)channels);
            for (int32_t c = 0; c < l->input_channels; c += MG_MVE_STRIP_CHANNELS) {
                const int32_t rest = l->input_channels - c;
                const int32_t block = (rest < MG_MVE_STRIP_CHANNELS) ? rest : MG_MVE_STRIP_CHANNELS;
                mg_mve_strips_copy(p, &s, image, y, c, block, strips, n == 0 && y == 0);
                mg_mve_strips_filters(p, &s, &one, weight, bias, multiplier, shift, c, block,
                                      (p->strips == 1) ? rows : 1, to, requantization);
            }
            to += rows * l->output_width * channels;
        }
    }
}

#define MG_DEPTHWISE_CONV2D_S8_STRIPS_MVE_KERNEL(name, ...)                                        \
    MG_KERNEL_SCRATCH(name, mg_depthwise_conv2d_s8_strips_mve, int8_t, __VA_ARGS__)

#else

#define MG_DEPTHWISE_CONV2D_S8_STRIPS_MVE_KERNEL(name, ...)                                        \
    MG_DEPTHWISE_CONV2D_S8_STRIPS_MVE_PROTOTYPE(name);

#endif

#endif
