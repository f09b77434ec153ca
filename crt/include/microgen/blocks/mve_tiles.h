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

/* A tile, in the order in which the assembly loads it. Two pixels follow the other two by `below`
 * bytes of the output. */
typedef struct {
    const int8_t *first[2]; /* pixels */
    int32_t steps;          /* vectors after the first one */
    const int8_t *second[2];
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int8_t *output;
    int32_t groups;    /* of filters */
    int32_t is_upward; /* 1 if it does not matter how ties of negative values are rounded */
    int32_t below;
    int32_t offset;
    const mg_mve_tile_vectors *vectors;
    const int8_t *weight;
    int32_t lanes; /* of a first vector that are inside: a bit for each */
} mg_mve_tile;

#if defined(__OPTIMIZE__)

/* clang-format off */

/* Sums of sixteen products of two filters and four pixels. */
#define MG_MVE_TILE_STEP(sum)                                                                      \
    "vldrb.8 q4,[r1],#32\n"                                                                        \
    "vldrb.8 q6,[r3],#16\n"                                                                        \
    "vldrb.8 q5,[r1,#-16]\n"                                                                       \
    sum ".s8 r0, q4, q6\n"                                                                         \
    "vldrb.8 q7,[r5],#16\n"                                                                        \
    sum ".s8 r2, q5, q6\n"                                                                         \
    sum ".s8 r4, q4, q7\n"                                                                         \
    "vldrb.8 q6,[r9],#16\n"                                                                        \
    sum ".s8 r6, q5, q7\n"                                                                         \
    sum ".s8 r8, q4, q6\n"                                                                         \
    "vldrb.8 q7,[r11],#16\n"                                                                       \
    sum ".s8 r10, q5, q6\n"                                                                        \
    sum ".s8 r12, q4, q7\n"                                                                        \
    sum ".s8 lr, q5, q7\n"

/* All products of two filters and four pixels: of one vector, of another one if r7 is odd, and of
 * pairs of vectors. The flags remain for the second branch, because vectors do not change them. */
#define MG_MVE_TILE_DEEP(even, pair, end)                                                          \
    MG_MVE_TILE_STEP("vmladav")                                                                    \
    "lsrs r7, r7, #1\n"                                                                            \
    "bcc.n " even "f\n"                                                                            \
    MG_MVE_TILE_STEP("vmladava")                                                                   \
    even ":\n"                                                                                     \
    "beq.n " end "f\n"                                                                             \
    pair ":\n"                                                                                     \
    MG_MVE_TILE_STEP("vmladava")                                                                   \
    MG_MVE_TILE_STEP("vmladava")                                                                   \
    "subs r7, r7, #1\n"                                                                            \
    "bne.n " pair "b\n"                                                                            \
    end ":\n"

/* The same without inputs before the pixels, and with single vectors after the first one. */
#define MG_MVE_TILE_PART(next, end)                                                                \
    "vldrb.8 q4,[r1],#32\n"                                                                        \
    "vpstt\n"                                                                                      \
    "vldrbt.u8 q6,[r3],#16\n"                                                                      \
    "vldrbt.u8 q7,[r5],#16\n"                                                                      \
    "vldrb.8 q5,[r1,#-16]\n"                                                                       \
    "vmladav.s8 r0,q4,q6\n"                                                                        \
    "vmladav.s8 r4,q4,q7\n"                                                                        \
    "vmladav.s8 r2,q5,q6\n"                                                                        \
    "vmladav.s8 r6,q5,q7\n"                                                                        \
    "vpstt\n"                                                                                      \
    "vldrbt.u8 q6,[r9],#16\n"                                                                      \
    "vldrbt.u8 q7,[r11],#16\n"                                                                     \
    "vmladav.s8 r8,q4,q6\n"                                                                        \
    "vmladav.s8 r10,q5,q6\n"                                                                       \
    "vmladav.s8 r12,q4,q7\n"                                                                       \
    "vmladav.s8 lr,q5,q7\n"                                                                        \
    "cbz r7, " end "f\n"                                                                           \
    next ":\n"                                                                                     \
    MG_MVE_TILE_STEP("vmladava")                                                                   \
    "subs r7, r7, #1\n"                                                                            \
    "bne.n " next "b\n"                                                                            \
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
#define MG_MVE_TIES(x) "vshr.s32 q7, " x ", #31\nvadd.i32 " x ", " x ", q7\n"

/* MG_ROUND_TWICE_NARROW. r6 is whether it does not matter how ties of negative values are rounded. */
#define MG_MVE_TILE_TWICE                                                                          \
    "vldrb.s32 q6,[r3],#4\n"                                                                       \
    MG_MVE_EACH("vqrdmulh.s32", "q5")                                                              \
    "vmvn q6,q6\n"                                                                                 \
    "cbnz r6, 8f\n"                                                                                \
    MG_MVE_TIES("q0") MG_MVE_TIES("q1") MG_MVE_TIES("q2") MG_MVE_TIES("q3")                        \
    "8:\n"                                                                                         \
    MG_MVE_EACH("vrshl.s32", "q6")

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
    "add r0, sp, #20\n"                                                                            \
    "ldm r0, {r0, r2, r3, r4, r5, r6, r8, r9, r10}\n"                                              \
    "vldrw.32 q4,[r0],#16\n"                                                                       \
    "vldrw.32 q5,[r2],#16\n"                                                                       \
    MG_MVE_EACH("vadd.i32", "q4")                                                                  \
    scale                                                                                          \
    "vldrw.32 q4,[r10]\n"                                                                          \
    "vqmovnb.s32 q0,q0\n"                                                                          \
    "vqmovnb.s32 q2,q2\n"                                                                          \
    "vldrw.32 q5,[r10,#16]\n"                                                                      \
    "vqmovnt.s32 q0,q1\n"                                                                          \
    "vqmovnt.s32 q2,q3\n"                                                                          \
    "vldrw.32 q6,[r10,#32]\n"                                                                      \
    "vqadd.s16 q0,q0,r9\n"                                                                         \
    "vqadd.s16 q2,q2,r9\n"                                                                         \
    "vmax.s16 q0,q0,q4\n"                                                                          \
    "vmax.s16 q2,q2,q4\n"                                                                          \
    "vmin.s16 q0,q0,q5\n"                                                                          \
    "vmin.s16 q2,q2,q5\n"                                                                          \
    "add r8, r8, r4\n"                                                                             \
    "vstrb.16 q0,[r4,q6]\n"                                                                        \
    "adds r4, r4, #4\n"                                                                            \
    "vstrb.16 q2,[r8,q6]\n"                                                                        \
    "add r6, sp, #20\n"                                                                            \
    "subs r5, r5, #1\n"                                                                            \
    "stm r6, {r0, r2, r3, r4, r5}\n"

/* Copies the tile to the stack. */
#define MG_MVE_TILE_ENTER                                                                          \
    "push {r7}\n"                                                                                  \
    "add r1, r0, #32\n"                                                                            \
    "ldm r1!, {r2-r7}\n"                                                                           \
    "push {r2-r7}\n"                                                                               \
    "ldm r0, {r2-r9}\n"                                                                            \
    "push {r2-r9}\n"                                                                               \
    "ldrd r1, r4, [r1]\n"
#define MG_MVE_TILE_LOAD "ldm sp, {r3, r5, r7, r9, r11}\n"
#define MG_MVE_TILE_LEAVE "add sp, sp, #56\npop {r7}"

/* clang-format on */

/* Registers but r0, which has the tile, and r7, which may be a frame pointer and is restored. */
#define MG_MVE_TILE_ASM(...)                                                                       \
    __asm__ volatile(__VA_ARGS__                                                                   \
                     : "+r"(at)                                                                    \
                     :                                                                             \
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr",  \
                       "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")

/* Defines functions that compute tile->groups groups of filters. The first one reads whole vectors,
 * the other reads nothing before the pixels. Out of line for all layers of a model. */
#define MG_MVE_TILE_FUNCTIONS(deep, part, scale)                                                   \
    static __attribute__((noinline, unused)) void deep(const mg_mve_tile *tile)                    \
    {                                                                                              \
        register const mg_mve_tile *at __asm__("r0") = tile;                                       \
        MG_MVE_TILE_ASM(MG_MVE_TILE_ENTER "1:\n" MG_MVE_TILE_LOAD MG_MVE_TILE_DEEP("2", "3", "4")  \
                            MG_MVE_TILE_LANES("2", "0") MG_MVE_TILE_LOAD MG_MVE_TILE_DEEP(         \
                                "5", "6", "7") MG_MVE_TILE_LANES("3", "1")                         \
                                MG_MVE_TILE_STORE(scale) "bne.w 1b\n\t" MG_MVE_TILE_LEAVE);        \
    }                                                                                              \
    static __attribute__((noinline, unused)) void part(const mg_mve_tile *tile)                    \
    {                                                                                              \
        register const mg_mve_tile *at __asm__("r0") = tile;                                       \
        MG_MVE_TILE_ASM(                                                                           \
            MG_MVE_TILE_ENTER                                                                      \
            "vmsr p0, r4\n"                                                                        \
            "1:\n" MG_MVE_TILE_LOAD MG_MVE_TILE_PART("2", "3") MG_MVE_TILE_LANES("2", "0")         \
                MG_MVE_TILE_LOAD MG_MVE_TILE_PART("4", "5") MG_MVE_TILE_LANES("3", "1")            \
                    MG_MVE_TILE_STORE(scale) "bne.w 1b\n\t" MG_MVE_TILE_LEAVE);                    \
    }

MG_MVE_TILE_FUNCTIONS(mg_mve_tile_deep, mg_mve_tile_part, MG_MVE_TILE_TWICE)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_TILE_FUNCTIONS(mg_mve_tile_deep_float, mg_mve_tile_part_float, MG_MVE_TILE_FLOAT)
#endif

#else

/* The same in C, because without optimisation the assembly would need too many registers. */
MG_INLINE int32_t mg_mve_tile_sum(const mg_mve_tile *tile, const int8_t *weight,
                                  const int8_t *pixel, int32_t filter)
{
    const int32_t vectors = tile->steps + 1;
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
    const int32x4_t x = vqrdmulhq_s32(sums, multiplier);
    return vrshlq_s32((tile->is_upward != 0) ? x : mg_mve_ties_down(x),
                      vmvnq_s32(vldrbq_s32(&tile->shift[c])));
}

MG_INLINE void mg_mve_tile_pixel(const mg_mve_tile *tile, int32_t group, const int8_t *pixel,
                                 int8_t *output, int requantization)
{
    const int32_t c = group * MG_MVE_FILTERS;
    const int8_t *weight = tile->weight + c * (tile->steps + 1) * MG_MVE_BYTES;
    int32_t sum[MG_MVE_FILTERS];

    for (int32_t i = 0; i < MG_MVE_FILTERS; i++) {
        sum[i] = mg_mve_tile_sum(tile, weight, pixel, i);
    }
    const int32x4_t sums = vaddq_s32(vldrwq_s32(sum), vldrwq_s32(&tile->bias[c]));
    const int32x4_t x = mg_mve_tile_scaled(tile, c, sums, requantization);
    vstrbq_s32(&output[c],
               mg_mve_offset_and_clamp(x, tile->offset, vgetq_lane_s16(tile->vectors->low, 0),
                                       vgetq_lane_s16(tile->vectors->high, 0)));
}

MG_INLINE void mg_mve_tile_pixels(const mg_mve_tile *tile, int requantization)
{
    const int32_t apart = vgetq_lane_u16(tile->vectors->places, 1);
    int8_t *to = tile->output;

    for (int32_t i = 0; i < tile->groups; i++) {
        mg_mve_tile_pixel(tile, i, tile->first[0], to, requantization);
        mg_mve_tile_pixel(tile, i, tile->first[1], to + apart, requantization);
        mg_mve_tile_pixel(tile, i, tile->second[0], to + tile->below, requantization);
        mg_mve_tile_pixel(tile, i, tile->second[1], to + tile->below + apart, requantization);
    }
}

#define MG_MVE_TILE_FUNCTIONS(deep, part, requantization)                                          \
    static __attribute__((noinline, unused)) void deep(const mg_mve_tile *tile)                    \
    {                                                                                              \
        mg_mve_tile_pixels(tile, requantization);                                                  \
    }                                                                                              \
    static __attribute__((noinline, unused)) void part(const mg_mve_tile *tile)                    \
    {                                                                                              \
        deep(tile);                                                                                \
    }

MG_MVE_TILE_FUNCTIONS(mg_mve_tile_deep, mg_mve_tile_part, MG_ROUND_TWICE_NARROW)
#ifdef MG_MVE_HAS_FLOATS
MG_MVE_TILE_FUNCTIONS(mg_mve_tile_deep_float, mg_mve_tile_part_float, MG_ROUND_FLOAT_FPU)
#endif

#endif

/* Bytes between the begin of a pixel's first vector and the pixel. */
MG_INLINE int32_t mg_mve_lead(int32_t depth)
{
    return -depth & (MG_MVE_BYTES - 1);
}

/* Where the outputs of a tile go. If there are less than four pixels, some are computed twice: the
 * second two overlap with the first two, or all are one. */
MG_INLINE mg_mve_tile_vectors mg_mve_tile_scatter(mg_mve_tile *tile, const mg_mve_rows *r,
                                                  int32_t count)
{
    const int32_t apart = (count > 1) ? r->channels : 0;
    const uint16x8_t lanes = vidupq_n_u16(0, 1);
    const mg_mve_tile_vectors vectors = {
        vdupq_n_s16((int16_t)r->activation_min), vdupq_n_s16((int16_t)r->activation_max),
        vmlaq_n_u16(vshrq_n_u16(lanes, 1), vandq_u16(lanes, vdupq_n_u16(1)), (uint16_t)apart)};

    tile->below = ((count < 2) ? 0 : count - 2) * r->channels;
    return vectors;
}

/* The next pixel, and how many there are before `gap`. */
typedef struct {
    const int8_t *pixel;
    int32_t left;
} mg_mve_place;

/* The next pixel is after a gap. */
MG_INLINE void mg_mve_place_skip(const mg_mve_places *of, mg_mve_place *next)
{
    next->pixel += of->gap;
    next->left = of->width;
}

/* Points to the next four pixels, between which there is no gap. */
MG_INLINE void mg_mve_tile_point(mg_mve_tile *tile, const mg_mve_places *of, mg_mve_place *next)
{
    tile->first[0] = next->pixel;
    tile->first[1] = tile->first[0] + of->step;
    tile->second[0] = tile->first[1] + of->step;
    tile->second[1] = tile->second[0] + of->step;
    next->pixel = tile->second[1] + of->step;
    next->left -= MG_MVE_PIXELS;
    if (next->left == 0) {
        mg_mve_place_skip(of, next);
    }
}

/* Points to the next `count` pixels. */
MG_INLINE void mg_mve_tile_walk(mg_mve_tile *tile, const mg_mve_places *of, mg_mve_place *next,
                                int32_t count)
{
    const int32_t pair = (count > 1) ? 1 : 0;
    const int32_t below = (count > 1) ? count - 2 : 0;
    const int8_t *at[MG_MVE_PIXELS];

    for (int32_t i = 0; i < count; i++) {
        at[i] = next->pixel;
        next->pixel += of->step;
        next->left--;
        if (next->left == 0) {
            mg_mve_place_skip(of, next);
        }
    }
    tile->first[0] = at[0];
    tile->first[1] = at[pair];
    tile->second[0] = at[below];
    tile->second[1] = at[below + pair];
}

MG_INLINE void mg_mve_tile_any(const mg_mve_tile *tile, int is_part, int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        if (is_part) {
            mg_mve_tile_part_float(tile);
        } else {
            mg_mve_tile_deep_float(tile);
        }
        return;
    }
#endif
    (void)requantization;
    if (is_part) {
        mg_mve_tile_part(tile);
    } else {
        mg_mve_tile_deep(tile);
    }
}

/* Computes `count` pixels for the groups of filters of a tile, from the first pixel's outputs on.
 */
MG_INLINE void mg_mve_tile_pass(mg_mve_tile *tile, mg_mve_tile_vectors *vectors,
                                const mg_mve_rows *r, const mg_mve_places *of, const int8_t *input,
                                int32_t count, int is_part, int requantization)
{
    mg_mve_place next = {input, of->width};

    *vectors = mg_mve_tile_scatter(tile, r, MG_MVE_PIXELS);
    for (int32_t left = count; left > 0; left -= MG_MVE_PIXELS) {
        const int32_t pixels = (left < MG_MVE_PIXELS) ? left : MG_MVE_PIXELS;
        if (pixels < MG_MVE_PIXELS) {
            *vectors = mg_mve_tile_scatter(tile, r, pixels);
        }
        if (pixels == MG_MVE_PIXELS && next.left >= MG_MVE_PIXELS) {
            mg_mve_tile_point(tile, of, &next);
        } else {
            mg_mve_tile_walk(tile, of, &next, pixels);
        }
        mg_mve_tile_any(tile, is_part, requantization);
        tile->output += MG_MVE_PIXELS * r->channels;
    }
}

/* Computes `count` pixels, for all channels, of which there are at least four. Reads mg_mve_lead
 * bytes before each pixel, too, unless it `is_part`. */
MG_INLINE void mg_mve_compute_pixels_body(const mg_mve_rows *r, const mg_mve_places *of,
                                          const int8_t *input, int32_t count, int8_t *output,
                                          int is_part, int requantization)
{
    const int32_t steps = (of->depth - 1) / MG_MVE_BYTES;
    const int32_t lead = mg_mve_lead(of->depth);
    /* By integers, because there may be nothing before the first pixel. */
    const int8_t *first = (const int8_t *)((uintptr_t)input - (uintptr_t)lead);
    const int32_t groups = r->channels / MG_MVE_FILTERS;
    const int32_t last = r->channels - MG_MVE_FILTERS;
    mg_mve_tile_vectors vectors;
    mg_mve_tile tile = {{NULL, NULL},
                        steps,
                        {NULL, NULL},
                        r->bias,
                        r->multiplier,
                        r->shift,
                        output,
                        groups,
                        (r->activation_min >= r->output_offset) ? 1 : 0,
                        0,
                        r->output_offset,
                        &vectors,
                        r->weight,
                        0xFFFF << lead & 0xFFFF};

    for (int32_t done = groups * MG_MVE_FILTERS;; done += MG_MVE_FILTERS) {
        mg_mve_tile_pass(&tile, &vectors, r, of, first, count, is_part, requantization);
        if (done >= r->channels) {
            break;
        }
        tile.weight += done * (steps + 1) * MG_MVE_BYTES;
        tile.bias += last;
        tile.multiplier += last;
        if (requantization != MG_ROUND_FLOAT_FPU) {
            tile.shift += last;
        }
        tile.output = output + last;
        tile.groups = 1;
    }
}

/* The same out of line, so that all layers of a model share it. */
static __attribute__((noinline, unused)) void
mg_mve_compute_pixels(const mg_mve_rows *r, const mg_mve_places *of, const int8_t *input,
                      int32_t count, int8_t *output, int is_part)
{
    mg_mve_compute_pixels_body(r, of, input, count, output, is_part, MG_ROUND_TWICE_NARROW);
}

#ifdef MG_MVE_HAS_FLOATS
static __attribute__((noinline, unused)) void
mg_mve_compute_pixels_float(const mg_mve_rows *r, const mg_mve_places *of, const int8_t *input,
                            int32_t count, int8_t *output, int is_part)
{
    mg_mve_compute_pixels_body(r, of, input, count, output, is_part, MG_ROUND_FLOAT_FPU);
}
#endif

/* With MG_ROUND_TWICE_NARROW or MG_ROUND_FLOAT_FPU. */
MG_INLINE void mg_mve_compute_pixels_with(const mg_mve_rows *r, const mg_mve_places *of,
                                          const int8_t *input, int32_t count, int8_t *output,
                                          int is_part, int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        mg_mve_compute_pixels_float(r, of, input, count, output, is_part);
        return;
    }
#endif
    (void)requantization;
    mg_mve_compute_pixels(r, of, input, count, output, is_part);
}

#endif

#endif
