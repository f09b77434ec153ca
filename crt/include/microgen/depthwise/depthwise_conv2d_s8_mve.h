/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int8 with int32 accumulators, for MVE: sixteen channels at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve.h"
#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s8_mve_params;

/* Computes the same as mg_depthwise_conv2d_s8_body with MG_ROUND_TWICE and the same arguments.
 * Weights must be at least -127, so that the sum of two products fits int16. scratch must be
 * aligned to 4 and have 4 * (kernel_height * kernel_width + output_channels) + input_channels
 * bytes, and output_channels more if depth_multiplier is greater than 1. */
MG_EXTERN void mg_depthwise_conv2d_s8_mve(MG_ARGUMENTS_S8(mg_depthwise_conv2d_s8_mve, int8_t),
                                          uint8_t *scratch);

#if defined(__ARM_FEATURE_MVE)

/* The tables in scratch. */
typedef struct {
    const int8_t **tap; /* [kernel_height][kernel_width]: the input pixel of each tap, or `zeros` */
    int32_t *start;     /* [output_channels]: bias + input_offset * sum of weights */
    int8_t *zeros;      /* [input_channels]: zero points */
    uint8_t *place;     /* [output_channels]: input channel relative to its vector's first one */
} mg_depthwise_conv2d_s8_mve_tables;

MG_INLINE mg_depthwise_conv2d_s8_mve_tables
mg_depthwise_conv2d_s8_mve_lay_out(const mg_depthwise_conv2d_s8_mve_params *p, uint8_t *scratch)
{
    const int32_t outputs = p->input_channels * p->depth_multiplier;
    mg_depthwise_conv2d_s8_mve_tables t;

    t.tap = (const int8_t **)(void *)scratch;
    t.start = (int32_t *)(void *)(t.tap + p->kernel_height * p->kernel_width);
    t.zeros = (int8_t *)(t.start + outputs);
    t.place = (uint8_t *)(t.zeros + p->input_channels);
    return t;
}

/* Fills the tables that all pixels use. */
MG_INLINE void mg_depthwise_conv2d_s8_mve_prepare(const mg_depthwise_conv2d_s8_mve_params *p,
                                                  const int8_t *weight, const int32_t *bias,
                                                  const mg_depthwise_conv2d_s8_mve_tables *t)
{
    const int32_t outputs = p->input_channels * p->depth_multiplier;

    (void)mg_mve_fill(t->zeros, -p->input_offset, p->input_channels);
    for (int32_t c = 0; c < outputs; c += 4) {
        const mve_pred16_t active = vctp32q((uint32_t)(outputs - c));
        int32x4_t sums = vdupq_n_s32(0);
        for (int32_t tap = 0; tap < p->kernel_height * p->kernel_width; tap++) {
            sums = vaddq_s32(sums, vldrbq_z_s32(&weight[tap * outputs + c], active));
        }
        sums = vmulq_n_s32(sums, p->input_offset);
        if (bias != NULL) {
            sums = vaddq_s32(sums, vldrwq_z_s32(&bias[c], active));
        }
        vstrwq_p_s32(&t->start[c], sums, active);
    }
    if (p->depth_multiplier > 1) {
        for (int32_t c = 0; c < outputs; c++) {
            const int32_t first = (c & ~(MG_MVE_BYTES - 1)) / p->depth_multiplier;
            t->place[c] = (uint8_t)(c / p->depth_multiplier - first);
        }
    }
}

/* Finds the input pixels under the window at (origin_y, origin_x). */
MG_INLINE void mg_depthwise_conv2d_s8_mve_find(const mg_depthwise_conv2d_s8_mve_params *p,
                                               const int8_t *image, int32_t origin_y,
                                               int32_t origin_x,
                                               const mg_depthwise_conv2d_s8_mve_tables *t)
{
    const int8_t **tap = t->tap;

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t y = origin_y + ky * p->dilation_height;
        const int32_t has_line = (y >= 0 && y < p->input_height) ? 1 : 0;
        for (int32_t kx = 0; kx < p->kernel_width; kx++) {
            const int32_t x = origin_x + kx * p->dilation_width;
            *tap++ = (has_line != 0 && x >= 0 && x < p->input_width)
                         ? &image[(y * p->input_width + x) * p->input_channels]
                         : t->zeros;
        }
    }
}

/* A block of up to sixteen channels, and the layer's parameters. `is_full` is a constant, so a full
 * block needs no predication. */
typedef struct {
    const mg_depthwise_conv2d_s8_mve_params *p;
    const mg_depthwise_conv2d_s8_mve_tables *t;
    const int8_t *weight;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t channel; /* the first */
    int32_t is_full;
    int32_t count; /* 1 to 16 */
} mg_depthwise_conv2d_s8_mve_block;

/* The results of channels `first`, `first` + 4, `first` + 8 and `first` + 12 of the block. */
MG_INLINE int32x4_t mg_depthwise_conv2d_s8_mve_result(const mg_depthwise_conv2d_s8_mve_block *b,
                                                      int32x4_t sums, int32_t first)
{
    const uint32x4_t places = vidupq_n_u32(0, 4);
    const int32_t channel = b->channel + first;
    const int32_t *start = &b->t->start[channel];
    const int32_t *multiplier = &b->multiplier[channel];
    int32x4_t total;
    int32x4_t m;
    int32x4_t s;

    if (b->is_full != 0) {
        total = vldrwq_gather_shifted_offset_s32(start, places);
        m = vldrwq_gather_shifted_offset_s32(multiplier, places);
        s = vldrbq_gather_offset_s32(&b->shift[channel], places);
    } else {
        const mve_pred16_t active = vcmpltq_n_s32(vreinterpretq_s32_u32(places), b->count - first);
        total = vldrwq_gather_shifted_offset_z_s32(start, places, active);
        m = vldrwq_gather_shifted_offset_z_s32(multiplier, places, active);
        s = vldrbq_gather_offset_z_s32(&b->shift[channel], places, active);
    }
    return mg_mve_offset_and_clamp(mg_mve_requantize(vaddq_s32(sums, total), m, s),
                                   b->p->output_offset, b->p->activation_min, b->p->activation_max);
}

/* Loads sixteen bytes, or as many as the block has channels. */
MG_INLINE int8x16_t mg_depthwise_conv2d_s8_mve_bytes(const mg_depthwise_conv2d_s8_mve_block *b,
                                                     const int8_t *from)
{
    return (b->is_full != 0) ? vldrbq_s8(from) : vldrbq_z_s8(from, vctp8q((uint32_t)b->count));
}

/* Loads the block's inputs of one tap. */
MG_INLINE int8x16_t mg_depthwise_conv2d_s8_mve_load(const mg_depthwise_conv2d_s8_mve_block *b,
                                                    int32_t tap)
{
    const int8_t *pixel = b->t->tap[tap];

    if (b->p->depth_multiplier == 1) {
        return mg_depthwise_conv2d_s8_mve_bytes(b, &pixel[b->channel]);
    }
    const mve_pred16_t active = vctp8q((uint32_t)b->count);
    const uint8x16_t places = vldrbq_z_u8(&b->t->place[b->channel], active);
    return vldrbq_gather_offset_z_s8(&pixel[b->channel / b->p->depth_multiplier], places, active);
}

/* Computes a block of channels of one pixel. MVE multiplies, and then widens to int32, even and odd
 * lanes separately. So sum_0 has channels 0 4 8 12, sum_2 has 2 6 10 14, sum_1 has 1 5 9 13 and
 * sum_3 has 3 7 11 15. */
MG_INLINE void mg_depthwise_conv2d_s8_mve_pixel(const mg_depthwise_conv2d_s8_mve_block *b,
                                                int8_t *output)
{
    const int32_t outputs = b->p->input_channels * b->p->depth_multiplier;
    const int32_t taps = b->p->kernel_height * b->p->kernel_width;
    const int8_t *w = &b->weight[b->channel];
    int32x4_t sum_0 = vdupq_n_s32(0);
    int32x4_t sum_1 = vdupq_n_s32(0);
    int32x4_t sum_2 = vdupq_n_s32(0);
    int32x4_t sum_3 = vdupq_n_s32(0);

    for (int32_t tap = 0; tap + 1 < taps; tap += 2) {
        int8x16_t x = mg_depthwise_conv2d_s8_mve_load(b, tap);
        int8x16_t v = mg_depthwise_conv2d_s8_mve_bytes(b, w);
        int16x8_t even = vmullbq_int_s8(x, v);
        int16x8_t odd = vmulltq_int_s8(x, v);
        x = mg_depthwise_conv2d_s8_mve_load(b, tap + 1);
        v = mg_depthwise_conv2d_s8_mve_bytes(b, w + outputs);
        even = vaddq_s16(even, vmullbq_int_s8(x, v));
        odd = vaddq_s16(odd, vmulltq_int_s8(x, v));
        w += 2 * outputs;
        sum_0 = vaddq_s32(sum_0, vmovlbq_s16(even));
        sum_2 = vaddq_s32(sum_2, vmovltq_s16(even));
        sum_1 = vaddq_s32(sum_1, vmovlbq_s16(odd));
        sum_3 = vaddq_s32(sum_3, vmovltq_s16(odd));
    }
    if (taps % 2 != 0) {
        const int8x16_t x = mg_depthwise_conv2d_s8_mve_load(b, taps - 1);
        const int8x16_t v = mg_depthwise_conv2d_s8_mve_bytes(b, w);
        const int16x8_t even = vmullbq_int_s8(x, v);
        const int16x8_t odd = vmulltq_int_s8(x, v);
        sum_0 = vaddq_s32(sum_0, vmovlbq_s16(even));
        sum_2 = vaddq_s32(sum_2, vmovltq_s16(even));
        sum_1 = vaddq_s32(sum_1, vmovlbq_s16(odd));
        sum_3 = vaddq_s32(sum_3, vmovltq_s16(odd));
    }
    mg_mve_keep_order();
    sum_0 = mg_depthwise_conv2d_s8_mve_result(b, sum_0, 0);
    mg_mve_keep_order();
    sum_2 = mg_depthwise_conv2d_s8_mve_result(b, sum_2, 2);
    mg_mve_keep_order();
    sum_1 = mg_depthwise_conv2d_s8_mve_result(b, sum_1, 1);
    mg_mve_keep_order();
    sum_3 = mg_depthwise_conv2d_s8_mve_result(b, sum_3, 3);

    const int16x8_t even = vmovntq_s32(vmovnbq_s32(vdupq_n_s16(0), sum_0), sum_2);
    const int16x8_t odd = vmovntq_s32(vmovnbq_s32(vdupq_n_s16(0), sum_1), sum_3);
    const int8x16_t result = vmovntq_s16(vmovnbq_s16(vdupq_n_s8(0), even), odd);
    vstrbq_p_s8(&output[b->channel], result, vctp8q((uint32_t)b->count));
}

/* Out of line, so that the operators of a model share it: the code is large, and it would gain
 * little from a constant shape. */
static __attribute__((noinline, unused)) void
mg_depthwise_conv2d_s8_mve_any(const mg_depthwise_conv2d_s8_mve_params *p, const int8_t *input,
                               const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                               const int8_t *shift, int8_t *output, uint8_t *scratch)
{
    const int32_t outputs = p->input_channels * p->depth_multiplier;
    const mg_depthwise_conv2d_s8_mve_tables t = mg_depthwise_conv2d_s8_mve_lay_out(p, scratch);

    mg_depthwise_conv2d_s8_mve_prepare(p, weight, bias, &t);
    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *image =
            &input[mg_nhwc(n, 0, 0, p->input_height, p->input_width, p->input_channels)];
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                mg_depthwise_conv2d_s8_mve_block block = {p,     &t, weight, multiplier,
                                                          shift, 0,  1,      0};
                mg_depthwise_conv2d_s8_mve_find(p, image, y * p->stride_height - p->pad_top,
                                                x * p->stride_width - p->pad_left, &t);
                for (; block.channel + MG_MVE_BYTES <= outputs; block.channel += MG_MVE_BYTES) {
                    block.is_full = 1;
                    block.count = MG_MVE_BYTES;
                    mg_depthwise_conv2d_s8_mve_pixel(&block, output);
                }
                if (outputs % MG_MVE_BYTES != 0) {
                    block.is_full = 0;
                    block.count = outputs % MG_MVE_BYTES;
                    mg_depthwise_conv2d_s8_mve_pixel(&block, output);
                }
                output += outputs;
            }
        }
    }
}

MG_INLINE void mg_depthwise_conv2d_s8_mve_body(MG_ARGUMENTS_S8(mg_depthwise_conv2d_s8_mve, int8_t),
                                               uint8_t *scratch)
{
    mg_depthwise_conv2d_s8_mve_any(p, input, weight, bias, multiplier, shift, output, scratch);
}

#ifdef MG_DEPTHWISE_CONV2D_S8_MVE_IMPLEMENTATION /* the out-of-line form */
void mg_depthwise_conv2d_s8_mve(MG_ARGUMENTS_S8(mg_depthwise_conv2d_s8_mve, int8_t),
                                uint8_t *scratch)
{
    mg_depthwise_conv2d_s8_mve_body(p, input, weight, bias, multiplier, shift, output, scratch);
}
#endif

#endif

#endif
