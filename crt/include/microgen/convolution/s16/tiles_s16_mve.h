/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of int16 convolutions for MVE: two filters for four pixels, whose windows are copied.
 *
 * VMLADAVA adds eight products to a general register with an even number. There are eight of them.
 * So two filters and four pixels need six loads for eight of them. That takes all of the registers:
 * one points to the weights, which are in the order of their use, and the rest of a tile is on the
 * stack. It is written in assembly, because GCC 12 spills registers.
 *
 * Weights are int8 [pairs][vectors][2][8], see microgen/kernels/requantization/wide.py. The last
 * pair is that of the last two filters. Depths are rounded up to whole vectors with weights of 0.
 * Sums become outputs as in microgen/blocks/blocks_s16.h; whoever calls must have proved that none
 * exceeds int32. */
#ifndef MICROGEN_TILES_S16_MVE_H
#define MICROGEN_TILES_S16_MVE_H

#include <stddef.h>

#include "microgen/blocks/blocks_s16.h"
#include "microgen/blocks/mve.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/convolution/s16/conv2d_s16.h"
#include "microgen/convolution/s16/copied_window_s16.h"
#include "microgen/out_of_line.h"

#if defined(__ARM_FEATURE_MVE)

enum {
    MG_MVE_TILE_PIXELS_S16 = 4, /* that are computed at a time */
    MG_MVE_LANES_S16 = 8
};

/* What the outputs of all tiles share. */
typedef struct {
    int32x4_t low;
    int32x4_t high;
    uint32x4_t places; /* in bytes: of two channels of a pixel, and of the next pixel */
    uint32x4_t both;   /* in bytes: two entries of a table, twice */
} mg_mve_tile_s16_vectors;

/* A tile, in the order in which the assembly loads it. Two pixels follow the other two by `below`
 * bytes of the output. */
typedef struct {
    const int16_t *first[2]; /* windows */
    int32_t steps;           /* vectors after the first one */
    const int16_t *second[2];
    const int32_t *bias;
    const int32_t *factor;
    int16_t *output;
    int32_t pairs; /* of filters */
    int32_t below;
    const int8_t *weight;
    const mg_mve_tile_s16_vectors *vectors;
} mg_mve_tile_s16;

#if defined(__OPTIMIZE__)

/* clang-format off */

/* Sums of eight products of two filters and four pixels. */
#define MG_MVE_TILE_S16_STEP(sum)                                                                  \
    "vldrb.s16 q0,[r1],#16\n"                                                                      \
    "vldrh.16 q2,[r3],#16\n"                                                                       \
    "vldrb.s16 q1,[r1,#-8]\n"                                                                      \
    sum ".s16 r0, q0, q2\n"                                                                        \
    "vldrh.16 q3,[r5],#16\n"                                                                       \
    sum ".s16 r2, q1, q2\n"                                                                        \
    sum ".s16 r4, q0, q3\n"                                                                        \
    "vldrh.16 q2,[r9],#16\n"                                                                       \
    sum ".s16 r6, q1, q3\n"                                                                        \
    sum ".s16 r8, q0, q2\n"                                                                        \
    "vldrh.16 q3,[r11],#16\n"                                                                      \
    sum ".s16 r10, q1, q2\n"                                                                       \
    sum ".s16 r12, q0, q3\n"                                                                       \
    sum ".s16 lr, q1, q3\n"

/* Computes the filters of the tile's pairs. Registers but r7, which may be a frame pointer and is
 * restored. The flags of LSRS remain for the second branch, because vectors do not change them. */
MG_INLINE void mg_mve_tile_s16_compute(const mg_mve_tile_s16 *tile)
{
    register const mg_mve_tile_s16 *at __asm__("r0") = tile;

    __asm__ volatile(
        "push {r7}\n"
        "ldrd r1, r2, [r0, #40]\n"
        "vldrw.32 q4, [r2]\n"
        "vldrw.32 q5, [r2, #16]\n"
        "vldrw.32 q6, [r2, #32]\n"
        "vldrw.32 q7, [r2, #48]\n"
        "ldm r0, {r2-r6, r8-r12}\n"
        "push {r2-r6, r8-r12}\n"
        "1:\n"
        "ldm sp, {r3, r5, r7, r9, r11}\n"
        MG_MVE_TILE_S16_STEP("vmladav")
        "lsrs r7, r7, #1\n"
        "bcc.n 2f\n"
        MG_MVE_TILE_S16_STEP("vmladava")
        "2:\n"
        "beq.n 4f\n"
        "3:\n"
        MG_MVE_TILE_S16_STEP("vmladava")
        MG_MVE_TILE_S16_STEP("vmladava")
        "subs r7, r7, #1\n"
        "bne.n 3b\n"
        "4:\n"
        "vmov q0[2], q0[0], r0, r4\n"
        "vmov q0[3], q0[1], r2, r6\n"
        "vmov q1[2], q1[0], r8, r12\n"
        "vmov q1[3], q1[1], r10, lr\n"
        "add r0, sp, #20\n"
        "ldm r0, {r2, r4, r6, r8, r10}\n"
        "vldrw.u32 q2, [r2, q7]\n"
        "vldrw.u32 q3, [r4, q7]\n"
        "vadd.i32 q0, q0, q2\n"
        "vadd.i32 q1, q1, q2\n"
        "adds r2, r2, #8\n"
        "vrmulh.s32 q0, q0, q3\n"
        "vrmulh.s32 q1, q1, q3\n"
        "adds r4, r4, #8\n"
        "vmax.s32 q0, q0, q4\n"
        "vmax.s32 q1, q1, q4\n"
        "add r10, r10, r6\n"
        "vmin.s32 q0, q0, q5\n"
        "vmin.s32 q1, q1, q5\n"
        "vstrh.32 q0, [r6, q6]\n"
        "vstrh.32 q1, [r10, q6]\n"
        "adds r6, r6, #4\n"
        "subs r8, r8, #1\n"
        "stm r0, {r2, r4, r6, r8}\n"
        "bne 1b\n"
        "add sp, sp, #40\n"
        "pop {r7}"
        : "+r"(at)
        :
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "q0", "q1",
          "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

/* clang-format on */

#else

MG_INLINE void mg_mve_tile_s16_compute(const mg_mve_tile_s16 *tile)
{
    const int32_t depth = (tile->steps + 1) * MG_MVE_LANES_S16;
    const int16_t *const windows[4] = {tile->first[0], tile->first[1], tile->second[0],
                                       tile->second[1]};

    for (int32_t filter = 0; filter < 2 * tile->pairs; filter++) {
        const int8_t *weight =
            &tile->weight[filter / 2 * 2 * depth + filter % 2 * MG_MVE_LANES_S16];
        for (int32_t k = 0; k < 4; k++) {
            const int32_t place = (int32_t)tile->vectors->places[2 * (k % 2)] + k / 2 * tile->below;
            int32_t sum = tile->bias[filter];
            for (int32_t i = 0; i < depth; i++) {
                sum += windows[k][i] *
                       weight[i / MG_MVE_LANES_S16 * 2 * MG_MVE_LANES_S16 + i % MG_MVE_LANES_S16];
            }
            tile->output[filter + place / 2] =
                mg_activated_s16(mg_smmulr(sum, tile->factor[filter]), tile->vectors->low[0],
                                 tile->vectors->high[0]);
        }
    }
}

#endif

/* Two pairs of `count` windows, 1 to 4, which are `step` values apart. In place of those that do
 * not exist, others are computed again, and stored where they already are. */
MG_INLINE void mg_mve_tile_s16_windows(mg_mve_tile_s16 *tile, const int16_t *windows, int32_t count,
                                       int32_t step)
{
    const int32_t next = (count > 1) ? step : 0;
    const int32_t second = (count > 2) ? (count - 2) * step : 0;

    tile->first[0] = windows;
    tile->first[1] = windows + next;
    tile->second[0] = windows + second;
    tile->second[1] = windows + second + next;
}

/* Computes all channels, two or more, of `count` pixels, 1 to 4. Each has `vectors` vectors of
 * values in `windows`, `step` values apart; output is [count][channels]. */
MG_ONCE void mg_mve_wide_tiles(const mg_folded_s16 *folded, const int16_t *windows, int32_t step,
                               int32_t count, const int8_t *weight, int32_t channels,
                               int32_t vectors, int16_t *output)
{
    const uint32_t next = (count > 1) ? 2U * (uint32_t)channels : 0U;
    const mg_mve_tile_s16_vectors shared = {vdupq_n_s32(folded->activation_min),
                                            vdupq_n_s32(folded->activation_max),
                                            {0, 2, next, next + 2},
                                            {0, 4, 0, 4}};
    mg_mve_tile_s16 tile = {
        {NULL, NULL},   vectors - 1, {NULL, NULL}, folded->bias,
        folded->factor, output,      channels / 2, (count > 2) ? 2 * (count - 2) * channels : 0,
        weight,         &shared};

    mg_mve_tile_s16_windows(&tile, windows, count, step);
    for (int32_t runs = 1 + channels % 2; runs > 0; runs--) {
        mg_mve_tile_s16_compute(&tile);
        tile.bias = &folded->bias[channels - 2]; /* the last pair, if channels are odd */
        tile.factor = &folded->factor[channels - 2];
        tile.output = &output[channels - 2];
        tile.weight = &weight[channels / 2 * vectors * (2 * MG_MVE_LANES_S16)];
        tile.pairs = 1;
    }
}

#endif

/* 2-D convolution, int16 with int8 weights, for MVE: the tiles of tiles_s16_mve.h, from windows
 * that are copied first.
 *
 * Computes the same as mg_conv2d_s16_mve, with two output channels or more. weight has the layout
 * of tiles_s16_mve.h. scratch must have 64 bytes for each eight weights of a filter, or fewer at
 * its end. It must be aligned to 2 bytes. */
MG_DECLARE_CONV2D_S16_SCRATCH(mg_conv2d_s16_tiles_mve, int8_t);

#if defined(__ARM_FEATURE_MVE)

/* Where the windows of a tile are: in the input, or copies of them. */
typedef struct {
    const int16_t *windows;
    int32_t step;   /* values from a window to the next */
    int16_t *room;  /* for copies */
    int32_t size;   /* values of a window */
    int32_t length; /* the same, rounded up to whole vectors */
    int32_t values; /* of the input */
    int32_t is_row; /* whether all pixels' windows are the input's pixels, one after the other */
    mg_taps whole;  /* columns of pixels whose windows are inside the input */
    mg_place place; /* of the next pixel */
} mg_mve_windows_s16;

/* Whether four windows from `value` on are contiguous, with what is read beyond them inside the
 * input. There, the weights are 0. */
MG_INLINE int32_t mg_mve_has_windows_s16(const mg_mve_windows_s16 *t, int32_t value, int32_t step)
{
    return value + (MG_MVE_TILE_PIXELS_S16 - 1) * step + t->length <= t->values;
}

/* Copies four runs of `count` values. From one to the next there are `step` values, and `to_step`
 * of their copies. */
#if defined(__OPTIMIZE__)
/* In assembly as mg_copy_s16. A loop ends a whole number of vectors after its first value. */
#define MG_MVE_COPY_S16                                                                            \
    "wlstp.16 lr, %[count], 2f\n"                                                                  \
    "1:\n\t"                                                                                       \
    "vldrh.16 q0, [%[from]], #16\n\t"                                                              \
    "vstrh.16 q0, [%[to]], #16\n\t"                                                                \
    "letp lr, 1b\n"                                                                                \
    "2:\n\t"
#define MG_MVE_NEXT_COPY_S16                                                                       \
    "add %[from], %[from], %[next]\n\t"                                                            \
    "add %[to], %[to], %[to_next]\n\t" MG_MVE_COPY_S16

MG_INLINE void mg_mve_copy_four_s16(int16_t *to, int32_t to_step, const int16_t *from, int32_t step,
                                    int32_t count)
{
    const int32_t copied = (count + MG_MVE_LANES_S16 - 1) / MG_MVE_LANES_S16 * MG_MVE_LANES_S16;

    __asm__ volatile(MG_MVE_COPY_S16 MG_MVE_NEXT_COPY_S16 MG_MVE_NEXT_COPY_S16 MG_MVE_NEXT_COPY_S16
                     : [to] "+r"(to), [from] "+r"(from)
                     : [count] "r"(count), [next] "r"((step - copied) * (int32_t)sizeof(int16_t)),
                       [to_next] "r"((to_step - copied) * (int32_t)sizeof(int16_t))
                     : "lr", "q0", "memory");
}
#else
MG_INLINE void mg_mve_copy_four_s16(int16_t *to, int32_t to_step, const int16_t *from, int32_t step,
                                    int32_t count)
{
    for (int32_t k = 0; k < MG_MVE_TILE_PIXELS_S16; k++) {
        mg_copy_s16(&to[k * to_step], &from[k * step], count);
    }
}
#endif

/* Finds the windows of four pixels of a row whose columns are inside the input. */
MG_INLINE void mg_mve_row_windows_s16(const mg_conv2d_shape *s, mg_mve_windows_s16 *t,
                                      const int16_t *input)
{
    const mg_window w = mg_conv2d_window_at(s, t->place.n, t->place.y, t->place.x);
    const int32_t step = s->stride_width * s->input_channels;

    if (w.rows * w.runs == 1 && w.length == t->size &&
        mg_mve_has_windows_s16(t, w.value, step) != 0) {
        t->windows = &input[w.value];
        t->step = step;
        return;
    }
    if (w.rows < s->kernel_height) {
        mg_clear_s16(t->room, MG_MVE_TILE_PIXELS_S16 * t->length);
    }
    for (int32_t row = 0; row < w.rows; row++) {
        for (int32_t run = 0; run < w.runs; run++) {
            const int16_t *from = &input[w.value + row * w.next_row + run * w.next_run];
            int16_t *to = &t->room[w.weight + row * w.next_weight_row + run * w.next_weight_run];
            mg_mve_copy_four_s16(to, t->length, from, step, w.length);
        }
    }
}

/* Finds the windows of `count` pixels, 1 to 4, from pixel i of the output on. */
MG_INLINE void mg_mve_find_windows_s16(const mg_conv2d_shape *s, mg_mve_windows_s16 *t,
                                       const int16_t *input, int32_t i, int32_t count)
{
    /* Where all pixels are one row, this is the last place that was set: any four follow one
     * another in memory, wherever they are in the image. */
    const int32_t x = t->place.x;

    if (t->is_row != 0 && mg_mve_has_windows_s16(t, i * t->size, t->size) != 0) {
        t->windows = &input[i * t->size];
        t->step = t->size;
        return;
    }
    if (t->is_row != 0) {
        t->place.n = 0;
        t->place.y = i / s->output_width;
        t->place.x = i % s->output_width;
    }
    t->windows = t->room;
    t->step = t->length;
    if (count == MG_MVE_TILE_PIXELS_S16 && x >= t->whole.begin && x + count <= t->whole.end) {
        mg_mve_row_windows_s16(s, t, input);
        t->place.x += count - 1;
        mg_next_place(s, &t->place);
        return;
    }
    for (int32_t k = 0; k < count; k++) {
        mg_copy_window_s16(s, &t->place, input, &t->room[k * t->length]);
    }
}

MG_BODY_FACTORED(mg_conv2d_s16_tiles_mve, int8_t, uint8_t *scratch)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int32_t vectors = (size + MG_MVE_LANES_S16 - 1) / MG_MVE_LANES_S16;
    const int32_t pixels = s->batches * s->output_height * s->output_width;
    const int32_t is_row = size == s->filter_channels && s->batches == 1 && s->stride_height == 1 &&
                           s->stride_width == 1 && s->input_height == s->output_height &&
                           s->input_width == s->output_width;
    mg_mve_windows_s16 t = {input,
                            0,
                            (int16_t *)(void *)scratch,
                            size,
                            vectors * MG_MVE_LANES_S16,
                            s->batches * s->input_height * s->input_width * s->input_channels,
                            is_row,
                            mg_whole_places(s->input_width, s->output_width, s->kernel_width,
                                            s->stride_width, s->dilation_width, s->pad_left),
                            {0, 0, 0}};

    mg_end_windows_s16(s, t.room, MG_MVE_TILE_PIXELS_S16, t.length);
    for (int32_t i = 0; i < pixels; i += MG_MVE_TILE_PIXELS_S16) {
        const int32_t left = pixels - i;
        const int32_t count = (left < MG_MVE_TILE_PIXELS_S16) ? left : MG_MVE_TILE_PIXELS_S16;
        mg_mve_find_windows_s16(s, &t, input, i, count);
        mg_mve_wide_tiles(&folded, t.windows, t.step, count, weight, s->output_channels, vectors,
                          &output[i * s->output_channels]);
    }
}

#ifdef MG_TILES_S16_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_s16_tiles_mve, (p, input, weight, bias, factor, output, scratch),
               MG_ARGUMENTS_FACTORED(mg_conv2d_s16_tiles_mve, int8_t), uint8_t *scratch)
#endif

#endif

#endif
