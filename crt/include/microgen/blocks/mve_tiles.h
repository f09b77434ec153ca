/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of convolutions for MVE: four filters for four pixels, whose inputs are rows.
 *
 * VMLADAVA adds sixteen products to a general register with an even number. There are eight of
 * them. So two filters and four pixels need six loads for eight of them. That takes all of the
 * registers: one points to the weights, which are in the order of their use, and the rest of a tile
 * is on the stack. It is written in assembly, because GCC 12 spills registers.
 *
 * Weights are int8 [groups][2][vectors][2][16], see microgen/kernels/convolution/s8/conv2d_mve.py:
 * of each group of four filters first 0 and 2, then 1 and 3, because registers move to two lanes at
 * a time, which are two apart. Depths are rounded up to whole vectors with weights of 0 before the
 * others, so a pixel's first vector may begin before the pixel. The last group is that of the last
 * four filters.
 *
 * Sums contain products with the data's zero point, see mve_rows.h. A result is at most 2^30 in
 * magnitude before it is narrowed to int16 and the offset is added; both saturate, and the clamp is
 * inside int8, so saturation changes no output. */
#ifndef MICROGEN_MVE_TILES_H
#define MICROGEN_MVE_TILES_H

#include <stddef.h>

#include "microgen/blocks/mve_rows.h"
#include "microgen/requantization/scaling_s8.h"

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_PIXELS 4 /* that are computed at a time */
#define MG_MVE_LEAST 6  /* bytes of a pixel: what is read before the third one is in the others */

/* What the pixels of a layer are: pixel i has its inputs from
 * i * step + i / width * gap on. */
typedef struct {
    int32_t depth;
    int32_t step;
    int32_t width;
    int32_t gap;
} mg_mve_places;

/* What the outputs of a tile share. */
typedef struct {
    int16x8_t low;
    int16x8_t high;
    uint16x8_t places; /* of the outputs of two pixels: by turns of the first and the second */
} mg_mve_tile_vectors;

/* How a tile's sums become outputs, apart from scales in float32: by MG_ROUND_TWICE_NARROW if it
 * does not matter how ties of negative values are rounded, and if it does; by
 * MG_ROUND_UPWARD_NARROW. */
enum {
    MG_MVE_TIES_EITHER = 0,
    MG_MVE_TIES_AWAY = 1,
    MG_MVE_TIES_UPWARD = 2
};

/* Passes of four pixels, in the order in which the assembly loads it. The pixels of a pass are
 * `advance` bytes after those of the one before, its outputs `jump` bytes. Two pixels follow the
 * other two by `below` bytes of the output. */
typedef struct {
    const int8_t *first[2]; /* pixels */
    int32_t vectors;        /* of a pixel */
    const int8_t *second[2];
    int32_t is_clamped; /* whether not all of int8 may be stored */
    int32_t rounding;
    int32_t below;
    int32_t offset;
    const mg_mve_tile_vectors *shared;
    const int32_t *bias;
    const int8_t *weight;
    const int32_t *multiplier;
    const int8_t *shift;
    int8_t *output;
    int32_t groups; /* whole ones */
    int32_t advance;
    int32_t jump;
    int32_t passes;
    int32_t back;  /* filters that the last group has in common with the one before, 0 if none */
    int32_t lanes; /* of a first vector that are inside: a bit for each */
} mg_mve_tile;

#if defined(__OPTIMIZE__)

/* clang-format off */

/* Sums of sixteen products of two filters and four pixels. */
#define MG_MVE_TILE_STEP                                                                           \
    "vldrb.8 q4,[r1],#32\n"                                                                        \
    "vldrb.8 q6,[r3],#16\n"                                                                        \
    "vldrb.8 q5,[r1,#-16]\n"                                                                       \
    "vmladava.s8 r0, q4, q6\n"                                                                         \
    "vldrb.8 q7,[r5],#16\n"                                                                        \
    "vmladava.s8 r2, q5, q6\n"                                                                         \
    "vmladava.s8 r4, q4, q7\n"                                                                         \
    "vldrb.8 q6,[r9],#16\n"                                                                        \
    "vmladava.s8 r6, q5, q7\n"                                                                         \
    "vmladava.s8 r8, q4, q6\n"                                                                         \
    "vldrb.8 q7,[r11],#16\n"                                                                       \
    "vmladava.s8 r10, q5, q6\n"                                                                        \
    "vmladava.s8 r12, q4, q7\n"                                                                        \
    "vmladava.s8 lr, q5, q7\n"

/* The same of first vectors, of which two pixels have the lanes of P0. */
#define MG_MVE_TILE_FIRST                                                                          \
    "vldrb.8 q4,[r1],#32\n"                                                                        \
    "vpstt\n"                                                                                      \
    "vldrbt.u8 q6,[r3],#16\n"                                                                      \
    "vldrbt.u8 q7,[r5],#16\n"                                                                      \
    "vldrb.8 q5,[r1,#-16]\n"                                                                       \
    "vmladav.s8 r0, q4, q6\n"                                                                      \
    "vmladav.s8 r4, q4, q7\n"                                                                      \
    "vmladav.s8 r2, q5, q6\n"                                                                      \
    "vldrb.8 q6,[r9],#16\n"                                                                        \
    "vmladav.s8 r6, q5, q7\n"                                                                      \
    "vmladav.s8 r8, q4, q6\n"                                                                      \
    "vldrb.8 q7,[r11],#16\n"                                                                       \
    "vmladav.s8 r10, q5, q6\n"                                                                     \
    "vmladav.s8 r12, q4, q7\n"                                                                     \
    "vmladav.s8 lr, q5, q7\n"

/* All products of two filters and four pixels: of one vector, of another one if the number of vectors
 * in r7 is even, and of pairs of vectors. */
#define MG_MVE_TILE_DEEP(pair, second, end)                                                        \
    MG_MVE_TILE_FIRST                                                                              \
    "lsrs r7, r7, #1\n"                                                                            \
    "beq.n " end "f\n"                                                                             \
    "bcc.n " second "f\n"                                                                          \
    pair ":\n"                                                                                     \
    MG_MVE_TILE_STEP                                                                               \
    second ":\n"                                                                                   \
    MG_MVE_TILE_STEP                                                                               \
    "subs r7, r7, #1\n"                                                                            \
    "bne.n " pair "b\n"                                                                            \
    end ":\n"

/* Moves the sums of two filters to two lanes. */
#define MG_MVE_TILE_LANES(a, b)                                                                    \
    "vmov q0[" a "], q0[" b "], r0, r2\n"                                                          \
    "vmov q1[" a "], q1[" b "], r4, r6\n"                                                          \
    "vmov q2[" a "], q2[" b "], r8, r10\n"                                                         \
    "vmov q3[" a "], q3[" b "], r12, lr\n"

/* An operation with each of the vectors of sums. */
#define MG_MVE_EACH(operation, operand)                                                            \
    operation " q0, q0, " operand "\n"                                                             \
    operation " q1, q1, " operand "\n"                                                             \
    operation " q2, q2, " operand "\n"                                                             \
    operation " q3, q3, " operand "\n"
/* The shifts, and products of sums and multipliers. Ties that are rounded upwards come out as if they
 * were rounded away from zero if negative products are one less: VQDMLAH by 1 adds the sign. */
#define MG_MVE_TILE_TWICE                                                                          \
    "vldrb.s32 q6,[r3],#4\n"                                                                       \
    "lsrs r12, r7, #1\n"                                                                           \
    "vmvn q6,q6\n"                                                                                 \
    "bne.n 9f\n"                                                                                   \
    MG_MVE_EACH("vqrdmulh.s32", "q5")                                                              \
    "bcc.n 7f\n"                                                                                   \
    "vqdmlah.s32 q0, q0, r7\n"                                                                     \
    "vqdmlah.s32 q1, q1, r7\n"                                                                     \
    "vqdmlah.s32 q2, q2, r7\n"                                                                     \
    "vqdmlah.s32 q3, q3, r7\n"                                                                     \
    "7:\n"                                                                                         \
    MG_MVE_EACH("vrshl.s32", "q6")
#define MG_MVE_TILE_UPWARD                                                                         \
    "9:\n"                                                                                         \
    MG_MVE_EACH("vqdmulh.s32", "q5")                                                               \
    "b.n 7b\n"

/* MG_ROUND_FLOAT_FPU. */
#define MG_MVE_CONVERT(operation)                                                                  \
    operation " q0, q0\n"                                                                          \
    operation " q1, q1\n"                                                                          \
    operation " q2, q2\n"                                                                          \
    operation " q3, q3\n"
#define MG_MVE_TILE_FLOAT                                                                          \
    MG_MVE_CONVERT("vcvt.f32.s32")                                                                 \
    MG_MVE_EACH("vmul.f32", "q5")                                                                  \
    MG_MVE_CONVERT("vcvtn.s32.f32")

/* Makes outputs of the sums and stores them. The vectors of two pixels become one of int16. Ends
 * with the flags of the groups that are left. */
#define MG_MVE_TILE_STORE(scale)                                                                   \
    "add r11, sp, #20\n"                                                                           \
    "ldm r11, {r0, r2, r3, r4, r5, r6, r7, r8, r9, r10}\n"                                         \
    "vldrw.32 q4,[r0],#16\n"                                                                       \
    "vldrw.32 q5,[r2],#16\n"                                                                       \
    MG_MVE_EACH("vadd.i32", "q4")                                                                  \
    scale                                                                                          \
    "vqmovnb.s32 q0,q0\n"                                                                          \
    "vqmovnb.s32 q2,q2\n"                                                                          \
    "vqmovnt.s32 q0,q1\n"                                                                          \
    "vqmovnt.s32 q2,q3\n"                                                                          \
    "vldrw.32 q6,[r10,#32]\n"                                                                      \
    "vqadd.s16 q0,q0,r9\n"                                                                         \
    "vqadd.s16 q2,q2,r9\n"                                                                         \
    "cbz r6, 6f\n"                                                                                 \
    "vldrw.32 q4,[r10]\n"                                                                          \
    "vldrw.32 q5,[r10,#16]\n"                                                                      \
    "vmax.s16 q0,q0,q4\n"                                                                          \
    "vmax.s16 q2,q2,q4\n"                                                                          \
    "vmin.s16 q0,q0,q5\n"                                                                          \
    "vmin.s16 q2,q2,q5\n"                                                                          \
    "6:\n"                                                                                         \
    "vqmovnb.s16 q0,q0\n"                                                                          \
    "vqmovnb.s16 q2,q2\n"                                                                          \
    "add r8, r8, r4\n"                                                                             \
    "vstrb.16 q0,[r4,q6]\n"                                                                        \
    "adds r4, r4, #4\n"                                                                            \
    "vstrb.16 q2,[r8,q6]\n"                                                                        \
    "subs r5, r5, #1\n"                                                                            \
    "stm r11, {r0, r2, r3, r4, r5}\n"

/* Copies the tile to the stack. There it has five words between its pixels and the others: how far
 * the bias, the multipliers, the shifts, the outputs and the groups are. */
#define MG_MVE_TILE_ENTER                                                                          \
    "sub sp, sp, #104\n"                                                                           \
    "str r7, [sp, #100]\n"                                                                         \
    "ldm r0!, {r2-r6}\n"                                                                           \
    "stm sp, {r2-r6}\n"                                                                            \
    "add r1, sp, #40\n"                                                                            \
    "ldm r0!, {r2-r9}\n"                                                                           \
    "stm r1!, {r2-r9}\n"                                                                           \
    "ldm r0, {r2-r9}\n"                                                                            \
    "stm r1, {r2-r8}\n"                                                                            \
    "vmsr p0, r9\n"
#define MG_MVE_TILE_BEGIN                                                                          \
    "1:\n"                                                                                         \
    "add r0, sp, #60\n"                                                                            \
    "ldm r0, {r0, r1, r2, r3, r4, r5}\n"                                                           \
    "add r6, sp, #20\n"                                                                            \
    "stm r6, {r0, r2, r3, r4, r5}\n"                                                               \
    "2:\n"
#define MG_MVE_TILE_LOAD "ldm sp, {r3, r5, r7, r9, r11}\n"

/* After a group: the next whole one; the last one that overlaps with it, whose number is -1; or the
 * next four pixels. */
#define MG_MVE_TILE_NEXT(others)                                                                   \
    "bgt.w 2b\n"                                                                                   \
    "bmi.n 3f\n"                                                                                   \
    "ldr r7, [sp, #96]\n"                                                                          \
    "cbz r7, 3f\n"                                                                                 \
    "sub r0, r0, r7, lsl #2\n"                                                                     \
    "sub r2, r2, r7, lsl #2\n"                                                                     \
    "subs r3, r3, r7\n"                                                                            \
    "subs r4, r4, r7\n"                                                                            \
    "stm r11, {r0, r2, r3, r4, r5}\n"                                                              \
    "b.w 2b\n"                                                                                     \
    others                                                                                         \
    "3:\n"                                                                                         \
    "add r6, sp, #76\n"                                                                            \
    "ldm r6, {r4, r5, r6, r7, r8}\n"                                                               \
    "subs r8, r8, #1\n"                                                                            \
    "beq.n 4f\n"                                                                                   \
    "add r4, r4, r7\n"                                                                             \
    "str r4, [sp, #76]\n"                                                                          \
    "str r8, [sp, #92]\n"                                                                          \
    MG_MVE_TILE_LOAD                                                                               \
    "add r3, r3, r6\n"                                                                             \
    "add r5, r5, r6\n"                                                                             \
    "add r9, r9, r6\n"                                                                             \
    "add r11, r11, r6\n"                                                                           \
    "stm sp, {r3, r5, r7, r9, r11}\n"                                                          \
    "b.w 1b\n"                                                                                     \
    "4:\n"                                                                                         \
    "ldr r7, [sp, #100]\n"                                                                         \
    "add sp, sp, #104\n"

/* clang-format on */

/* Registers but r0, which has the tile, and r7, which may be a frame pointer and is restored. */
#define MG_MVE_TILE_ASM(...)                                                                       \
    __asm__ volatile(__VA_ARGS__                                                                   \
                     : "+r"(at)                                                                    \
                     :                                                                             \
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr",  \
                       "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")

/* Defines a function that computes a tile's passes. Out of line for all layers of a model. */
#define MG_MVE_TILE_FUNCTION(name, scale, others)                                                  \
    static __attribute__((noinline, unused)) void name(const mg_mve_tile *tile)                    \
    {                                                                                              \
        register const mg_mve_tile *at __asm__("r0") = tile;                                       \
        MG_MVE_TILE_ASM(MG_MVE_TILE_ENTER MG_MVE_TILE_BEGIN MG_MVE_TILE_LOAD MG_MVE_TILE_DEEP(     \
            "11", "12", "13") MG_MVE_TILE_LANES("2", "0")                                          \
                            MG_MVE_TILE_LOAD MG_MVE_TILE_DEEP("14", "15", "16")                    \
                                MG_MVE_TILE_LANES("3", "1") MG_MVE_TILE_STORE(scale)               \
                                    MG_MVE_TILE_NEXT(others));                                     \
    }

MG_MVE_TILE_FUNCTION(mg_mve_tile_compute, MG_MVE_TILE_TWICE, MG_MVE_TILE_UPWARD)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_TILE_FUNCTION(mg_mve_tile_compute_float, MG_MVE_TILE_FLOAT, "")
#endif

#else

/* The same in C, because without optimisation the assembly would need too many registers. */
MG_INLINE int32_t mg_mve_tile_sum(const mg_mve_tile *tile, const int8_t *weight,
                                  const int8_t *pixel, int32_t filter)
{
    const int32_t vectors = tile->vectors;
    const int8_t *from = weight + ((filter & 1) * 2 * vectors + filter / 2) * MG_MVE_BYTES;
    int32_t sum = 0;

    for (int32_t k = 0; k < vectors * MG_MVE_BYTES; k++) {
        if (k >= MG_MVE_BYTES || (tile->lanes >> k & 1) != 0) {
            sum += from[k / MG_MVE_BYTES * 2 * MG_MVE_BYTES + k % MG_MVE_BYTES] * pixel[k];
        }
    }
    return sum;
}

MG_INLINE int32x4_t mg_mve_tile_scaled(const mg_mve_tile *tile, int32_t c, int32x4_t sums,
                                       int requantization)
{
    const int32x4_t multiplier = vldrwq_s32(&tile->multiplier[c]);

#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        return mg_mve_scaled_in_float(sums, multiplier);
    }
#endif
    (void)requantization;
    const int32x4_t right = vmvnq_s32(vldrbq_s32(&tile->shift[c]));
    if (tile->rounding == MG_MVE_TIES_UPWARD) {
        return vrshlq_s32(vqdmulhq_s32(sums, multiplier), right);
    }
    const int32x4_t x = vqrdmulhq_s32(sums, multiplier);
    return vrshlq_s32((tile->rounding == MG_MVE_TIES_AWAY) ? mg_mve_ties_down(x) : x, right);
}

/* The outputs of a pixel for four filters from `c` on, whose weights are those of a group. */
MG_INLINE void mg_mve_tile_pixel(const mg_mve_tile *tile, int32_t group, int32_t c,
                                 const int8_t *pixel, int8_t *output, int requantization)
{
    const int8_t *weight = tile->weight + group * MG_MVE_FILTERS * tile->vectors * MG_MVE_BYTES;
    int32_t sum[MG_MVE_FILTERS];
    int8_t stored[MG_MVE_FILTERS];
    uint16_t places[2 * MG_MVE_FILTERS];

    vst1q_u16(places, tile->shared->places);
    for (int32_t i = 0; i < MG_MVE_FILTERS; i++) {
        sum[i] = mg_mve_tile_sum(tile, weight, pixel, i);
    }
    const int32x4_t sums = vaddq_s32(vldrwq_s32(sum), vldrwq_s32(&tile->bias[c]));
    const int32x4_t x = mg_mve_tile_scaled(tile, c, sums, requantization);
    vstrbq_s32(stored,
               mg_mve_offset_and_clamp(x, tile->offset, vgetq_lane_s16(tile->shared->low, 0),
                                       vgetq_lane_s16(tile->shared->high, 0)));
    for (int32_t i = 0; i < MG_MVE_FILTERS; i++) {
        output[c + places[2 * i]] = stored[i];
    }
}

MG_INLINE void mg_mve_tile_pixels(const mg_mve_tile *tile, int requantization)
{
    const int32_t apart = vgetq_lane_u16(tile->shared->places, 1);
    const int32_t groups = tile->groups + ((tile->back != 0) ? 1 : 0);

    for (int32_t pass = 0; pass < tile->passes; pass++) {
        const int32_t on = pass * tile->advance;
        int8_t *to = tile->output + pass * tile->jump;
        for (int32_t i = 0; i < groups; i++) {
            const int32_t c = i * MG_MVE_FILTERS - ((i == tile->groups) ? tile->back : 0);
            mg_mve_tile_pixel(tile, i, c, tile->first[0] + on, to, requantization);
            mg_mve_tile_pixel(tile, i, c, tile->first[1] + on, to + apart, requantization);
            mg_mve_tile_pixel(tile, i, c, tile->second[0] + on, to + tile->below, requantization);
            mg_mve_tile_pixel(tile, i, c, tile->second[1] + on, to + tile->below + apart,
                              requantization);
        }
    }
}

#define MG_MVE_TILE_FUNCTION(name, requantization)                                                 \
    static __attribute__((noinline, unused)) void name(const mg_mve_tile *tile)                    \
    {                                                                                              \
        mg_mve_tile_pixels(tile, requantization);                                                  \
    }

MG_MVE_TILE_FUNCTION(mg_mve_tile_compute, MG_ROUND_TWICE_NARROW)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_TILE_FUNCTION(mg_mve_tile_compute_float, MG_ROUND_FLOAT_FPU)
#endif

#endif

/* Bytes between the begin of a pixel's first vector and the pixel. */
MG_INLINE int32_t mg_mve_lead(int32_t depth)
{
    return -depth & (MG_MVE_BYTES - 1);
}

/* Where the outputs of a tile go. If there are less than four pixels, some are computed twice: the
 * second two overlap with the first two, or all are one. So do filters. Out of line. */
static __attribute__((noinline, unused)) void mg_mve_tile_scatter(mg_mve_tile *tile,
                                                                  mg_mve_tile_vectors *vectors,
                                                                  const mg_mve_rows *r,
                                                                  int32_t count)
{
    const int32_t apart = (count > 1) ? r->channels : 0;
    const uint16x8_t lanes = vidupq_n_u16(0, 1);
    const uint16x8_t filters =
        vminq_u16(vshrq_n_u16(lanes, 1), vdupq_n_u16((uint16_t)(r->channels - 1)));

    vectors->low = vdupq_n_s16((int16_t)r->activation_min);
    vectors->high = vdupq_n_s16((int16_t)r->activation_max);
    vectors->places = vmlaq_n_u16(filters, vandq_u16(lanes, vdupq_n_u16(1)), (uint16_t)apart);
    tile->below = ((count < 2) ? 0 : count - 2) * r->channels;
}

MG_INLINE void mg_mve_tile_any(const mg_mve_tile *tile, int requantization)
{
    MG_MVE_EITHER(mg_mve_tile_compute, requantization, tile);
}

/* How a layer's ties are rounded. Where the clamp removes negative results, it does not matter. */
MG_INLINE int32_t mg_mve_tile_rounding(const mg_mve_rows *r, int requantization)
{
    if (requantization == MG_ROUND_UPWARD_NARROW) {
        return MG_MVE_TIES_UPWARD;
    }
    return (r->activation_min >= r->output_offset) ? MG_MVE_TIES_EITHER : MG_MVE_TIES_AWAY;
}

/* Begins with the first filters of a layer. There are no pixels yet. */
MG_INLINE void mg_mve_tile_begin(mg_mve_tile *tile, const mg_mve_rows *r, int32_t depth,
                                 int8_t *output, const mg_mve_tile_vectors *vectors,
                                 int requantization)
{
    const uint32_t channels = (uint32_t)r->channels;

    tile->vectors = (int32_t)((uint32_t)(depth + MG_MVE_BYTES - 1) / MG_MVE_BYTES);
    tile->is_clamped = (r->activation_min > INT8_MIN || r->activation_max < INT8_MAX) ? 1 : 0;
    tile->rounding = mg_mve_tile_rounding(r, requantization);
    tile->offset = r->output_offset;
    tile->shared = vectors;
    tile->bias = r->bias;
    tile->weight = r->weight;
    tile->multiplier = r->multiplier;
    tile->shift = r->shift;
    tile->output = output;
    tile->jump = MG_MVE_PIXELS * r->channels;
    tile->passes = 1;
    tile->groups = 1;
    tile->back = 0;
    if (channels >= MG_MVE_FILTERS) {
        tile->groups = (int32_t)(channels / MG_MVE_FILTERS);
        tile->back = (int32_t)(-channels % MG_MVE_FILTERS);
    }
    tile->lanes = 0xFFFF << mg_mve_lead(depth);
}

/* A layer's tiles, which are computed pixel after pixel. */
typedef struct {
    mg_mve_tile tile;
    mg_mve_tile_vectors vectors;
    const mg_mve_rows *rows;
} mg_mve_tiles;

MG_INLINE void mg_mve_tiles_begin_body(mg_mve_tiles *t, const mg_mve_rows *r, int32_t depth,
                                       int8_t *output, int requantization)
{
    t->rows = r;
    mg_mve_tile_begin(&t->tile, r, depth, output, &t->vectors, requantization);
    mg_mve_tile_scatter(&t->tile, &t->vectors, r, MG_MVE_PIXELS);
}

/* Begins a layer. Out of line, so that all layers of a model share it. With MG_ROUND_TWICE_NARROW
 * or MG_ROUND_UPWARD_NARROW. */
static __attribute__((noinline, unused)) void mg_mve_tiles_begin(mg_mve_tiles *t,
                                                                 const mg_mve_rows *r,
                                                                 int32_t depth, int8_t *output,
                                                                 int requantization)
{
    mg_mve_tiles_begin_body(t, r, depth, output, requantization);
}

/* The next pixel, and how many there are before a gap. */
typedef struct {
    const int8_t *pixel;
    int32_t left;
} mg_mve_place;

/* Points to the next four pixels, between which there is no gap. */
MG_INLINE void mg_mve_tile_point(mg_mve_tile *tile, const int8_t *pixel, int32_t step)
{
    tile->first[0] = pixel;
    tile->first[1] = tile->first[0] + step;
    tile->second[0] = tile->first[1] + step;
    tile->second[1] = tile->second[0] + step;
}

/* Moves behind `count` pixels, of which the last one may be before a gap. */
MG_INLINE void mg_mve_place_next(const mg_mve_places *of, mg_mve_place *next, int32_t count)
{
    next->pixel += count * of->step;
    next->left -= count;
    if (next->left == 0) {
        next->pixel += of->gap;
        next->left = of->width;
    }
}

/* Points to the next `count` pixels: four or less. */
MG_INLINE void mg_mve_tile_walk(mg_mve_tile *tile, const mg_mve_places *of, mg_mve_place *next,
                                int32_t count)
{
    const int32_t pair = (count > 1) ? 1 : 0;
    const int32_t below = (count > 1) ? count - 2 : 0;
    const int8_t *at[MG_MVE_PIXELS];

    for (int32_t i = 0; i < count; i++) {
        at[i] = next->pixel;
        mg_mve_place_next(of, next, 1);
    }
    tile->first[0] = at[0];
    tile->first[1] = at[pair];
    tile->second[0] = at[below];
    tile->second[1] = at[below + pair];
}

MG_INLINE void mg_mve_tiles_run_body(mg_mve_tiles *t, const mg_mve_places *of, const int8_t *input,
                                     int32_t count, int is_again, int requantization)
{
    /* By integers, because there may be nothing before the first pixel. */
    const uintptr_t first = (uintptr_t)input - (uintptr_t)mg_mve_lead(of->depth);
    mg_mve_tile *tile = &t->tile;
    mg_mve_place next = {(const int8_t *)first, (of->gap != 0) ? of->width : count};
    int32_t left = count;

    tile->advance = MG_MVE_PIXELS * of->step;
    while (left > 0) {
        if (is_again && left < MG_MVE_PIXELS && count >= MG_MVE_PIXELS) {
            const int32_t back = MG_MVE_PIXELS - left;
            next.pixel -= back * of->step;
            next.left = MG_MVE_PIXELS;
            tile->output -= back * t->rows->channels;
            left = MG_MVE_PIXELS;
        }
        const int32_t most = (left < next.left) ? left : next.left;
        int32_t pixels = (int32_t)((uint32_t)most / MG_MVE_PIXELS * MG_MVE_PIXELS);
        if (pixels > 0) {
            mg_mve_tile_point(tile, next.pixel, of->step);
            mg_mve_place_next(of, &next, pixels);
            tile->passes = (int32_t)((uint32_t)pixels / MG_MVE_PIXELS);
            mg_mve_tile_any(tile, requantization);
        } else {
            pixels = (left < MG_MVE_PIXELS) ? left : MG_MVE_PIXELS;
            mg_mve_tile_scatter(tile, &t->vectors, t->rows, pixels);
            mg_mve_tile_walk(tile, of, &next, pixels);
            tile->passes = 1;
            mg_mve_tile_any(tile, requantization);
            mg_mve_tile_scatter(tile, &t->vectors, t->rows, MG_MVE_PIXELS);
        }
        tile->output += pixels * t->rows->channels;
        left -= pixels;
    }
}

/* Computes the next `count` pixels, for all channels. Reads mg_mve_lead bytes before the third
 * pixel and those after it, too, or before all if there are less than four. If pixels may be
 * computed `is_again`, there is no gap between them. Out of line. */
static __attribute__((noinline, unused)) void mg_mve_tiles_run(mg_mve_tiles *t,
                                                               const mg_mve_places *of,
                                                               const int8_t *input, int32_t count,
                                                               int is_again)
{
    mg_mve_tiles_run_body(t, of, input, count, is_again, MG_ROUND_TWICE_NARROW);
}

#ifdef MG_MVE_HAS_FLOATS
static __attribute__((noinline, unused)) void
mg_mve_tiles_begin_float(mg_mve_tiles *t, const mg_mve_rows *r, int32_t depth, int8_t *output)
{
    mg_mve_tiles_begin_body(t, r, depth, output, MG_ROUND_FLOAT_FPU);
}

static __attribute__((noinline, unused)) void mg_mve_tiles_run_float(mg_mve_tiles *t,
                                                                     const mg_mve_places *of,
                                                                     const int8_t *input,
                                                                     int32_t count, int is_again)
{
    mg_mve_tiles_run_body(t, of, input, count, is_again, MG_ROUND_FLOAT_FPU);
}
#endif

/* The scales of a layer of less than four filters, of which the last one fills the places. */
typedef struct {
    int32_t bias[MG_MVE_FILTERS];
    int32_t multiplier[MG_MVE_FILTERS];
    int8_t shift[MG_MVE_FILTERS];
} mg_mve_few;

MG_INLINE void mg_mve_tiles_fill(mg_mve_few *few, mg_mve_tiles *t, const mg_mve_rows *r,
                                 int requantization)
{
    for (int32_t i = 0; i < MG_MVE_FILTERS; i++) {
        const int32_t c = (i < r->channels) ? i : r->channels - 1;
        few->bias[i] = r->bias[c];
        few->multiplier[i] = r->multiplier[c];
        if (requantization != MG_ROUND_FLOAT_FPU) {
            few->shift[i] = r->shift[c];
        }
    }
    t->tile.bias = few->bias;
    t->tile.multiplier = few->multiplier;
    t->tile.shift = few->shift;
}

/* The two with MG_ROUND_TWICE_NARROW, MG_ROUND_UPWARD_NARROW or MG_ROUND_FLOAT_FPU. Layers of few
 * filters need `few`. */
MG_INLINE void mg_mve_tiles_begin_with(mg_mve_tiles *t, mg_mve_few *few, const mg_mve_rows *r,
                                       int32_t depth, int8_t *output, int requantization)
{
    const int is_few = r->channels < MG_MVE_FILTERS; /* a constant only before the call */

#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        mg_mve_tiles_begin_float(t, r, depth, output);
    } else
#endif
    {
        mg_mve_tiles_begin(t, r, depth, output, requantization);
    }
    if (is_few) {
        mg_mve_tiles_fill(few, t, r, requantization);
    }
}

MG_INLINE void mg_mve_tiles_run_with(mg_mve_tiles *t, const mg_mve_places *of, const int8_t *input,
                                     int32_t count, int is_again, int requantization)
{
    MG_MVE_EITHER(mg_mve_tiles_run, requantization, t, of, input, count, is_again);
}

/* Computes all `count` pixels of a layer, as mg_mve_tiles_run. Out of line. */
static __attribute__((noinline, unused)) void mg_mve_tiles_all(const mg_mve_rows *r,
                                                               const mg_mve_places *of,
                                                               const int8_t *input, int32_t count,
                                                               int8_t *output, int requantization)
{
    mg_mve_tiles tiles;

    mg_mve_tiles_begin(&tiles, r, of->depth, output, requantization);
    mg_mve_tiles_run(&tiles, of, input, count, 0);
}

#endif

#endif
