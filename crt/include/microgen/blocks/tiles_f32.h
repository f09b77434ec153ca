/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products in float32 for tiles of four pixels and four output channels, for cores with an
 * FPU. Each loaded number is used four times. */
#ifndef MICROGEN_TILES_F32_H
#define MICROGEN_TILES_F32_H

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "microgen/blocks/blocks_f32.h"

/* What a tile reads: `lines` of `length` values of each pixel and weights of each channel. Lines
 * follow one another by `next_value` and `next_weight` numbers, pixels by `value_step`, channels by
 * `weight_step`. */
typedef struct {
    int32_t lines;
    int32_t length;
    int32_t next_value;
    int32_t next_weight;
    int32_t value_step;
    int32_t weight_step;
} mg_tile_reads_f32;

#if defined(__ARM_FEATURE_FMA) && defined(__thumb2__) && defined(__OPTIMIZE__)
#define MG_HAS_TILES_F32 1
#else
#define MG_HAS_TILES_F32 0
#endif

#if MG_HAS_TILES_F32
/* In assembly, because compilers load numbers one by one, and do not keep 16 sums in registers
 * beside what they load. Only products that are rounded before the addition: cores that fuse both
 * in one cycle load a number beside it, which several at a time would prevent. A pass of the inner
 * loop adds two products to each sum. Sums are s0 to s15: those of a pixel, then the next one's. */

/* A tile. What follows the sums is for the assembly: bytes, in this order. */
typedef struct {
    mg_sums_16_f32 sums;
    int32_t even;        /* of a line, with all but a last value without a neighbour */
    int32_t is_odd;      /* whether there is such a value */
    int32_t next_value;  /* from the end of a line to the next one */
    int32_t next_weight; /* the same */
    int32_t lines;       /* that are left */
    float total;         /* of all sums: finite only if each of them is */
    int32_t runs;        /* of a line, if the convolution is depthwise */
} mg_tile_f32;

/* The products of a number of each pixel with a weight, added to the sums of one channel. */
#define MG_COLUMN_SEPARATE_F32(w, p, q, r, s, sum_p, sum_q, sum_r, sum_s)                          \
    "vmul.f32 s28, " p ", " w "\n\t"                                                               \
    "vmul.f32 s29, " q ", " w "\n\t"                                                               \
    "vmul.f32 s30, " r ", " w "\n\t"                                                               \
    "vmul.f32 s31, " s ", " w "\n\t"                                                               \
    "vadd.f32 " sum_p ", " sum_p ", s28\n\t"                                                       \
    "vadd.f32 " sum_q ", " sum_q ", s29\n\t"                                                       \
    "vadd.f32 " sum_r ", " sum_r ", s30\n\t"                                                       \
    "vadd.f32 " sum_s ", " sum_s ", s31\n\t"

/* The same for two numbers of each pixel. */
#define MG_COLUMNS_F32(column, weights, ...)                                                       \
    "vldmia %[" weights "]!, {s24-s25}\n\t" column("s24", "s16", "s18", "s20", "s22", __VA_ARGS__) \
        column("s25", "s17", "s19", "s21", "s23", __VA_ARGS__)
#define MG_COLUMN_F32(column, weights, ...)                                                        \
    "vldmia %[" weights "]!, {s24}\n\t" column("s24", "s16", "s18", "s20", "s22", __VA_ARGS__)
#define MG_CHANNELS_F32(columns, column)                                                           \
    columns(column, "a", "s0", "s4", "s8", "s12") columns(column, "b", "s1", "s5", "s9", "s13")    \
        columns(column, "c", "s2", "s6", "s10", "s14")                                             \
            columns(column, "d", "s3", "s7", "s11", "s15")

/* The sum of all sums, in s16. */
#define MG_TOTAL_F32                                                                               \
    "vadd.f32 s16, s0, s1\n\tvadd.f32 s17, s2, s3\n\tvadd.f32 s18, s4, s5\n\t"                     \
    "vadd.f32 s19, s6, s7\n\tvadd.f32 s16, s16, s8\n\tvadd.f32 s17, s17, s9\n\t"                   \
    "vadd.f32 s18, s18, s10\n\tvadd.f32 s19, s19, s11\n\tvadd.f32 s16, s16, s12\n\t"               \
    "vadd.f32 s17, s17, s13\n\tvadd.f32 s18, s18, s14\n\tvadd.f32 s19, s19, s15\n\t"               \
    "vadd.f32 s16, s16, s17\n\tvadd.f32 s18, s18, s19\n\tvadd.f32 s16, s16, s18\n\t"

/* clang-format off */
#define MG_TILE_F32(column)                                                                        \
    __asm__ volatile(                                                                              \
        "vldmia %[state], {s0-s15}\n"                                                              \
        "1:\n\t"                                                                                   \
        "ldr %[word], [%[state], #64]\n\t"                                                         \
        "adds %[end], %[p], %[word]\n\t"                                                           \
        "cmp %[p], %[end]\n\t"                                                                     \
        "beq 3f\n"                                                                                 \
        "2:\n\t"                                                                                   \
        "vldmia %[p]!, {s16-s17}\n\t"                                                              \
        "vldmia %[q]!, {s18-s19}\n\t"                                                              \
        "vldmia %[r]!, {s20-s21}\n\t"                                                              \
        "vldmia %[s]!, {s22-s23}\n\t"                                                              \
        MG_CHANNELS_F32(MG_COLUMNS_F32, column)                                                    \
        "cmp %[p], %[end]\n\t"                                                                     \
        "bne 2b\n"                                                                                 \
        "3:\n\t"                                                                                   \
        "ldrd %[word], %[end], [%[state], #68]\n\t"                                                \
        "cmp %[word], #0\n\t"                                                                      \
        "beq 4f\n\t"                                                                               \
        "vldmia %[p]!, {s16}\n\t"                                                                  \
        "vldmia %[q]!, {s18}\n\t"                                                                  \
        "vldmia %[r]!, {s20}\n\t"                                                                  \
        "vldmia %[s]!, {s22}\n\t"                                                                  \
        MG_CHANNELS_F32(MG_COLUMN_F32, column)                                                     \
        "4:\n\t"                                                                                   \
        "add %[p], %[p], %[end]\n\t"                                                               \
        "add %[q], %[q], %[end]\n\t"                                                               \
        "add %[r], %[r], %[end]\n\t"                                                               \
        "add %[s], %[s], %[end]\n\t"                                                               \
        "ldrd %[end], %[word], [%[state], #76]\n\t"                                                \
        "add %[a], %[a], %[end]\n\t"                                                               \
        "add %[b], %[b], %[end]\n\t"                                                               \
        "add %[c], %[c], %[end]\n\t"                                                               \
        "add %[d], %[d], %[end]\n\t"                                                               \
        "subs %[word], %[word], #1\n\t"                                                            \
        "str %[word], [%[state], #80]\n\t"                                                         \
        "bne 1b\n\t"                                                                               \
        "vstmia %[state], {s0-s15}\n\t"                                                            \
        MG_TOTAL_F32                                                                               \
        "vstr.f32 s16, [%[state], #84]"                                                            \
        : [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r), [s] "+&r"(s), [a] "+&r"(a), [b] "+&r"(b),      \
          [c] "+&r"(c), [d] "+&r"(d), [word] "=&r"(word), [end] "=&r"(end)                         \
        : [state] "r"(tile)                                                                      \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",      \
          "s28", "s29", "s30", "s31", "cc", "memory")
/* clang-format on */

/* Adds products, rounded before, to the sums of a tile of which the assembly reads the rest. */
MG_INLINE void mg_add_separate_tile_f32(mg_tile_f32 *tile, const mg_tile_reads_f32 *reads,
                                        const float *values, const float *weights)
{
    const int32_t size = (int32_t)sizeof(float);
    const int32_t line = reads->length * size;
    const float *p = values;
    const float *q = &p[reads->value_step];
    const float *r = &q[reads->value_step];
    const float *s = &r[reads->value_step];
    const float *a = weights;
    const float *b = &a[reads->weight_step];
    const float *c = &b[reads->weight_step];
    const float *d = &c[reads->weight_step];
    int32_t word;
    const float *end;

    tile->even = (reads->length - reads->length % 2) * size;
    tile->is_odd = reads->length % 2;
    tile->next_value = reads->next_value * size - line;
    tile->next_weight = reads->next_weight * size - line;
    tile->lines = reads->lines;
    if (reads->lines > 0) {
        MG_TILE_F32(MG_COLUMN_SEPARATE_F32);
    }
}

/* The bits of x, or those of 0 if x is less. x is no NaN. */
MG_INLINE uint32_t mg_positive_bits_f32(float x)
{
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof(bits));
    return ((bits >> 31) != 0U) ? 0U : bits;
}

/* Stores four outputs whose least one is 0; sums are finite. */
MG_INLINE void mg_store_positive_f32(mg_sums_f32 sums, float *output)
{
    const uint32_t bits[4] = {mg_positive_bits_f32(sums.a), mg_positive_bits_f32(sums.b),
                              mg_positive_bits_f32(sums.c), mg_positive_bits_f32(sums.d)};
    memcpy(output, bits, sizeof(bits));
}

/* Stores the outputs; those of pixels are `step` apart. */
MG_INLINE void mg_store_separate_tile_f32(const mg_tile_f32 *tile, mg_range_f32 range,
                                          float *output, int32_t step)
{
    const mg_sums_f32 *sums = &tile->sums.p;
    const int is_finite = (tile->total >= -FLT_MAX) && (tile->total <= FLT_MAX);

    if (is_finite && range.least <= -FLT_MAX && range.most >= FLT_MAX) {
        mg_copy_16_f32(&tile->sums, output, step);
    } else if (is_finite && range.least == 0.0F && range.most >= FLT_MAX) {
        for (int32_t i = 0; i < 4; i++) {
            mg_store_positive_f32(sums[i], &output[i * step]);
        }
    } else {
        const float *sum = &sums[0].a;
        for (int32_t i = 0; i < 16; i++) {
            output[i / 4 * step + i % 4] = mg_clamp_f32(sum[i], range.least, range.most);
        }
    }
}
#else
/* A tile. */
typedef struct {
    mg_sums_16_f32 sums;
} mg_tile_f32;
#endif

/* Sums before any product. */
MG_INLINE void mg_begin_tile_f32(mg_tile_f32 *tile, mg_sums_f32 start)
{
    tile->sums.p = start;
    tile->sums.q = start;
    tile->sums.r = start;
    tile->sums.s = start;
#if MG_HAS_TILES_F32
    tile->total = 0.0F;
#endif
}

/* Adds products to the sums. */
MG_INLINE void mg_add_tile_f32(mg_tile_f32 *tile, const mg_tile_reads_f32 *reads,
                               const float *values, const float *weights, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_add_separate_tile_f32(tile, reads, values, weights);
        return;
    }
#endif
    for (int32_t line = 0; line < reads->lines; line++) {
        const mg_filters_f32 filters = {&weights[line * reads->next_weight], reads->weight_step};
        tile->sums = mg_dot_16_f32(tile->sums, &values[line * reads->next_value], reads->value_step,
                                   filters, reads->length, fused);
    }
}

/* Stores the outputs; those of pixels are `step` apart. */
MG_INLINE void mg_store_tile_f32(const mg_tile_f32 *tile, mg_range_f32 range, float *output,
                                 int32_t step, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_store_separate_tile_f32(tile, range, output, step);
        return;
    }
#else
    (void)fused;
#endif
    mg_clamp_16_f32(range, tile->sums, output, step);
}

#endif
