/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products in float32 for blocks of pixels and output channels, for cores with an FPU. A
 * block's sums remain in registers, and each loaded number is used several times. */
#ifndef MICROGEN_BLOCKS_F32_H
#define MICROGEN_BLOCKS_F32_H

#include <stddef.h>
#include <string.h>

#include "microgen/blocks/sums_f32.h"

/* How products are added: rounded before, or fused with the addition. Cortex-M4 and M33 need three
 * cycles for a fused addition and two for its parts, other cores one instead of two. */
enum {
    MG_SEPARATE_F32 = 0,
    MG_FUSED_F32 = 1
};

/* `code` with the additions of `fused`, which is a constant: `add`_SEPARATE_F32 or _FUSED_F32. */
#define MG_ADDED_F32(fused, code, add)                                                             \
    do {                                                                                           \
        if ((fused) != MG_SEPARATE_F32) {                                                          \
            code(add##_FUSED_F32);                                                                 \
        } else {                                                                                   \
            code(add##_SEPARATE_F32);                                                              \
        }                                                                                          \
    } while (0)

/* sum + x * w, rounded once if the core has an instruction for that. clang would call fmaf. */
MG_INLINE float mg_fused_f32(float sum, float x, float w)
{
#if defined(__clang__)
#pragma clang fp contract(on)
    return sum + x * w;
#elif defined(__ARM_FEATURE_FMA) || defined(__riscv_flen)
    return __builtin_fmaf(x, w, sum);
#else
    return sum + x * w;
#endif
}

/* sum + x * w. */
MG_INLINE float mg_add_product_f32(float sum, float x, float w, int fused)
{
    return (fused != MG_SEPARATE_F32) ? mg_fused_f32(sum, x, w) : sum + x * w;
}

/* Where the weights of four channels are: those of channel k begin at first[k * step]. */
typedef struct {
    const float *first;
    int32_t step;
} mg_filters_f32;

/* Adds the product of a value with a weight of each channel. */
MG_INLINE mg_sums_f32 mg_add_4_f32(mg_sums_f32 sums, float x, mg_sums_f32 weights, int fused)
{
    sums.a = mg_add_product_f32(sums.a, x, weights.a, fused);
    sums.b = mg_add_product_f32(sums.b, x, weights.b, fused);
    sums.c = mg_add_product_f32(sums.c, x, weights.c, fused);
    sums.d = mg_add_product_f32(sums.d, x, weights.d, fused);
    return sums;
}

/* The sums of four pixels, for four channels each. */
typedef struct {
    mg_sums_f32 p;
    mg_sums_f32 q;
    mg_sums_f32 r;
    mg_sums_f32 s;
} mg_sums_16_f32;

/* Adds the products of n values of four pixels, which are `step` apart, with n weights. */
MG_INLINE mg_sums_16_f32 mg_dot_16_f32(mg_sums_16_f32 sums, const float *values, int32_t step,
                                       mg_filters_f32 filters, int32_t n, int fused)
{
    const float *a = filters.first;
    const float *b = &a[filters.step];
    const float *c = &b[filters.step];
    const float *d = &c[filters.step];

    for (int32_t i = 0; i < n; i++) {
        const mg_sums_f32 weights = {*a++, *b++, *c++, *d++};
        sums.p = mg_add_4_f32(sums.p, values[0], weights, fused);
        sums.q = mg_add_4_f32(sums.q, values[step], weights, fused);
        sums.r = mg_add_4_f32(sums.r, values[2 * step], weights, fused);
        sums.s = mg_add_4_f32(sums.s, values[3 * step], weights, fused);
        values++;
    }
    return sums;
}

/* mg_dot_pixel_f32 for a multiple of four values, n of them. In assembly, because compilers load
 * numbers one by one: a third of the instructions would be loads. */
#if defined(__ARM_FEATURE_FMA) && defined(__thumb2__) && defined(__OPTIMIZE__)
#define MG_PRODUCTS_FUSED_F32(x, a, b, c, d)                                                       \
    "vfma.f32 %[sum_a], " x ", " a "\n\t"                                                          \
    "vfma.f32 %[sum_b], " x ", " b "\n\t"                                                          \
    "vfma.f32 %[sum_c], " x ", " c "\n\t"                                                          \
    "vfma.f32 %[sum_d], " x ", " d "\n\t"
#define MG_PRODUCTS_SEPARATE_F32(x, a, b, c, d)                                                    \
    "vmul.f32 s20, " x ", " a "\n\t"                                                               \
    "vmul.f32 s21, " x ", " b "\n\t"                                                               \
    "vmul.f32 s22, " x ", " c "\n\t"                                                               \
    "vmul.f32 s23, " x ", " d "\n\t"                                                               \
    "vadd.f32 %[sum_a], %[sum_a], s20\n\t"                                                         \
    "vadd.f32 %[sum_b], %[sum_b], s21\n\t"                                                         \
    "vadd.f32 %[sum_c], %[sum_c], s22\n\t"                                                         \
    "vadd.f32 %[sum_d], %[sum_d], s23\n\t"

/* clang-format off */
#define MG_DOT_X4_F32(products)                                                                    \
    __asm__(                                                                                       \
        "1:\n\t"                                                                                   \
        "vldmia %[values]!, {s0-s3}\n\t"                                                           \
        "vldmia %[a]!, {s4-s7}\n\t"                                                                \
        "vldmia %[b]!, {s8-s11}\n\t"                                                               \
        "vldmia %[c]!, {s12-s15}\n\t"                                                              \
        "vldmia %[d]!, {s16-s19}\n\t"                                                              \
        products("s0", "s4", "s8", "s12", "s16")                                                   \
        products("s1", "s5", "s9", "s13", "s17")                                                   \
        products("s2", "s6", "s10", "s14", "s18")                                                  \
        products("s3", "s7", "s11", "s15", "s19")                                                  \
        "cmp %[values], %[end]\n\t"                                                                \
        "bne 1b"                                                                                   \
        : [values] "+&r"(values), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d),          \
          [sum_a] "+t"(sums.a), [sum_b] "+t"(sums.b), [sum_c] "+t"(sums.c), [sum_d] "+t"(sums.d)   \
        : [end] "r"(end)                                                                           \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory")
/* clang-format on */

MG_INLINE mg_sums_f32 mg_dot_x4_f32(mg_sums_f32 sums, const float *values, mg_filters_f32 filters,
                                    int32_t n, int fused)
{
    const float *a = filters.first;
    const float *b = &a[filters.step];
    const float *c = &b[filters.step];
    const float *d = &c[filters.step];
    const float *end = &values[n];

    if (n > 0) {
        MG_ADDED_F32(fused, MG_DOT_X4_F32, MG_PRODUCTS);
    }
    return sums;
}
#else
MG_INLINE mg_sums_f32 mg_dot_x4_f32(mg_sums_f32 sums, const float *values, mg_filters_f32 filters,
                                    int32_t n, int fused)
{
    for (int32_t i = 0; i < n; i++) {
        const float *w = &filters.first[i];
        const mg_sums_f32 weights = {w[0], w[filters.step], w[2 * filters.step],
                                     w[3 * filters.step]};
        sums = mg_add_4_f32(sums, values[i], weights, fused);
    }
    return sums;
}
#endif

/* Adds the products of n values of one pixel with n weights. */
MG_INLINE mg_sums_f32 mg_dot_pixel_f32(mg_sums_f32 sums, const float *values,
                                       mg_filters_f32 filters, int32_t n, int fused)
{
    const int32_t fours = n - n % 4;
    const float *a = &filters.first[fours];
    const float *b = &a[filters.step];
    const float *c = &b[filters.step];
    const float *d = &c[filters.step];

    if (fours > 0) {
        sums = mg_dot_x4_f32(sums, values, filters, fours, fused);
    }
    for (int32_t i = fours; i < n; i++) {
        const mg_sums_f32 weights = {*a++, *b++, *c++, *d++};
        sums = mg_add_4_f32(sums, values[i], weights, fused);
    }
    return sums;
}

/* The same for long rows: eight values at a time, if their products are rounded before the
 * addition. Cores that fuse both load a number beside each addition, so they gain nothing. */
#if defined(__ARM_FEATURE_FMA) && defined(__thumb2__) && defined(__OPTIMIZE__)
/* The products of two values with the weights of two channels. */
#define MG_TWO_BY_TWO_F32(x, y, a, b, next_a, next_b, sum_a, sum_b)                                \
    "vmul.f32 s24, " x ", " a "\n\tvmul.f32 s25, " x ", " b "\n\t"                                 \
    "vmul.f32 s26, " y ", " next_a "\n\tvmul.f32 s27, " y ", " next_b "\n\t"                       \
    "vadd.f32 %[" sum_a "], %[" sum_a "], s24\n\tvadd.f32 %[" sum_b "], %[" sum_b "], s25\n\t"     \
    "vadd.f32 %[" sum_a "], %[" sum_a "], s26\n\tvadd.f32 %[" sum_b "], %[" sum_b "], s27\n\t"
#define MG_FOUR_BY_TWO_F32(a, b)                                                                   \
    MG_TWO_BY_TWO_F32("s0", "s1", "s8", "s16", "s9", "s17", "sum_" a, "sum_" b)                    \
    MG_TWO_BY_TWO_F32("s2", "s3", "s10", "s18", "s11", "s19", "sum_" a, "sum_" b)
#define MG_EIGHT_BY_TWO_F32(a, b)                                                                  \
    "vldmia %[" a "]!, {s8-s15}\n\tvldmia %[" b "]!, {s16-s23}\n\t" MG_FOUR_BY_TWO_F32(a, b)       \
        MG_TWO_BY_TWO_F32("s4", "s5", "s12", "s20", "s13", "s21", "sum_" a, "sum_" b)              \
            MG_TWO_BY_TWO_F32("s6", "s7", "s14", "s22", "s15", "s23", "sum_" a, "sum_" b)

/* clang-format off */
#define MG_DOT_X8_F32                                                                              \
    __asm__(                                                                                       \
        "cmp %[values], %[end]\n\t"                                                                \
        "beq 2f\n"                                                                                 \
        "1:\n\t"                                                                                   \
        "vldmia %[values]!, {s0-s7}\n\t"                                                           \
        MG_EIGHT_BY_TWO_F32("a", "b")                                                              \
        MG_EIGHT_BY_TWO_F32("c", "d")                                                              \
        "cmp %[values], %[end]\n\t"                                                                \
        "bne 1b\n"                                                                                 \
        "2:\n\t"                                                                                   \
        "cmp %[has_four], #0\n\t"                                                                  \
        "beq 3f\n\t"                                                                               \
        "vldmia %[values]!, {s0-s3}\n\t"                                                           \
        "vldmia %[a]!, {s8-s11}\n\tvldmia %[b]!, {s16-s19}\n\t"                                    \
        MG_FOUR_BY_TWO_F32("a", "b")                                                               \
        "vldmia %[c]!, {s8-s11}\n\tvldmia %[d]!, {s16-s19}\n\t"                                    \
        MG_FOUR_BY_TWO_F32("c", "d")                                                               \
        "3:"                                                                                       \
        : [values] "+&r"(values), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d),          \
          [sum_a] "+t"(sums.a), [sum_b] "+t"(sums.b), [sum_c] "+t"(sums.c), [sum_d] "+t"(sums.d)   \
        : [end] "r"(end), [has_four] "r"(has_four)                                                 \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",      \
          "s26", "s27", "cc", "memory")
/* clang-format on */

MG_INLINE mg_sums_f32 mg_dot_row_f32(mg_sums_f32 sums, const float *values, mg_filters_f32 filters,
                                     int32_t n, int fused)
{
    const float *a = filters.first;
    const float *b = &a[filters.step];
    const float *c = &b[filters.step];
    const float *d = &c[filters.step];
    const float *end = &values[n - n % 8];
    const int32_t has_four = (n / 4) % 2;

    if (fused != MG_SEPARATE_F32) {
        return mg_dot_pixel_f32(sums, values, filters, n, fused);
    }
    MG_DOT_X8_F32;
    for (int32_t i = n % 4; i > 0; i--) {
        const mg_sums_f32 weights = {*a++, *b++, *c++, *d++};
        sums = mg_add_4_f32(sums, *values++, weights, fused);
    }
    return sums;
}
#else
MG_INLINE mg_sums_f32 mg_dot_row_f32(mg_sums_f32 sums, const float *values, mg_filters_f32 filters,
                                     int32_t n, int fused)
{
    return mg_dot_pixel_f32(sums, values, filters, n, fused);
}
#endif

/* Sums before any product: the bias of channels c to c + 3. */
MG_INLINE mg_sums_f32 mg_bias_4_f32(const float *bias, int32_t c)
{
    mg_sums_f32 sums = {0.0F, 0.0F, 0.0F, 0.0F};

    if (bias != NULL) {
        sums.a = bias[c];
        sums.b = bias[c + 1];
        sums.c = bias[c + 2];
        sums.d = bias[c + 3];
    }
    return sums;
}

/* The clamp of outputs. */
typedef struct {
    float least;
    float most;
} mg_range_f32;

/* Stores the outputs of four channels. */
MG_INLINE void mg_clamp_4_f32(mg_range_f32 range, mg_sums_f32 sums, float *output)
{
    output[0] = mg_clamp_f32(sums.a, range.least, range.most);
    output[1] = mg_clamp_f32(sums.b, range.least, range.most);
    output[2] = mg_clamp_f32(sums.c, range.least, range.most);
    output[3] = mg_clamp_f32(sums.d, range.least, range.most);
}

/* The same for four pixels, which are `step` apart. */
MG_INLINE void mg_clamp_16_f32(mg_range_f32 range, mg_sums_16_f32 sums, float *output, int32_t step)
{
    mg_clamp_4_f32(range, sums.p, output);
    mg_clamp_4_f32(range, sums.q, &output[step]);
    mg_clamp_4_f32(range, sums.r, &output[2 * step]);
    mg_clamp_4_f32(range, sums.s, &output[3 * step]);
}

/* Stores 16 sums as they are; those of pixels are `step` apart. */
MG_INLINE void mg_copy_16_f32(const mg_sums_16_f32 *sums, float *output, int32_t step)
{
    const mg_sums_f32 *of = &sums->p;

    for (int32_t i = 0; i < 4; i++) {
        memcpy(&output[i * step], &of[i], sizeof(*of));
    }
}

#endif
