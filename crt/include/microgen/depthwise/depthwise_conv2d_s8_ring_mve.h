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

#include <stddef.h>

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
#define MG_MVE_WINDOWS 8  /* outputs that are computed at a time */

/* A layer, and the block of channels that is computed. */
typedef struct {
    mg_mve_axis along;  /* four or eight outputs at a time */
    mg_mve_axis around; /* the ring's */
    mg_mve_rows rows;   /* scales, offset and clamp */
    int32_t line;       /* bytes of a channel in `values` */
    int32_t count;      /* channels of the block */
    int8_t *filters;    /* [8][16] */
    int8_t *values;     /* [8][line] */
} mg_mve_ring;

/* Bytes of a channel's line: rings for all windows. What is read after them changes no output. */
MG_INLINE int32_t mg_mve_ring_line(const mg_mve_axis *along, int32_t bytes)
{
    return (along->outputs - 1) * along->stride * bytes + MG_MVE_BYTES;
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

/* The channels of a block that are left, in the order in which the assembly loads it. All are
 * computed at one place of the ring's axis, or at two: eight outputs at a time, or two times four.
 */
typedef struct {
    int8_t *filter;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift; /* not read with MG_ROUND_FLOAT_FPU */
    const int8_t *from;
    int8_t *to;
    int32_t line;  /* from channel to channel of the values, in bytes */
    int32_t whole; /* eights or fours, 1 if there is not one */
    int32_t step;  /* from outputs to the next, in bytes */
    int32_t tail;  /* which bytes of a vector are the last outputs, 0 if there are none */
    int32_t valid; /* which bytes of a vector are the others */
    int32_t count; /* channels */
    int32_t offset;
    int32_t has_ties; /* 1 if it matters how ties of negative values are rounded */
    uint16x8_t lanes; /* offsets of eight outputs */
    int16x8_t low;
    int16x8_t high;
    int32_t outputs; /* along the line */
    int32_t along;   /* from output to output, in bytes */
    int32_t around;
    int32_t places; /* 1 or 2 */
    int32_t stride;
} mg_mve_ring_channels;

#if defined(__OPTIMIZE__)

/* clang-format off */

#define MG_MVE_RING_AT(times) "[r5, %[apart] * " times "]"
#define MG_MVE_RING_ON "[r5, %[apart] * 8]!"

/* Of eight windows of one place four at a time are summed: in r0, r2, r4, r8 those with even
 * numbers, then the odd ones. */
#define MG_MVE_RING_FIRST                                                                          \
    "vldrb.8 q5, [r5]\n"                                                                           \
    "vldrb.8 q1, " MG_MVE_RING_AT("2") "\n"                                                        \
    "vmladav.s8 r0, q0, q5\n"                                                                      \
    "vldrb.8 q5, " MG_MVE_RING_AT("4") "\n"                                                        \
    "vmladav.s8 r2, q0, q1\n"                                                                      \
    "vldrb.8 q1, " MG_MVE_RING_AT("6") "\n"                                                        \
    "vmladav.s8 r4, q0, q5\n"                                                                      \
    "vmladav.s8 r8, q0, q1\n"
#define MG_MVE_RING_SECOND                                                                         \
    "vldrb.8 q5, " MG_MVE_RING_AT("1") "\n"                                                        \
    "vldrb.8 q1, " MG_MVE_RING_AT("3") "\n"                                                        \
    "vmov q2[2], q2[0], r0, r4\n"                                                                  \
    "vmladav.s8 r0, q0, q5\n"                                                                      \
    "vldrb.8 q5, " MG_MVE_RING_AT("5") "\n"                                                        \
    "vmov q2[3], q2[1], r2, r8\n"                                                                  \
    "vmladav.s8 r2, q0, q1\n"                                                                      \
    "vldrb.8 q1, " MG_MVE_RING_AT("7") "\n"                                                        \
    "vmladav.s8 r4, q0, q5\n"                                                                      \
    "vldrb.8 q5, " MG_MVE_RING_ON "\n"                                                             \
    "vmladav.s8 r8, q0, q1\n"                                                                      \
    "vldrb.8 q1, " MG_MVE_RING_AT("2") "\n"                                                        \
    "vmov q3[2], q3[0], r0, r4\n"                                                                  \
    "vmov q3[3], q3[1], r2, r8\n"
#define MG_MVE_RING_NEXT_0 "vmladav.s8 r0, q0, q5\n"
#define MG_MVE_RING_NEXT_1 "vldrb.8 q5, " MG_MVE_RING_AT("4") "\n"
#define MG_MVE_RING_NEXT_2 "vmladav.s8 r2, q0, q1\n"
#define MG_MVE_RING_NEXT_3 "vldrb.8 q1, " MG_MVE_RING_AT("6") "\n"
#define MG_MVE_RING_NEXT_4 "vmladav.s8 r4, q0, q5\n"
#define MG_MVE_RING_NEXT_5 "vmladav.s8 r8, q0, q1\n"

/* Each of four windows has the values of two places, whose filters are q0 and q1. Two windows at a
 * time are summed: the first and the third, and then the others. */
#define MG_MVE_PAIR_FIRST                                                                          \
    "vldrb.8 q5, [r5]\n"                                                                           \
    "vldrb.8 q3, " MG_MVE_RING_AT("2") "\n"                                                        \
    "vmladav.s8 r0, q0, q5\n"                                                                      \
    "vmladav.s8 r2, q1, q5\n"                                                                      \
    "vmladav.s8 r4, q0, q3\n"                                                                      \
    "vmladav.s8 r8, q1, q3\n"
#define MG_MVE_PAIR_SECOND                                                                         \
    "vldrb.8 q5, " MG_MVE_RING_AT("1") "\n"                                                        \
    "vmov q2[2], q2[0], r0, r4\n"                                                                  \
    "vmov q3[2], q3[0], r2, r8\n"                                                                  \
    "vmladav.s8 r0, q0, q5\n"                                                                      \
    "vmladav.s8 r2, q1, q5\n"                                                                      \
    "vldrb.8 q5, " MG_MVE_RING_AT("3") "\n"                                                        \
    "vmladav.s8 r4, q0, q5\n"                                                                      \
    "vmladav.s8 r8, q1, q5\n"                                                                      \
    "vldrb.8 q5, [r5, %[apart] * 4]!\n"                                                            \
    "vmov q2[3], q2[1], r0, r4\n"                                                                  \
    "vmov q3[3], q3[1], r2, r8\n"
#define MG_MVE_PAIR_NEXT_0 "vmladav.s8 r0, q0, q5\n"
#define MG_MVE_PAIR_NEXT_1
#define MG_MVE_PAIR_NEXT_2 "vmladav.s8 r2, q1, q5\n"
#define MG_MVE_PAIR_NEXT_3 "vldrb.8 q5, " MG_MVE_RING_AT("2") "\n"
#define MG_MVE_PAIR_NEXT_4 "vmladav.s8 r4, q0, q5\n"
#define MG_MVE_PAIR_NEXT_5 "vmladav.s8 r8, q1, q5\n"

/* How sums become outputs: by two steps. */
#define MG_MVE_RING_TWICE_SHIFT "ldrsb lr, [r4], #1\n"
#define MG_MVE_RING_TWICE_FIRST(x) ""
#define MG_MVE_RING_TWICE_THEN(x) "vqrdmulh.s32 " x ", " x ", r10\n"
#define MG_MVE_RING_TWICE_LAST(x) "vrshl.s32 " x ", r1\n"
#define MG_MVE_RING_TWICE_TIES                                                                     \
    "bcs.n 7f\n"                                                                                   \
    "6:\n"
#define MG_MVE_RING_TWICE_AWAY                                                                     \
    "7:\n"                                                                                         \
    "vqdmlah.s32 q2, q2, r12\n"                                                                    \
    "vqdmlah.s32 q3, q3, r12\n"                                                                    \
    "b.n 6b\n"

/* The same by MG_ROUND_FLOAT_FPU. */
#define MG_MVE_RING_FLOAT_SHIFT
#define MG_MVE_RING_FLOAT_FIRST(x) "vcvt.f32.s32 " x ", " x "\n"
#define MG_MVE_RING_FLOAT_THEN(x) "vmul.f32 " x ", " x ", r10\n"
#define MG_MVE_RING_FLOAT_LAST(x) "vcvtn.s32.f32 " x ", " x "\n"
#define MG_MVE_RING_FLOAT_TIES
#define MG_MVE_RING_FLOAT_AWAY

/* Rotates each ring of the filter q0, whose place ends at r1, and for two places q1 by one byte. */
#define MG_MVE_RING_ROTATED(left, right)                                                           \
    "vshl.i32 q5, q0, #" left "\n"                                                                 \
    "vsri.32 q5, q0, #" right "\n"                                                                 \
    "vstrb.8 q5, [r1, #-16]\n"
#define MG_MVE_PAIR_ROTATED                                                                        \
    "vshl.i32 q1, q0, #8\n"                                                                        \
    "vsri.32 q1, q0, #24\n"                                                                        \
    MG_MVE_RING_ROTATED("16", "16")

/* The outputs of all channels that are left. Of sums in two vectors narrowing makes one, by turns.
 * After all whole ones come the last outputs, with another predicate. Sums of the next windows are
 * computed among the steps of the last ones, also after those. Some registers are saved on the
 * stack: r7 may be a frame pointer, and compilers do not know that P0 changes. */
#define MG_MVE_RING_CHANNELS(windows, scale, rotated)                                              \
    "vmrs r1, p0\n"                                                                                \
    "push {r0, r1, r7, r11, r12}\n"                                                                \
    "ldr r11, [r0, #48]\n"                                                                         \
    "mov r12, #1\n"                                                                                \
    "vldrw.32 q4, [r0, %[lanes]]\n"                                                                \
    "vldrw.32 q6, [r0, %[lanes] + 16]\n"                                                           \
    "vldrw.32 q7, [r0, %[lanes] + 32]\n"                                                           \
    "1:\n"                                                                                         \
    "ldm r0, {r1, r2, r3, r4, r5, r6, r8}\n"                                                       \
    "vldrb.8 q0, [r1], #16\n"                                                                      \
    "add r8, r8, r5\n"                                                                             \
    "ldr r9, [r2], #4\n"                                                                           \
    "ldr r10, [r3], #4\n"                                                                          \
    MG_MVE_RING_##scale##_SHIFT                                                                    \
    "stm r0, {r1, r2, r3, r4, r8}\n"                                                               \
    rotated                                                                                        \
    "adds r2, r6, #1\n"                                                                            \
    "mvn r1, lr\n"                                                                                 \
    "str r2, [r0, #20]\n"                                                                          \
    "ldrd r7, r4, [r0, #36]\n"                                                                     \
    "ldrd lr, r3, [r0, #28]\n"                                                                     \
    "vmsr p0, r4\n"                                                                                \
    "ldr r0, [r0, #52]\n"                                                                          \
    "lsrs r0, r0, #1\n"                                                                            \
    MG_MVE_##windows##_FIRST                                                                       \
    "3:\n"                                                                                         \
    MG_MVE_##windows##_SECOND                                                                      \
    "vadd.i32 q2, q2, r9\n"                                                                        \
    MG_MVE_##windows##_NEXT_0                                                                      \
    "vadd.i32 q3, q3, r9\n"                                                                        \
    MG_MVE_RING_##scale##_FIRST("q2")                                                              \
    MG_MVE_##windows##_NEXT_1                                                                      \
    MG_MVE_RING_##scale##_THEN("q2")                                                               \
    MG_MVE_RING_##scale##_FIRST("q3")                                                              \
    MG_MVE_##windows##_NEXT_2                                                                      \
    MG_MVE_##windows##_NEXT_3                                                                      \
    MG_MVE_RING_##scale##_THEN("q3")                                                               \
    MG_MVE_RING_##scale##_TIES                                                                     \
    MG_MVE_RING_##scale##_LAST("q2")                                                               \
    MG_MVE_##windows##_NEXT_4                                                                      \
    MG_MVE_RING_##scale##_LAST("q3")                                                               \
    "vqmovnb.s32 q2, q2\n"                                                                         \
    MG_MVE_##windows##_NEXT_5                                                                      \
    "vqmovnt.s32 q2, q3\n"                                                                         \
    "vqadd.s16 q2, q2, r11\n"                                                                      \
    "vmax.s16 q2, q2, q6\n"                                                                        \
    "vmin.s16 q2, q2, q7\n"                                                                        \
    "vpst\n"                                                                                       \
    "vstrbt.16 q2, [r6, q4]\n"                                                                     \
    "add r6, r6, r3\n"                                                                             \
    "le lr, 3b\n"                                                                                  \
    "cbz r7, 4f\n"                                                                                 \
    "vmsr p0, r7\n"                                                                                \
    "mov r7, #0\n"                                                                                 \
    "mov lr, #1\n"                                                                                 \
    "b.n 3b\n"                                                                                     \
    MG_MVE_RING_##scale##_AWAY                                                                     \
    "4:\n"                                                                                         \
    "ldr r0, [sp]\n"                                                                               \
    "ldr r1, [r0, #44]\n"                                                                          \
    "subs r1, r1, #1\n"                                                                            \
    "str r1, [r0, #44]\n"                                                                          \
    "bne.w 1b\n"                                                                                   \
    "pop {r0, r1, r7, r11, r12}\n"                                                                 \
    "vmsr p0, r1"

/* clang-format on */

/* In assembly, because GCC 12 spills registers, and places each step of the requantization directly
 * after the one whose result it needs. */
#define MG_MVE_RING_ASM_OF(loop, distance)                                                         \
    __asm__ volatile(loop                                                                          \
                     : "+r"(at)                                                                    \
                     : [apart] "i"(distance), [lanes] "i"(offsetof(mg_mve_ring_channels, lanes))   \
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "lr", "q0", "q1",    \
                       "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")
#ifdef MG_MVE_HAS_FLOATS
#define MG_MVE_RING_ASM(windows, rotated, distance)                                                \
    if (requantization == MG_ROUND_FLOAT_FPU) {                                                    \
        MG_MVE_RING_ASM_OF(MG_MVE_RING_CHANNELS(windows, FLOAT, rotated), distance);               \
    } else {                                                                                       \
        MG_MVE_RING_ASM_OF(MG_MVE_RING_CHANNELS(windows, TWICE, rotated), distance);               \
    }
#else
#define MG_MVE_RING_ASM(windows, rotated, distance)                                                \
    MG_MVE_RING_ASM_OF(MG_MVE_RING_CHANNELS(windows, TWICE, rotated), distance);
#endif

/* Computes all channels, and moves their filters along the ring by as many bytes as a window moves.
 */
MG_INLINE void mg_mve_ring_channels_all(mg_mve_ring_channels *channels, int32_t bytes,
                                        int requantization)
{
    register mg_mve_ring_channels *at __asm__("r0") = channels;

    (void)requantization;
    if (bytes == MG_MVE_RING) {
        if (channels->stride == 2) {
            MG_MVE_RING_ASM(RING, MG_MVE_RING_ROTATED("16", "16"), 2 * MG_MVE_RING)
        } else if (channels->places == 2) {
            MG_MVE_RING_ASM(PAIR, MG_MVE_PAIR_ROTATED, MG_MVE_RING)
        } else {
            MG_MVE_RING_ASM(RING, MG_MVE_RING_ROTATED("8", "24"), MG_MVE_RING)
        }
    } else if (channels->stride == 1) {
        MG_MVE_RING_ASM(RING, "", MG_MVE_LINE)
    } else {
        MG_MVE_RING_ASM(RING, "", 2 * MG_MVE_LINE)
    }
}

#else

/* The same in C, because without optimisation the assembly would need too many registers. */
MG_INLINE int8x16_t mg_mve_ring_rotated(int8x16_t filter, int32_t stride)
{
    const uint32x4_t rings = vreinterpretq_u32_s8(filter);
    return vreinterpretq_s8_u32((stride == 1) ? vsriq_n_u32(vshlq_n_u32(rings, 8), rings, 24)
                                              : vsriq_n_u32(vshlq_n_u32(rings, 16), rings, 16));
}

MG_INLINE void mg_mve_ring_channel(const mg_mve_ring_channels *of, int8x16_t filter, int8_t *to,
                                   int32_t apart, int requantization)
{
    const mg_scaling scaling = {of->multiplier, of->shift, of->offset, vgetq_lane_s16(of->low, 0),
                                vgetq_lane_s16(of->high, 0)};

    for (int32_t i = 0; i < of->outputs; i++) {
        const int32_t sum = of->bias[0] + vmladavq_s8(filter, vldrbq_s8(of->from + i * apart));
        to[i * of->along] = (int8_t)mg_scaled(&scaling, 0, sum, requantization);
    }
}

MG_INLINE void mg_mve_ring_channels_all(mg_mve_ring_channels *channels, int32_t bytes,
                                        int requantization)
{
    const int32_t apart = bytes * channels->stride;

    for (; channels->count > 0; channels->count--) {
        int8x16_t filter = vldrbq_s8(channels->filter);
        mg_mve_ring_channel(channels, filter, channels->to, apart, requantization);
        if (bytes == MG_MVE_RING) {
            filter = mg_mve_ring_rotated(filter, channels->stride);
        }
        if (channels->places == 2) {
            if ((channels->valid & 0xC) != 0) {
                mg_mve_ring_channel(channels, filter, channels->to + channels->around, apart,
                                    requantization);
            }
            filter = mg_mve_ring_rotated(filter, 1);
        }
        vstrbq_s8(channels->filter, filter);
        channels->filter += MG_MVE_BYTES;
        channels->bias++;
        channels->multiplier++;
        if (requantization != MG_ROUND_FLOAT_FPU) {
            channels->shift++;
        }
        channels->from += channels->line;
        channels->to++;
    }
}

#endif

/* Places of the ring's axis that are computed at a time: two if a ring has the values of both. */
MG_INLINE int32_t mg_mve_ring_places(const mg_mve_ring *r, int32_t bytes)
{
    return (bytes == MG_MVE_RING && r->along.stride == 1 && r->around.kernel < bytes) ? 2 : 1;
}

/* Computes the block's channels, from c on, at `places` places of the ring's axis, of which `left`
 * are left. */
MG_INLINE void mg_mve_ring_place(const mg_mve_ring *r, int32_t c, int8_t *output, int32_t places,
                                 int32_t left, int32_t bytes, int requantization)
{
    const int32_t outputs = r->along.outputs;
    const int32_t together = MG_MVE_WINDOWS / places;
    const int32_t rest = outputs & (together - 1);
    const int32_t all = (left < places) ? 0x3333 : 0xFFFF;
    const int32_t last = all & ((1 << rest * 2 * places) - 1);
    const uint16x8_t lanes = vidupq_n_u16(0, 1);
    const uint16x8_t at = vshrq_n_u16(lanes, 1);
    mg_mve_ring_channels channels = {
        r->filters,
        r->rows.bias + c,
        r->rows.multiplier + c,
        (requantization == MG_ROUND_FLOAT_FPU) ? NULL : r->rows.shift + c,
        r->values,
        output,
        r->line,
        (outputs < together) ? 1 : outputs / together,
        together * r->along.output_step,
        (outputs < together) ? 0 : last,
        (outputs < together) ? last : all,
        r->count,
        r->rows.output_offset,
        (r->rows.activation_min >= r->rows.output_offset) ? 0 : 1,
        (places == 1)
            ? vmulq_n_u16(lanes, (uint16_t)r->along.output_step)
            : vmlaq_n_u16(vmulq_n_u16(at, (uint16_t)r->along.output_step),
                          vandq_u16(lanes, vdupq_n_u16(1)), (uint16_t)r->around.output_step),
        vdupq_n_s16((int16_t)r->rows.activation_min),
        vdupq_n_s16((int16_t)r->rows.activation_max),
        outputs,
        r->along.output_step,
        r->around.output_step,
        places,
        r->along.stride,
    };

    mg_mve_ring_channels_all(&channels, bytes, requantization);
}

/* Computes a block from channel c on, for one image. */
MG_INLINE void mg_mve_ring_block(const mg_mve_ring *r, const int8_t *input, int32_t c,
                                 int8_t *output, int32_t zero, int32_t bytes, int requantization)
{
    const int32_t places = mg_mve_ring_places(r, bytes);
    int32_t filled = 0; /* places of the ring's axis, with its padding */

    (void)mg_mve_fill(r->values, zero, MG_MVE_CHANNELS * r->line);
    for (int32_t i = 0; i < r->around.outputs; i += places) {
        const int32_t left = r->around.outputs - i;
        const int32_t ahead = (left < places) ? 0 : places - 1;
        for (; filled < i * r->around.stride + r->around.kernel + ahead; filled++) {
            const int32_t at = filled - r->around.pad;
            const int is_inside = at >= 0 && at < r->around.size;
            mg_mve_ring_copy(r, is_inside ? input + at * r->around.input_step : NULL, zero,
                             r->values + (filled & (bytes - 1)), bytes);
        }
        mg_mve_ring_place(r, c, output, places, left, bytes, requantization);
        output += places * r->around.output_step;
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
 * zero point. `requantization` is MG_ROUND_TWICE_NARROW or MG_ROUND_FLOAT_FPU. Eight outputs are
 * less than 65,536 bytes apart. scratch has the bytes of eight filters and eight lines, see
 * mg_mve_ring_line, and of fifteen windows that are read after a line. Padding before the
 * first place is less than the filter. The output may be the input if they have the same shape. */
MG_BODY(mg_depthwise_conv2d_s8_ring_mve, int8_t, uint8_t *scratch, int32_t bytes,
        int requantization)
{
    const int is_tall = p->output_height > p->output_width;
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
