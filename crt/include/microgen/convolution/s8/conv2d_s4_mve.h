/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of int8 data with weights of 4 bits, for MVE. The kernel copies the windows of
 * four pixels into scratch memory, and unpacks the weights in registers. */
#ifndef MICROGEN_CONV2D_S4_MVE_H
#define MICROGEN_CONV2D_S4_MVE_H

#include <stddef.h>

#include "microgen/blocks/int4.h"
#include "microgen/blocks/mve.h"
#include "microgen/convolution/s8/conv2d_s4.h"
#include "microgen/convolution/s8/conv2d_s8_mve.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_s4_params mg_conv2d_s4_mve_params;

/* Computes the same as mg_conv2d_s4_body with MG_ROUND_TWICE and the same arguments, for one group.
 * scratch must have 4 * kernel_height * kernel_width * input_channels bytes. */
MG_EXTERN void mg_conv2d_s4_mve(MG_ARGUMENTS_S8(mg_conv2d_s4_mve, uint8_t), uint8_t *scratch);

#if defined(__ARM_FEATURE_MVE)

/* The sums of products of one filter with the windows of four pixels, and of its weights times the
 * input's offset. */
MG_INLINE int32x4_t mg_conv2d_s4_mve_dot(const mg_mve_layer *p,
                                         const int8_t *const row[MG_MVE_ROWS],
                                         const uint8_t *filter)
{
    const uint8_t *w = filter;
    const int8_t *a = row[0];
    const int8_t *b = row[1];
    const int8_t *d = row[2];
    const int8_t *e = row[3];
    int32_t sum_a = 0;
    int32_t sum_b = 0;
    int32_t sum_d = 0;
    int32_t sum_e = 0;
    int32_t weights = 0;
#if defined(__OPTIMIZE__)
    /* As in mg_mve_pixels. Eight bytes are loaded into the lower halves of eight lanes. Then the
     * lower weight moves to the upper half of its lane's lower byte, and the lane's upper byte
     * becomes a copy of both. Shifting all bytes to the right extends the signs. */
    __asm__(
        "dlstp.8 lr, %[depth]\n"
        "1:\n\t"
        "vldrb.u16 q3, [%[w]], #8\n\t"
        "vldrb.8 q1, [%[a]], #16\n\t"
        "vshl.i16 q0, q3, #4\n\t"
        "vsli.16 q0, q3, #8\n\t"
        "vshr.s8 q0, q0, #4\n\t"
        "vaddva.s8 %[weights], q0\n\t"
        "vmladava.s8 %[sum_a], q0, q1\n\t"
        "vldrb.8 q2, [%[b]], #16\n\t"
        "vmladava.s8 %[sum_b], q0, q2\n\t"
        "vldrb.8 q1, [%[d]], #16\n\t"
        "vmladava.s8 %[sum_d], q0, q1\n\t"
        "vldrb.8 q2, [%[e]], #16\n\t"
        "vmladava.s8 %[sum_e], q0, q2\n\t"
        "letp lr, 1b"
        : [w] "+l"(w), [a] "+r"(a), [b] "+r"(b), [d] "+r"(d), [e] "+r"(e), [weights] "+Te"(weights),
          [sum_a] "+Te"(sum_a), [sum_b] "+Te"(sum_b), [sum_d] "+Te"(sum_d), [sum_e] "+Te"(sum_e)
        : [depth] "r"(p->depth)
        : "lr", "q0", "q1", "q2", "q3", "memory");
#else
    for (int32_t k = 0; k < p->depth; k++) {
        const int32_t weight = (k % 2 == 0) ? mg_low_s4(*w) : mg_high_s4(*w++);
        weights += weight;
        sum_a += weight * a[k];
        sum_b += weight * b[k];
        sum_d += weight * d[k];
        sum_e += weight * e[k];
    }
#endif
    return vaddq_n_s32(mg_mve_lanes(sum_a, sum_b, sum_d, sum_e), p->input_offset * weights);
}

/* Computes all output channels of up to four pixels, as mg_mve_pixels. */
MG_INLINE void mg_conv2d_s4_mve_pixels(const mg_mve_layer *p, const int8_t *const row[MG_MVE_ROWS],
                                       int32_t count, const uint8_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const int8_t *shift,
                                       int8_t *output)
{
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)p->channels);
    const mve_pred16_t stored = vctp32q((uint32_t)count);

    for (int32_t c = 0; c < p->channels; c++) {
        const int32x4_t products =
            mg_conv2d_s4_mve_dot(p, row, &weight[c * mg_row_bytes_s4(p->depth)]);
        const int32x4_t sums = vaddq_n_s32(products, (bias != NULL) ? bias[c] : 0);
        const int32x4_t scaled = mg_mve_requantize_n(sums, multiplier[c], shift[c]);
        const int32x4_t result =
            mg_mve_offset_and_clamp(scaled, p->output_offset, p->activation_min, p->activation_max);
        vstrbq_scatter_offset_p_s32(output + c, places, result, stored);
    }
}

MG_INLINE void mg_conv2d_s4_mve_body(MG_ARGUMENTS_S8(mg_conv2d_s4_mve, uint8_t), uint8_t *scratch)
{
    const mg_mve_layer layer =
        MG_MVE_LAYER_OF(p, p->kernel_height * p->kernel_width * p->input_channels);
    const int32_t pixels = p->batches * p->output_height * p->output_width;
    int8_t *rows = (int8_t *)scratch;
    const int8_t *const row[MG_MVE_ROWS] = {rows, rows + layer.depth, rows + 2 * layer.depth,
                                            rows + 3 * layer.depth};

    for (int32_t first = 0; first < pixels; first += MG_MVE_ROWS) {
        const int32_t count = (pixels - first < MG_MVE_ROWS) ? pixels - first : MG_MVE_ROWS;
        for (int32_t i = 0; i < MG_MVE_ROWS; i++) {
            mg_conv2d_s8_mve_window(p, input, first + ((i < count) ? i : 0),
                                    rows + i * layer.depth);
        }
        mg_conv2d_s4_mve_pixels(&layer, row, count, weight, bias, multiplier, shift,
                                &output[first * p->output_channels]);
    }
}

#ifdef MG_CONV2D_S4_MVE_IMPLEMENTATION /* the out-of-line form */
void mg_conv2d_s4_mve(MG_ARGUMENTS_S8(mg_conv2d_s4_mve, uint8_t), uint8_t *scratch)
{
    mg_conv2d_s4_mve_body(p, input, weight, bias, multiplier, shift, output, scratch);
}
#endif

#endif

#endif
