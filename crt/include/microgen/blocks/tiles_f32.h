/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products in float32 for tiles of four output channels and several pixels, for cores with
 * an FPU. Each loaded number is used several times. */
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

/* The outputs of a tile: those of its pixels are `step` apart. */
typedef struct {
    float *first;
    int32_t step;
    mg_range_f32 range;
} mg_tile_outputs_f32;

#if defined(__ARM_FEATURE_FMA) && defined(__thumb2__) && defined(__OPTIMIZE__)
#define MG_HAS_TILES_F32 1
#else
#define MG_HAS_TILES_F32 0
#endif

/* The pixels of a tile. `fused` is MG_SEPARATE_F32 or MG_FUSED_F32. */
#define MG_TILE_PIXELS_F32(fused) ((MG_HAS_TILES_F32 != 0 && (fused) == MG_SEPARATE_F32) ? 3 : 4)

#if MG_HAS_TILES_F32
/* In assembly, because compilers load numbers one by one, and do not keep all sums in registers
 * beside what they load. Only products that are rounded before the addition: cores that fuse both
 * in one cycle load a number beside it, which several at a time would prevent. Tiles of three
 * pixels leave registers for four values of each. Sums are in s0 to s11: the four of a pixel, then
 * the next one's. */

/* A tile; a depthwise one has four pixels. What follows the sums is for the assembly, in this
 * order; steps are bytes. */
typedef struct {
    mg_sums_16_f32 sums;
    int32_t fours;       /* bytes of a line's values, without the last three at most */
    int32_t left;        /* the number of these last values */
    int32_t next_value;  /* from the end of a line to the next one */
    int32_t next_weight; /* the same */
    int32_t lines;       /* that are left */
    int32_t runs;        /* of a line, if the convolution is depthwise */
    const float *start;  /* the sums before any product */
    int32_t start_step;  /* from those of a pixel to the next one's */
    float *output;       /* where the sums are stored */
    int32_t output_step;
    int32_t is_positive; /* whether 0 is stored for negative sums, if all sums are finite */
    uint32_t total;      /* bits of the total of all sums: finite only if each of them is */
} mg_tile_f32;

/* Loads the sums of a tile of three pixels, or of four. */
#define MG_LOAD_3_F32(from, step)                                                                  \
    "ldrd %[" from "], %[" step "], [%[state], #88]\n\t"                                           \
    "vldmia %[" from "], {s0-s3}\n\tadd %[" from "], %[" from "], %[" step "]\n\t"                 \
    "vldmia %[" from "], {s4-s7}\n\tadd %[" from "], %[" from "], %[" step "]\n\t"                 \
    "vldmia %[" from "], {s8-s11}\n\t"
#define MG_LOAD_4_F32(from, step)                                                                  \
    MG_LOAD_3_F32(from, step)                                                                      \
    "add %[" from "], %[" from "], %[" step "]\n\tvldmia %[" from "], {s12-s15}\n\t"

/* The total of the sums, in s16. */
#define MG_TOTAL_3_F32                                                                             \
    "vadd.f32 s16, s0, s1\n\tvadd.f32 s17, s2, s3\n\tvadd.f32 s18, s4, s5\n\t"                     \
    "vadd.f32 s16, s16, s6\n\tvadd.f32 s17, s17, s7\n\tvadd.f32 s18, s18, s8\n\t"                  \
    "vadd.f32 s16, s16, s9\n\tvadd.f32 s17, s17, s10\n\tvadd.f32 s18, s18, s11\n\t"                \
    "vadd.f32 s16, s16, s17\n\tvadd.f32 s16, s16, s18\n\t"
#define MG_TOTAL_4_F32                                                                             \
    MG_TOTAL_3_F32 "vadd.f32 s17, s12, s13\n\tvadd.f32 s18, s14, s15\n\t"                          \
                   "vadd.f32 s16, s16, s17\n\tvadd.f32 s16, s16, s18\n\t"

/* Stores the sums of a pixel, as they are or without negative ones. */
#define MG_STORE_F32(s0, s1, s2, s3) "vstmia %[p], {" s0 "-" s3 "}\n\tadd %[p], %[p], %[q]\n\t"
#define MG_POSITIVE_F32(s0, s1, s2, s3)                                                            \
    "vmov %[r], %[a], " s0 ", " s1 "\n\tvmov %[end], %[word], " s2 ", " s3 "\n\t"                  \
    "bic %[r], %[r], %[r], asr #31\n\tbic %[a], %[a], %[a], asr #31\n\t"                           \
    "bic %[end], %[end], %[end], asr #31\n\tbic %[word], %[word], %[word], asr #31\n\t"            \
    "strd %[r], %[a], [%[p]]\n\tstrd %[end], %[word], [%[p], #8]\n\tadd %[p], %[p], %[q]\n\t"
#define MG_EACH_3_F32(store)                                                                       \
    store("s0", "s1", "s2", "s3") store("s4", "s5", "s6", "s7") store("s8", "s9", "s10", "s11")
#define MG_EACH_4_F32(store) MG_EACH_3_F32(store) store("s12", "s13", "s14", "s15")

/* Stores the sums of a tile. The registers p, q, r, a, word and end are no longer needed. */
#define MG_STORES_F32(total, each)                                                                 \
    total "vstr.f32 s16, [%[state], #108]\n\tvmov %[a], s16\n\t"                                   \
          "ldrd %[p], %[q], [%[state], #96]\n\tldr %[word], [%[state], #104]\n\t"                  \
          "lsl %[a], %[a], #1\n\tcmp %[a], #0xFF000000\n\t"                                        \
          "it hs\n\tmovhs %[word], #0\n\tcmp %[word], #0\n\tbne 8f\n\t" each(                      \
              MG_STORE_F32) "b 9f\n"                                                               \
                            "8:\n\t" each(MG_POSITIVE_F32) "9:"

/* Adds the products of a value of each pixel with a weight of a channel. */
#define MG_COLUMN_F32(w, p, q, r, sum_p, sum_q, sum_r)                                             \
    "vmul.f32 s28, " p ", " w "\n\tvmul.f32 s29, " q ", " w "\n\tvmul.f32 s30, " r ", " w "\n\t"   \
    "vadd.f32 " sum_p ", " sum_p ", s28\n\tvadd.f32 " sum_q ", " sum_q ", s29\n\t"                 \
    "vadd.f32 " sum_r ", " sum_r ", s30\n\t"

/* The same for four values of each pixel, and for one. */
#define MG_COLUMNS_4_F32(weights, ...)                                                             \
    "vldmia %[" weights "]!, {s24-s27}\n\t" MG_COLUMN_F32("s24", "s12", "s16", "s20", __VA_ARGS__) \
        MG_COLUMN_F32("s25", "s13", "s17", "s21", __VA_ARGS__)                                     \
            MG_COLUMN_F32("s26", "s14", "s18", "s22", __VA_ARGS__)                                 \
                MG_COLUMN_F32("s27", "s15", "s19", "s23", __VA_ARGS__)
#define MG_COLUMNS_1_F32(weights, ...)                                                             \
    "vldmia %[" weights "]!, {s24}\n\t" MG_COLUMN_F32("s24", "s12", "s16", "s20", __VA_ARGS__)
#define MG_CHANNELS_F32(columns)                                                                   \
    columns("a", "s0", "s4", "s8") columns("b", "s1", "s5", "s9") columns("c", "s2", "s6", "s10")  \
        columns("d", "s3", "s7", "s11")
#define MG_VALUES_F32(four) four("p", "s12", "s15") four("q", "s16", "s19") four("r", "s20", "s23")
#define MG_FOUR_F32(pixel, first, last) "vldmia %[" pixel "]!, {" first "-" last "}\n\t"
#define MG_ONE_F32(pixel, first, last) "vldmia %[" pixel "]!, {" first "}\n\t"
#define MG_NEXT_F32(pointer, step) "add %[" pointer "], %[" pointer "], %[" step "]\n\t"

/* clang-format off */
#define MG_TILE_F32                                                                                \
    __asm__ volatile(                                                                              \
        MG_LOAD_3_F32("end", "word")                                                               \
        "ldr %[word], [%[state], #80]\n\t"                                                         \
        "cmp %[word], #0\n\t"                                                                      \
        "beq 6f\n"                                                                                 \
        "1:\n\t"                                                                                   \
        "ldr %[word], [%[state], #64]\n\t"                                                         \
        "adds %[end], %[p], %[word]\n\t"                                                           \
        "cmp %[p], %[end]\n\t"                                                                     \
        "beq 3f\n"                                                                                 \
        "2:\n\t"                                                                                   \
        MG_VALUES_F32(MG_FOUR_F32)                                                                 \
        MG_CHANNELS_F32(MG_COLUMNS_4_F32)                                                          \
        "cmp %[p], %[end]\n\t"                                                                     \
        "bne 2b\n"                                                                                 \
        "3:\n\t"                                                                                   \
        "ldr %[end], [%[state], #68]\n\t"                                                          \
        "cmp %[end], #0\n\t"                                                                       \
        "beq 5f\n"                                                                                 \
        "4:\n\t"                                                                                   \
        MG_VALUES_F32(MG_ONE_F32)                                                                  \
        MG_CHANNELS_F32(MG_COLUMNS_1_F32)                                                          \
        "subs %[end], %[end], #1\n\t"                                                              \
        "bne 4b\n"                                                                                 \
        "5:\n\t"                                                                                   \
        "ldr %[word], [%[state], #80]\n\t"                                                         \
        "subs %[word], %[word], #1\n\t"                                                            \
        "beq 6f\n\t"                                                                               \
        "str %[word], [%[state], #80]\n\t"                                                         \
        "ldrd %[end], %[word], [%[state], #72]\n\t"                                                \
        MG_NEXT_F32("p", "end") MG_NEXT_F32("q", "end") MG_NEXT_F32("r", "end")                    \
        MG_NEXT_F32("a", "word") MG_NEXT_F32("b", "word") MG_NEXT_F32("c", "word")                 \
        MG_NEXT_F32("d", "word")                                                                   \
        "b 1b\n"                                                                                   \
        "6:\n\t"                                                                                   \
        MG_STORES_F32(MG_TOTAL_3_F32, MG_EACH_3_F32)                                               \
        : [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c),      \
          [d] "+&r"(d), [word] "=&r"(word), [end] "=&r"(end)                                       \
        : [state] "r"(tile)                                                                      \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",      \
          "s26", "s27", "s28", "s29", "s30", "cc", "memory")
/* clang-format on */

/* Adds products, rounded before, to the sums of a tile that is set. */
MG_INLINE void mg_add_separate_tile_f32(mg_tile_f32 *tile, const mg_tile_reads_f32 *reads,
                                        const float *values, const float *weights)
{
    const float *p = values;
    const float *q = &p[reads->value_step];
    const float *r = &q[reads->value_step];
    const float *a = weights;
    const float *b = &a[reads->weight_step];
    const float *c = &b[reads->weight_step];
    const float *d = &c[reads->weight_step];
    int32_t word;
    const float *end;

    tile->lines = reads->lines;
    MG_TILE_F32;
}

/* Where the next sums are stored: as the last ones if `is_last`, else in the tile. */
MG_INLINE void mg_aim_tile_f32(mg_tile_f32 *tile, mg_tile_outputs_f32 outputs, int is_last)
{
    const int32_t size = (int32_t)sizeof(float);
    tile->output = (is_last != 0) ? outputs.first : &tile->sums.p.a;
    tile->output_step = (is_last != 0) ? outputs.step * size : 4 * size;
    tile->is_positive = (is_last != 0 && outputs.range.least == 0.0F) ? 1 : 0;
}

/* The next products are added to the tile's sums. */
MG_INLINE void mg_go_on_tile_f32(mg_tile_f32 *tile)
{
    tile->start = &tile->sums.p.a;
    tile->start_step = 4 * (int32_t)sizeof(float);
}

/* Limits the stored outputs of a pixel, which are not negative, to `most`, whose bits these are.
 */
MG_INLINE void mg_limit_4_f32(float *output, uint32_t most)
{
    uint32_t bits[4];
    memcpy(bits, output, sizeof(bits));
    for (int32_t i = 0; i < 4; i++) {
        bits[i] = (bits[i] > most) ? most : bits[i];
    }
    memcpy(output, bits, sizeof(bits));
}

/* Clamps what is stored of `pixels` pixels where the assembly did not. */
MG_INLINE void mg_clamp_tile_f32(const mg_tile_f32 *tile, mg_tile_outputs_f32 outputs,
                                 int32_t pixels)
{
    const mg_range_f32 range = outputs.range;
    const int is_finite = (tile->total << 1) < 0xFF000000U;

    if (is_finite && range.least == 0.0F) {
        if (range.most < FLT_MAX) {
            uint32_t most;
            memcpy(&most, &range.most, sizeof(most));
            for (int32_t i = 0; i < pixels; i++) {
                mg_limit_4_f32(&outputs.first[i * outputs.step], most);
            }
        }
    } else if (!is_finite || range.least > -FLT_MAX || range.most < FLT_MAX) {
        for (int32_t i = 0; i < pixels; i++) {
            float *pixel = &outputs.first[i * outputs.step];
            const mg_sums_f32 sums = {pixel[0], pixel[1], pixel[2], pixel[3]};
            mg_clamp_4_f32(range, sums, pixel);
        }
    }
}
#else
/* A tile. */
typedef struct {
    mg_sums_16_f32 sums;
} mg_tile_f32;
#endif

/* Prepares tiles with the same reads. */
MG_INLINE void mg_set_tile_f32(mg_tile_f32 *tile, const mg_tile_reads_f32 *reads)
{
#if MG_HAS_TILES_F32
    const int32_t size = (int32_t)sizeof(float);
    const int32_t line = reads->length * size;

    tile->fours = (reads->length - reads->length % 4) * size;
    tile->left = reads->length % 4;
    tile->next_value = reads->next_value * size - line;
    tile->next_weight = reads->next_weight * size - line;
#else
    (void)tile;
    (void)reads;
#endif
}

/* Sums before any product: the bias of channels c to c + 3. */
MG_INLINE void mg_begin_tile_f32(mg_tile_f32 *tile, const float *bias, int32_t c, int fused)
{
#if MG_HAS_TILES_F32
    static const float zeros[4] = {0.0F, 0.0F, 0.0F, 0.0F};
    if (fused == MG_SEPARATE_F32) {
        tile->start = (bias != NULL) ? &bias[c] : zeros;
        tile->start_step = 0;
        return;
    }
#else
    (void)fused;
#endif
    tile->sums.p = mg_bias_4_f32(bias, c);
    tile->sums.q = tile->sums.p;
    tile->sums.r = tile->sums.p;
    tile->sums.s = tile->sums.p;
}

/* Adds products to the sums of a tile that is set. Those after the last products are stored. */
MG_INLINE void mg_add_tile_f32(mg_tile_f32 *tile, const mg_tile_reads_f32 *reads,
                               const float *values, const float *weights,
                               mg_tile_outputs_f32 outputs, int is_last, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_aim_tile_f32(tile, outputs, is_last);
        mg_add_separate_tile_f32(tile, reads, values, weights);
        if (is_last == 0) {
            mg_go_on_tile_f32(tile);
        }
        return;
    }
#else
    (void)outputs;
    (void)is_last;
#endif
    for (int32_t line = 0; line < reads->lines; line++) {
        const mg_filters_f32 filters = {&weights[line * reads->next_weight], reads->weight_step};
        tile->sums = mg_dot_16_f32(tile->sums, &values[line * reads->next_value], reads->value_step,
                                   filters, reads->length, fused);
    }
}

/* Clamps the outputs, and stores them unless the last products did. */
MG_INLINE void mg_store_tile_f32(const mg_tile_f32 *tile, mg_tile_outputs_f32 outputs, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_clamp_tile_f32(tile, outputs, MG_TILE_PIXELS_F32(MG_SEPARATE_F32));
        return;
    }
#else
    (void)fused;
#endif
    mg_clamp_16_f32(outputs.range, tile->sums, outputs.first, outputs.step);
}

#endif
