/* SPDX-License-Identifier: Apache-2.0 */
/* Products of rows of inputs with rows of weights, for MVE: what the kernels have in common that
 * sum raw products, see is_raw of microgen/kernels/weighted.py. Zero points are in the bias.
 *
 * VMLADAVA adds sixteen products to a general register with an even number. So a tile of two
 * filters and three pixels needs five loads for six of them, which is all that the registers allow,
 * and a loop with tail predication needs no code for depths that are no multiple of 16. It is
 * written in assembly, because GCC 12 forms no such loop from intrinsics, and spills registers.
 *
 * Sums are below 2^30 in magnitude, and scales below 1/2, as MG_ROUND_TWICE_NARROW requires. */
#ifndef MICROGEN_MVE_ROWS_H
#define MICROGEN_MVE_ROWS_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/mve.h"

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_FILTERS 4 /* that are computed at a time, one in each lane */
#define MG_MVE_PIXELS 3  /* that are computed at a time */

/* A layer. Filter c has the weights from weight[c * depth] on, pixel i its inputs from i * step
 * on. `shift` has the rounding shifts of MG_ROUND_TWICE_NARROW. */
typedef struct {
    const int8_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t depth;
    int32_t step;
    int32_t channels;
    int32_t output_offset;
    int32_t activation_min;
    int32_t activation_max;
} mg_mve_rows;

/* Lanes 0 to 3. The moves are of two lanes each, which GCC 12 does not make of intrinsics. */
MG_INLINE int32x4_t mg_mve_four(int32_t a, int32_t b, int32_t c, int32_t d)
{
#if defined(__OPTIMIZE__)
    int32x4_t lanes;
    __asm__("vmov %q0[2], %q0[0], %1, %3\n\tvmov %q0[3], %q0[1], %2, %4"
            : "=&w"(lanes)
            : "r"(a), "r"(b), "r"(c), "r"(d));
    return lanes;
#else
    return mg_mve_lanes(a, b, c, d);
#endif
}

/* What makes outputs of the sums of four filters: a vector for each. */
typedef struct {
    int32x4_t bias;
    int32x4_t multiplier;
    int32x4_t shift; /* to the left, so it is negative */
} mg_mve_scales;

MG_INLINE mg_mve_scales mg_mve_scales_at(const mg_mve_rows *r, int32_t c)
{
    const mg_mve_scales scales = {vldrwq_s32(&r->bias[c]), vldrwq_s32(&r->multiplier[c]),
                                  vmvnq_s32(vldrbq_s32(&r->shift[c]))};
    return scales;
}

/* Subtracts 1 from negative values, so that rounding them upwards rounds ties away from zero. */
MG_INLINE int32x4_t mg_mve_ties_down(int32x4_t x)
{
    return vaddq_s32(x, vshrq_n_s32(x, 31));
}

/* The offset and the clamp of a layer. */
MG_INLINE int32x4_t mg_mve_offset(const mg_mve_rows *r, int32x4_t x)
{
    return mg_mve_offset_and_clamp(x, r->output_offset, r->activation_min, r->activation_max);
}

/* The outputs of sums without their bias. Where negative values become the least output anyway,
 * it does not matter how their ties are rounded. */
MG_INLINE int32x4_t mg_mve_outputs(const mg_mve_rows *r, int32x4_t sums, mg_mve_scales scales)
{
    int32x4_t high = vqrdmulhq_s32(vaddq_s32(sums, scales.bias), scales.multiplier);
    if (r->activation_min < r->output_offset) {
        high = mg_mve_ties_down(high);
    }
    return mg_mve_offset(r, vrshlq_s32(high, scales.shift));
}

/* A tile of four filters and three pixels. The assembly loads the fields in this order. */
typedef struct {
    const int8_t *filter[2]; /* the first and the third */
    const int8_t *pixel[MG_MVE_PIXELS];
    int32_t depth;
    const int32_t *bias; /* of the first filter, like the next two */
    const int32_t *multiplier;
    const int8_t *shift;
    int8_t *output; /* of the first filter and pixel */
    int32_t channels;
    int32_t is_upward; /* 1 if it does not matter how ties of negative values are rounded */
    int32_t offset;
    int32x4_t low;
    int32x4_t high;
} mg_mve_tile;

MG_INLINE mg_mve_tile mg_mve_tile_of(const mg_mve_rows *r, const int8_t *input, int8_t *output)
{
    const mg_mve_tile tile = {{r->weight, r->weight + 2 * r->depth},
                              {input, input + r->step, input + 2 * r->step},
                              r->depth,
                              r->bias,
                              r->multiplier,
                              r->shift,
                              output,
                              r->channels,
                              (r->activation_min >= r->output_offset) ? 1 : 0,
                              r->output_offset,
                              vdupq_n_s32(r->activation_min),
                              vdupq_n_s32(r->activation_max)};
    return tile;
}

#if defined(__OPTIMIZE__)

/* Sums the products of two filters and three pixels in r0 to r10. */
#define MG_MVE_SUM                                                                                 \
    "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\tmov r8, #0\n\tmov r10, #0\n\t"    \
    "dlstp.8 lr, lr\n"                                                                             \
    "1:\n\t"                                                                                       \
    "vldrb.8 q3, [r1], #16\n\t"                                                                    \
    "vldrb.8 q4, [r5], #16\n\t"                                                                    \
    "vldrb.8 q5, [r3], #16\n\t"                                                                    \
    "vmladava.s8 r0, q3, q4\n\t"                                                                   \
    "vldrb.8 q6, [r9], #16\n\t"                                                                    \
    "vmladava.s8 r2, q5, q4\n\t"                                                                   \
    "vldrb.8 q7, [r11], #16\n\t"                                                                   \
    "vmladava.s8 r4, q3, q6\n\t"                                                                   \
    "vmladava.s8 r6, q5, q6\n\t"                                                                   \
    "vmladava.s8 r8, q3, q7\n\t"                                                                   \
    "vmladava.s8 r10, q5, q7\n\t"                                                                  \
    "letp lr, 1b\n\t"

/* The sums in q0 to q2: first of filters 0 and 2, then of 1 and 3, because registers move to two
 * lanes at a time, which are two apart. */
#define MG_MVE_SUMS                                                                                \
    "ldm %[tile], {r1, r3, r5, r9, r11}\n\t"                                                       \
    "ldr lr, [%[tile], %[depth]]\n\t" MG_MVE_SUM "vmov q0[2], q0[0], r0, r2\n\t"                   \
    "vmov q1[2], q1[0], r4, r6\n\t"                                                                \
    "vmov q2[2], q2[0], r8, r10\n\t"                                                               \
    "ldm %[tile], {r1, r3, r5, r9, r11}\n\t"                                                       \
    "ldr lr, [%[tile], %[depth]]\n\t"                                                              \
    "add r1, r1, lr\n\t"                                                                           \
    "add r3, r3, lr\n\t" MG_MVE_SUM "vmov q0[3], q0[1], r0, r2\n\t"                                \
    "vmov q1[3], q1[1], r4, r6\n\t"                                                                \
    "vmov q2[3], q2[1], r8, r10\n\t"

/* clang-format off */

/* An operation with each of the vectors of sums. */
#define MG_MVE_EACH(operation, operand)                                                            \
    operation " q0, q0, " operand "\n\t"                                                           \
    operation " q1, q1, " operand "\n\t"                                                           \
    operation " q2, q2, " operand "\n\t"
#define MG_MVE_TIES(x) "vshr.s32 q6, " x ", #31\n\tvadd.i32 " x ", " x ", q6\n\t"

/* Makes outputs of the sums, and stores them. */
#define MG_MVE_STORE                                                                               \
    "add r11, %[tile], %[bias]\n\t"                                                                \
    "ldm r11, {r0, r1, r2, r3, r4, r5, r6}\n\t"                                                    \
    "vldrw.32 q3, [r0], #16\n\t"                                                                   \
    "vldrw.32 q4, [r1], #16\n\t"                                                                   \
    "vldrb.s32 q5, [r2], #4\n\t"                                                                   \
    MG_MVE_EACH("vadd.i32", "q3")                                                                  \
    "vmvn q5, q5\n\t"                                                                              \
    MG_MVE_EACH("vqrdmulh.s32", "q4")                                                              \
    "vldrw.32 q3, [%[tile], %[low]]\n\t"                                                           \
    "cbnz r5, 2f\n\t"                                                                              \
    MG_MVE_TIES("q0") MG_MVE_TIES("q1") MG_MVE_TIES("q2")                                          \
    "2:\n\t"                                                                                       \
    MG_MVE_EACH("vrshl.s32", "q5")                                                                 \
    "vldrw.32 q4, [%[tile], %[high]]\n\t"                                                          \
    MG_MVE_EACH("vadd.i32", "r6")                                                                  \
    MG_MVE_EACH("vmax.s32", "q3")                                                                  \
    MG_MVE_EACH("vmin.s32", "q4")                                                                  \
    "vstrb.32 q0, [r3], #4\n\t"                                                                    \
    "stm r11, {r0, r1, r2, r3}\n\t"                                                                \
    "add r3, r3, r4\n\t"                                                                           \
    "vstrb.32 q1, [r3, #-4]\n\t"                                                                   \
    "add r3, r3, r4\n\t"                                                                           \
    "vstrb.32 q2, [r3, #-4]"

/* clang-format on */

/* Computes a tile, and moves on to the scales and outputs of the next four filters. */
MG_INLINE void mg_mve_compute_tile(mg_mve_tile *tile)
{
    /* The operands are loaded from memory, because GCC does not find registers for so many. r7
     * remains for a frame pointer. */
    __asm__ volatile(
        MG_MVE_SUMS MG_MVE_STORE
        :
        : [tile] "r"(tile), [depth] "i"(offsetof(mg_mve_tile, depth)),
          [bias] "i"(offsetof(mg_mve_tile, bias)), [low] "i"(offsetof(mg_mve_tile, low)),
          [high] "i"(offsetof(mg_mve_tile, high))
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "q0", "q1",
          "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
    tile->filter[0] += MG_MVE_FILTERS * tile->depth;
    tile->filter[1] += MG_MVE_FILTERS * tile->depth;
}

#else

/* The same in C, because without optimisation the assembly would need too many registers. */
MG_INLINE void mg_mve_compute_tile(mg_mve_tile *tile)
{
    const int32x4_t shift = vmvnq_s32(vldrbq_s32(tile->shift));
    for (int32_t i = 0; i < MG_MVE_PIXELS; i++) {
        int32_t sum[MG_MVE_FILTERS] = {0, 0, 0, 0};
        for (int32_t k = 0; k < MG_MVE_FILTERS * tile->depth; k++) {
            sum[k / tile->depth] += tile->filter[0][k] * tile->pixel[i][k % tile->depth];
        }
        int32x4_t x = vaddq_s32(vldrwq_s32(sum), vldrwq_s32(tile->bias));
        x = vqrdmulhq_s32(x, vldrwq_s32(tile->multiplier));
        x = vrshlq_s32((tile->is_upward != 0) ? x : mg_mve_ties_down(x), shift);
        x = vminq_s32(vmaxq_s32(vaddq_n_s32(x, tile->offset), tile->low), tile->high);
        vstrbq_s32(&tile->output[i * tile->channels], x);
    }
    tile->filter[0] += MG_MVE_FILTERS * tile->depth;
    tile->filter[1] += MG_MVE_FILTERS * tile->depth;
    tile->bias += MG_MVE_FILTERS;
    tile->multiplier += MG_MVE_FILTERS;
    tile->shift += MG_MVE_FILTERS;
    tile->output += MG_MVE_FILTERS;
}

#endif

/* Goes back by some filters. */
MG_INLINE void mg_mve_step_back(mg_mve_tile *tile, int32_t filters)
{
    tile->filter[0] -= filters * tile->depth;
    tile->filter[1] -= filters * tile->depth;
    tile->bias -= filters;
    tile->multiplier -= filters;
    tile->shift -= filters;
    tile->output -= filters;
}

/* Computes three pixels. The last four filters contain some again, if there are no more. */
MG_INLINE void mg_mve_compute_tiles(const mg_mve_rows *r, const int8_t *input, int8_t *output)
{
    const int32_t rest = r->channels % MG_MVE_FILTERS;
    mg_mve_tile tile = mg_mve_tile_of(r, input, output);

    for (int32_t left = r->channels / MG_MVE_FILTERS; left > 0; left--) {
        mg_mve_compute_tile(&tile);
    }
    if (rest > 0) {
        mg_mve_step_back(&tile, MG_MVE_FILTERS - rest);
        mg_mve_compute_tile(&tile);
    }
}

/* Four filters and one row of inputs, in the order in which the assembly loads them. */
typedef struct {
    const int8_t *filter[MG_MVE_FILTERS];
    const int8_t *input;
    int32_t depth;
} mg_mve_four_filters;

/* The sums of four filters for one row of inputs. */
MG_INLINE int32x4_t mg_mve_dot_four(const mg_mve_four_filters *of)
{
#if defined(__OPTIMIZE__)
    int32x4_t lanes;
    __asm__ volatile("ldm %[of], {r1, r3, r5, r8, r9}\n\t"
                     "ldr lr, [%[of], %[depth]]\n\t"
                     "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\t"
                     "dlstp.8 lr, lr\n"
                     "1:\n\t"
                     "vldrb.8 q0, [r9], #16\n\t"
                     "vldrb.8 q1, [r1], #16\n\t"
                     "vldrb.8 q2, [r3], #16\n\t"
                     "vmladava.s8 r0, q0, q1\n\t"
                     "vldrb.8 q1, [r5], #16\n\t"
                     "vmladava.s8 r2, q0, q2\n\t"
                     "vldrb.8 q2, [r8], #16\n\t"
                     "vmladava.s8 r4, q0, q1\n\t"
                     "vmladava.s8 r6, q0, q2\n\t"
                     "letp lr, 1b\n\t"
                     "vmov %q[lanes][2], %q[lanes][0], r0, r4\n\t"
                     "vmov %q[lanes][3], %q[lanes][1], r2, r6"
                     : [lanes] "=&w"(lanes)
                     : [of] "r"(of), [depth] "i"(offsetof(mg_mve_four_filters, depth))
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "lr", "q0", "q1", "q2",
                       "cc", "memory");
    return lanes;
#else
    int32_t sum[MG_MVE_FILTERS] = {0, 0, 0, 0};
    for (int32_t k = 0; k < of->depth; k++) {
        for (int32_t c = 0; c < MG_MVE_FILTERS; c++) {
            sum[c] += of->filter[c][k] * of->input[k];
        }
    }
    return vldrwq_s32(sum);
#endif
}

/* The outputs of one pixel for filters c to c + 3. */
MG_INLINE void mg_mve_compute_four(const mg_mve_rows *r, int32_t c, const int8_t *input,
                                   int8_t *output)
{
    const int8_t *first = &r->weight[c * r->depth];
    const mg_mve_four_filters of = {
        {first, first + r->depth, first + 2 * r->depth, first + 3 * r->depth}, input, r->depth};
    vstrbq_s32(&output[c], mg_mve_outputs(r, mg_mve_dot_four(&of), mg_mve_scales_at(r, c)));
}

/* The filters after c. The last four may contain some again, if there are no more. */
MG_INLINE int32_t mg_mve_next(const mg_mve_rows *r, int32_t c)
{
    const int32_t last = r->channels - MG_MVE_FILTERS;
    return (c < last && c + MG_MVE_FILTERS > last) ? last : c + MG_MVE_FILTERS;
}

/* Computes `count` pixels, for all channels, of which there are at least four. Out of line, so that
 * all layers of a model share it. */
static __attribute__((noinline, unused)) void
mg_mve_compute_rows(const mg_mve_rows *r, const int8_t *input, int32_t count, int8_t *output)
{
    for (; count >= MG_MVE_PIXELS; count -= MG_MVE_PIXELS) {
        mg_mve_compute_tiles(r, input, output);
        input += MG_MVE_PIXELS * r->step;
        output += MG_MVE_PIXELS * r->channels;
    }
    for (; count > 0; count--) {
        for (int32_t c = 0; c < r->channels; c = mg_mve_next(r, c)) {
            mg_mve_compute_four(r, c, input, output);
        }
        input += r->step;
        output += r->channels;
    }
}

#endif

#endif
