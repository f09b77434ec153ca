/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution with filters of up to 4x4, int8, for MVE: one vector is a window.
 *
 * Eight channels at a time are copied to scratch memory, where each channel has, for all places
 * along one axis, a ring of four bytes along the other axis. So sixteen consecutive bytes are a
 * window of 4x4 values, of which one instruction sums the products with the filter. After each step
 * along the ring's axis, the filter is rotated instead of the data. The axis with more outputs is
 * the one without the ring. Sums contain products with the data's zero point, see mve_rows.h. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_RING_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_RING_MVE_H

#include "microgen/blocks/mve_axis.h"
#include "microgen/blocks/mve_rows.h"
#include "microgen/depthwise/depthwise_conv2d_s8_compact.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_depthwise_conv2d_s8_compact mg_depthwise_conv2d_s8_ring_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Bytes of a ring: for filters with several values around it, and for those with one. A constant of
 * the body, so that firmware has the loops of the rings that its layers have. */
#define MG_MVE_RING 4
#define MG_MVE_LINE 1

#define MG_MVE_CHANNELS 8 /* that are copied at a time */

/* A layer, and the block of channels that is computed. */
typedef struct {
    mg_mve_axis along;  /* four outputs at a time */
    mg_mve_axis around; /* the ring's */
    mg_mve_rows rows;   /* scales, offset and clamp */
    int32_t line;       /* bytes of a channel in `values` */
    int32_t count;      /* channels of the block */
    int8_t *filters;    /* [8][16] */
    int8_t *values;     /* [8][line] */
} mg_mve_ring;

/* Bytes of a channel's line: rings for all windows that are computed. These are four at a time, and
 * always more than the outputs. */
MG_INLINE int32_t mg_mve_ring_line(const mg_mve_axis *along, int32_t bytes)
{
    const int32_t windows = (along->outputs & -4) + 4;
    return (windows - 1) * along->stride * bytes + MG_MVE_BYTES;
}

/* Lays out the block's filters for the first window. Bytes without a weight are 0. */
MG_INLINE void mg_mve_ring_filters(const mg_mve_ring *r, const int8_t *weight, int32_t bytes)
{
    const uint16x8_t lanes = vmulq_n_u16(vidupq_n_u16(0, 1), MG_MVE_BYTES);
    const mve_pred16_t active = vctp16q((uint32_t)r->count);

    (void)mg_mve_fill(r->filters, 0, MG_MVE_CHANNELS * MG_MVE_BYTES);
    for (int32_t i = 0; i < r->along.kernel; i++) {
        for (int32_t j = 0; j < r->around.kernel; j++) {
            const int8_t *from = weight + i * r->along.weight_step + j * r->around.weight_step;
            vstrbq_scatter_offset_p_s16(r->filters + i * bytes + j, lanes,
                                        vldrbq_z_s16(from, active), active);
        }
    }
}

/* Copies the values of all channels of the block at one place of the ring's axis. `input` points to
 * them, or is NULL if the place is outside of the input. */
MG_INLINE void mg_mve_ring_copy(const mg_mve_ring *r, const int8_t *input, int32_t zero, int8_t *to,
                                int32_t bytes)
{
    const uint16x8_t lanes = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)r->line);
    const int32_t step = r->along.input_step; /* stores might change the struct, but not this */
    const int32_t places = r->line / bytes - r->along.pad;
    const int32_t size = (r->along.size < places) ? r->along.size : places;

    to += r->along.pad * bytes;
    if (input == NULL) {
        for (int32_t i = size; i > 0; i--) {
            vstrbq_scatter_offset_s16(to, lanes, vdupq_n_s16((int16_t)zero));
            to += bytes;
        }
    } else if (r->count >= MG_MVE_CHANNELS) {
        for (int32_t i = size; i > 0; i--) {
            vstrbq_scatter_offset_s16(to, lanes, vldrbq_s16(input));
            input += step;
            to += bytes;
        }
    } else {
        const mve_pred16_t active = vctp16q((uint32_t)r->count);
        for (int32_t i = size; i > 0; i--) {
            vstrbq_scatter_offset_s16(to, lanes, vldrbq_z_s16(input, active));
            input += step;
            to += bytes;
        }
    }
}

/* A channel of a block, in the order in which the assembly loads it. */
typedef struct {
    int32_t bias;
    int32_t multiplier;
    int32_t shift; /* to the left, so it is negative */
    int32_t offset;
    int32_t step; /* from four outputs to the next, in bytes */
    const int8_t *from;
    int8_t *to;
    int32_t quads; /* of outputs */
} mg_mve_ring_channel;

/* What the channels of a block have in common. */
typedef struct {
    uint32x4_t lanes; /* offsets of four outputs */
    int32x4_t low;
    int32x4_t high;
    int32_t is_upward; /* 1 if it does not matter how ties of negative values are rounded */
    int32_t apart;     /* bytes from window to window */
} mg_mve_ring_vectors;

/* The sums of four windows, of which the first begins at `from`, and the others each `apart` bytes
 * later. */
MG_INLINE int32x4_t mg_mve_ring_sums(int8x16_t filter, const int8_t *from, int32_t apart)
{
    return mg_mve_four(vmladavq_s8(filter, vldrbq_s8(from)),
                       vmladavq_s8(filter, vldrbq_s8(from + apart)),
                       vmladavq_s8(filter, vldrbq_s8(from + 2 * apart)),
                       vmladavq_s8(filter, vldrbq_s8(from + 3 * apart)));
}

/* The outputs of four windows. */
MG_INLINE int32x4_t mg_mve_ring_scaled(const mg_mve_ring_vectors *all,
                                       const mg_mve_ring_channel *one, int32x4_t sums,
                                       int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        return mg_mve_scaled_in_float(sums, vdupq_n_s32(one->multiplier));
    }
#endif
    (void)requantization;
    const int32x4_t x = vqrdmulhq_n_s32(sums, one->multiplier);
    return vrshlq_n_s32((all->is_upward != 0) ? x : mg_mve_ties_down(x), one->shift);
}

MG_INLINE int32x4_t mg_mve_ring_outputs(const mg_mve_ring_vectors *all,
                                        const mg_mve_ring_channel *one, int32x4_t sums,
                                        int requantization)
{
    const int32x4_t x = mg_mve_ring_scaled(all, one, vaddq_n_s32(sums, one->bias), requantization);
    return vminq_s32(vmaxq_s32(vaddq_n_s32(x, one->offset), all->low), all->high);
}

#if defined(__OPTIMIZE__)

/* Four windows of `step` bytes: requantizes their sums, which are in r0 to r6, while it sums the
 * products of the next four. In assembly, because GCC 12 spills registers, and places each step of
 * the requantization directly after the one whose result it needs. */
#define MG_MVE_RING_LOOP(first, then)                                                              \
    "ldm %[one], {r1, r3, r5, r8, r9, r10, r11}\n\t"                                               \
    "ldr lr, [%[one], #28]\n\t"                                                                    \
    "vldrb.8 %q[a], [r10], %[s16]\n\t"                                                             \
    "vldrb.8 %q[b], [r10, %[s12]]\n\t"                                                             \
    "vldrb.8 %q[d], [r10, %[s8]]\n\t"                                                              \
    "vmladav.s8 r0, %q[filter], %q[a]\n\t"                                                         \
    "vldrb.8 %q[a], [r10, %[s4]]\n\t"                                                              \
    "vmladav.s8 r2, %q[filter], %q[b]\n\t"                                                         \
    "vmladav.s8 r4, %q[filter], %q[d]\n\t"                                                         \
    "vmladav.s8 r6, %q[filter], %q[a]\n\t"                                                         \
    "wls lr, lr, 2f\n"                                                                             \
    "1:\n\t"                                                                                       \
    "vmov %q[x][2], %q[x][0], r0, r4\n\t"                                                          \
    "vmov %q[x][3], %q[x][1], r2, r6\n\t"                                                          \
    "vldrb.8 %q[a], [r10], %[s16]\n\t"                                                             \
    "vadd.i32 %q[x], %q[x], r1\n\t"                                                                \
    "vldrb.8 %q[b], [r10, %[s12]]\n\t" first "vldrb.8 %q[d], [r10, %[s8]]\n\t"                     \
    "vmladav.s8 r0, %q[filter], %q[a]\n\t" then "vmladav.s8 r2, %q[filter], %q[b]\n\t"             \
    "vadd.i32 %q[x], %q[x], r8\n\t"                                                                \
    "vldrb.8 %q[a], [r10, %[s4]]\n\t"                                                              \
    "vmax.s32 %q[x], %q[x], %q[low]\n\t"                                                           \
    "vmladav.s8 r4, %q[filter], %q[d]\n\t"                                                         \
    "vmin.s32 %q[x], %q[x], %q[high]\n\t"                                                          \
    "vmladav.s8 r6, %q[filter], %q[a]\n\t"                                                         \
    "vstrb.32 %q[x], [r11, %q[lanes]]\n\t"                                                         \
    "add r11, r11, r9\n\t"                                                                         \
    "le lr, 1b\n"                                                                                  \
    "2:\n\t"                                                                                       \
    "vmov %q[x][2], %q[x][0], r0, r4\n\t"                                                          \
    "vmov %q[x][3], %q[x][1], r2, r6"
#define MG_MVE_RING_HIGH "vqrdmulh.s32 %q[x], %q[x], r3\n\t"
#define MG_MVE_RING_SHIFT "vrshl.s32 %q[x], r5\n\t"
#define MG_MVE_RING_TIES "vshr.s32 %q[a], %q[x], #31\n\tvadd.i32 %q[x], %q[x], %q[a]\n\t"
#define MG_MVE_RING_FLOAT "vcvt.f32.s32 %q[x], %q[x]\n\t"
#define MG_MVE_RING_INTEGER                                                                        \
    "vmul.f32 %q[x], %q[x], r3\n\t"                                                                \
    "vcvtn.s32.f32 %q[x], %q[x]\n\t"
#ifdef MG_MVE_HAS_FLOATS
#define MG_MVE_RING_IN_FLOAT(apart)                                                                \
    MG_MVE_RING_ASM_OF(apart, MG_MVE_RING_FLOAT, MG_MVE_RING_INTEGER)
#else
#define MG_MVE_RING_IN_FLOAT(apart) x = vdupq_n_s32(apart)
#endif
#define MG_MVE_RING_ASM(apart)                                                                     \
    if (requantization == MG_ROUND_FLOAT_FPU) {                                                    \
        MG_MVE_RING_IN_FLOAT(apart);                                                               \
    } else if (all->is_upward != 0) {                                                              \
        MG_MVE_RING_ASM_OF(apart, MG_MVE_RING_HIGH, MG_MVE_RING_SHIFT);                            \
    } else {                                                                                       \
        MG_MVE_RING_ASM_OF(apart, MG_MVE_RING_HIGH, MG_MVE_RING_TIES MG_MVE_RING_SHIFT);           \
    }
#define MG_MVE_RING_ASM_OF(apart, first, then)                                                     \
    __asm__ volatile(MG_MVE_RING_LOOP(first, then)                                                 \
                     : [x] "=&w"(x), [a] "=&w"(a), [b] "=&w"(b), [d] "=&w"(d)                      \
                     : [s16] "i"(4 * (apart)), [s12] "i"(-3 * (apart)), [s8] "i"(-2 * (apart)),    \
                       [s4] "i"(-(apart)), [one] "r"(one), [filter] "w"(filter),                   \
                       [low] "w"(all->low), [high] "w"(all->high), [lanes] "w"(all->lanes)         \
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr",   \
                       "memory")

/* Stores all whole groups of four outputs, and returns the sums of the last windows. */
MG_INLINE int32x4_t mg_mve_ring_whole(const mg_mve_ring_vectors *all,
                                      const mg_mve_ring_channel *one, int8x16_t filter,
                                      int32_t bytes, int requantization)
{
    int32x4_t x;
    int32x4_t a;
    int32x4_t b;
    int32x4_t d;

    if (bytes == MG_MVE_RING) {
        if (all->apart == MG_MVE_RING) {
            MG_MVE_RING_ASM(MG_MVE_RING);
        } else {
            MG_MVE_RING_ASM(2 * MG_MVE_RING);
        }
    } else if (all->apart == MG_MVE_LINE) {
        MG_MVE_RING_ASM(MG_MVE_LINE);
    } else {
        MG_MVE_RING_ASM(2 * MG_MVE_LINE);
    }
    return x;
}

#else

MG_INLINE int32x4_t mg_mve_ring_whole(const mg_mve_ring_vectors *all,
                                      const mg_mve_ring_channel *one, int8x16_t filter,
                                      int32_t bytes, int requantization)
{
    const int8_t *from = one->from;
    int8_t *to = one->to;

    (void)bytes;
    for (int32_t left = one->quads; left > 0; left--) {
        const int32x4_t sums = mg_mve_ring_sums(filter, from, all->apart);
        const int32x4_t x = mg_mve_ring_outputs(all, one, sums, requantization);
        vstrbq_scatter_offset_s32(to, all->lanes, x);
        from += 4 * all->apart;
        to += one->step;
    }
    return mg_mve_ring_sums(filter, from, all->apart);
}

#endif

/* Rotates each ring of a filter by as many bytes as a window moves. */
MG_INLINE int8x16_t mg_mve_ring_rotated(int8x16_t filter, int32_t stride)
{
    const uint32x4_t rings = vreinterpretq_u32_s8(filter);
    return vreinterpretq_s8_u32((stride == 1) ? vsriq_n_u32(vshlq_n_u32(rings, 8), rings, 24)
                                              : vsriq_n_u32(vshlq_n_u32(rings, 16), rings, 16));
}

/* Computes the block's channels, from c on, at one place of the ring's axis. */
MG_INLINE void mg_mve_ring_place(const mg_mve_ring *r, int32_t c, int8_t *output, int32_t bytes,
                                 int requantization)
{
    const mg_mve_ring_vectors all = {
        vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)r->along.output_step),
        vdupq_n_s32(r->rows.activation_min),
        vdupq_n_s32(r->rows.activation_max),
        (r->rows.activation_min >= r->rows.output_offset) ? 1 : 0,
        bytes * r->along.stride,
    };
    const int32_t left = r->along.outputs & 3;
    const mve_pred16_t active = vctp32q((uint32_t)left);
    mg_mve_ring_channel one = {0,
                               0,
                               0,
                               r->rows.output_offset,
                               4 * r->along.output_step,
                               r->values,
                               output,
                               r->along.outputs / 4};
    int8_t *place = r->filters;

    for (int32_t k = c; k < c + r->count; k++) {
        const int8x16_t filter = vldrbq_s8(place);
        one.bias = r->rows.bias[k];
        one.multiplier = r->rows.multiplier[k];
        one.shift = (requantization == MG_ROUND_FLOAT_FPU) ? 0 : ~r->rows.shift[k];
        const int32x4_t rest = mg_mve_ring_whole(&all, &one, filter, bytes, requantization);
        if (left != 0) {
            vstrbq_scatter_offset_p_s32(one.to + one.quads * one.step, all.lanes,
                                        mg_mve_ring_outputs(&all, &one, rest, requantization),
                                        active);
        }
        if (bytes == MG_MVE_RING) {
            vstrbq_s8(place, mg_mve_ring_rotated(filter, r->along.stride));
        }
        place += MG_MVE_BYTES;
        one.from += r->line;
        one.to++;
    }
}

/* Computes a block from channel c on, for one image. */
MG_INLINE void mg_mve_ring_block(const mg_mve_ring *r, const int8_t *input, int32_t c,
                                 int8_t *output, int32_t zero, int32_t bytes, int requantization)
{
    int32_t filled = 0; /* places of the ring's axis, with its padding */

    (void)mg_mve_fill(r->values, zero, MG_MVE_CHANNELS * r->line);
    for (int32_t i = 0; i < r->around.outputs; i++) {
        for (; filled < i * r->around.stride + r->around.kernel; filled++) {
            const int32_t at = filled - r->around.pad;
            const int is_inside = at >= 0 && at < r->around.size;
            mg_mve_ring_copy(r, is_inside ? input + at * r->around.input_step : NULL, zero,
                             r->values + (filled & (bytes - 1)), bytes);
        }
        mg_mve_ring_place(r, c, output, bytes, requantization);
        output += r->around.output_step;
    }
}

/* All blocks of channels of all images. */
MG_INLINE void mg_mve_ring_blocks(const mg_depthwise_conv2d_s8_ring_mve_params *p, mg_mve_ring *r,
                                  const int8_t *input, int8_t *output, int32_t bytes,
                                  int requantization)
{
    const int32_t channels = p->input_channels;

    for (int32_t c = 0; c < channels; c += MG_MVE_CHANNELS) {
        r->count = (channels - c < MG_MVE_CHANNELS) ? channels - c : MG_MVE_CHANNELS;
        for (int32_t n = 0; n < p->batches; n++) {
            mg_mve_ring_filters(r, r->rows.weight + c, bytes);
            mg_mve_ring_block(r, input + n * p->input_height * p->input_width * channels + c, c,
                              output + n * p->output_height * p->output_width * channels + c,
                              -p->input_offset, bytes, requantization);
        }
    }
}

/* The same with MG_MVE_RING and with MG_MVE_LINE, out of line, so that layers of a model share
 * them. */
#define MG_MVE_RING_FUNCTION(name, bytes, requantization)                                          \
    static __attribute__((noinline, unused)) void name(                                            \
        const mg_depthwise_conv2d_s8_ring_mve_params *p, mg_mve_ring *r, const int8_t *input,      \
        int8_t *output)                                                                            \
    {                                                                                              \
        mg_mve_ring_blocks(p, r, input, output, bytes, requantization);                            \
    }

MG_MVE_RING_FUNCTION(mg_mve_ring_compute, MG_MVE_RING, MG_ROUND_TWICE_NARROW)
MG_MVE_RING_FUNCTION(mg_mve_line_compute, MG_MVE_LINE, MG_ROUND_TWICE_NARROW)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_RING_FUNCTION(mg_mve_ring_compute_float, MG_MVE_RING, MG_ROUND_FLOAT_FPU)
MG_MVE_RING_FUNCTION(mg_mve_line_compute_float, MG_MVE_LINE, MG_ROUND_FLOAT_FPU)
#endif

/* One of these. */
MG_INLINE void mg_mve_ring_any(const mg_depthwise_conv2d_s8_ring_mve_params *p, mg_mve_ring *r,
                               const int8_t *input, int8_t *output, int32_t bytes,
                               int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        if (bytes == MG_MVE_RING) {
            mg_mve_ring_compute_float(p, r, input, output);
        } else {
            mg_mve_line_compute_float(p, r, input, output);
        }
        return;
    }
#endif
    (void)requantization;
    if (bytes == MG_MVE_RING) {
        mg_mve_ring_compute(p, r, input, output);
    } else {
        mg_mve_line_compute(p, r, input, output);
    }
}

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments. `bytes` is MG_MVE_RING
 * for filters of up to 4x4 values with one stride, or MG_MVE_LINE for filters of up to 16 along the
 * axis with more outputs and one along the other. Strides are 1 or 2. The bias contains the input's
 * zero point. `requantization` is MG_ROUND_TWICE_NARROW or MG_ROUND_FLOAT_FPU. scratch has the
 * bytes of eight filters and eight lines, see mg_mve_ring_line. Padding before the first place is
 * less than the filter. The output may be the input if they have the same shape. */
MG_BODY(mg_depthwise_conv2d_s8_ring_mve, int8_t, uint8_t *scratch, int32_t bytes,
        int requantization)
{
    const int is_tall = p->output_height >= p->output_width;
    const mg_mve_axis along = is_tall ? mg_mve_axis_of_rows(p) : mg_mve_axis_of_columns(p);
    const mg_mve_axis around = is_tall ? mg_mve_axis_of_columns(p) : mg_mve_axis_of_rows(p);
    const mg_mve_rows scales = {weight,
                                bias,
                                multiplier,
                                shift,
                                p->input_channels,
                                p->output_offset,
                                p->activation_min,
                                p->activation_max};
    int8_t *filters = (int8_t *)scratch;
    mg_mve_ring ring = {along,
                        around,
                        scales,
                        mg_mve_ring_line(&along, bytes),
                        0,
                        filters,
                        filters + MG_MVE_CHANNELS * MG_MVE_BYTES};

    mg_mve_ring_any(p, &ring, input, (int8_t *)output, bytes, requantization);
}

#define MG_DEPTHWISE_CONV2D_S8_RING_MVE_KERNEL(name, shifts, ...)                                  \
    MG_KERNEL_COMPACT_SCRATCH(name, mg_depthwise_conv2d_s8_ring_mve, int8_t, shifts, __VA_ARGS__)

#else

#define MG_DEPTHWISE_CONV2D_S8_RING_MVE_KERNEL(name, shifts, ...)                                  \
    MG_DEPTHWISE_CONV2D_S8_RING_MVE_PROTOTYPE(name, shifts);

#endif

#define MG_DEPTHWISE_CONV2D_S8_RING_MVE_PROTOTYPE(name, shifts)                                    \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, mg_depthwise_conv2d_s8_ring_mve, int8_t, shifts)

#endif
