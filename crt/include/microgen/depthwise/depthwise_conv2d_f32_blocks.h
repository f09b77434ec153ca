/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, float32, in blocks of four pixels and four channels, for cores with an
 * FPU. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_F32_BLOCKS_H
#define MICROGEN_DEPTHWISE_CONV2D_F32_BLOCKS_H

#include "microgen/blocks/blocks_f32.h"
#include "microgen/blocks/tiles_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/depthwise/depthwise_conv2d_f32.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_f32_params mg_depthwise_conv2d_f32_blocks_params;

/* Adds the products of four values with a weight each. */
MG_INLINE mg_sums_f32 mg_add_each_f32(mg_sums_f32 sums, const float *values, mg_sums_f32 weights,
                                      int fused)
{
    sums.a = mg_add_product_f32(sums.a, values[0], weights.a, fused);
    sums.b = mg_add_product_f32(sums.b, values[1], weights.b, fused);
    sums.c = mg_add_product_f32(sums.c, values[2], weights.c, fused);
    sums.d = mg_add_product_f32(sums.d, values[3], weights.d, fused);
    return sums;
}

/* Adds the products of the windows of four pixels that are `step` values apart to the sums of the
 * same four channels of each. */
#if MG_HAS_TILES_F32
/* In assembly as microgen/blocks/tiles_f32.h, for fused additions, too, so all are stored alike. */
#define MG_EACH_FUSED_F32(a, b, c, d)                                                              \
    "vfma.f32 " a ", s20, s16\n\t"                                                                 \
    "vfma.f32 " b ", s21, s17\n\t"                                                                 \
    "vfma.f32 " c ", s22, s18\n\t"                                                                 \
    "vfma.f32 " d ", s23, s19\n\t"
#define MG_EACH_SEPARATE_F32(a, b, c, d)                                                           \
    "vmul.f32 s20, s20, s16\n\t"                                                                   \
    "vmul.f32 s21, s21, s17\n\t"                                                                   \
    "vmul.f32 s22, s22, s18\n\t"                                                                   \
    "vmul.f32 s23, s23, s19\n\t"                                                                   \
    "vadd.f32 " a ", " a ", s20\n\t"                                                               \
    "vadd.f32 " b ", " b ", s21\n\t"                                                               \
    "vadd.f32 " c ", " c ", s22\n\t"                                                               \
    "vadd.f32 " d ", " d ", s23\n\t"
#define MG_EACH_OF_F32(pixel)                                                                      \
    "vldmia %[" pixel "], {s20-s23}\n\tadd %[" pixel "], %[" pixel "], %[next]\n\t"

/* Adds the products of a row of one pixel's window. */
#define MG_DEPTHWISE_PIXEL_F32(each)                                                               \
    __asm__("1:\n\t"                                                                               \
            "vldmia %[w], {s16-s19}\n\t"                                                           \
            "add %[w], %[w], %[next_weight]\n\t" MG_EACH_OF_F32("p")                               \
                each("%[sum_a]", "%[sum_b]", "%[sum_c]", "%[sum_d]") "subs %[count], "             \
                                                                     "%[count], #1\n\t"            \
                                                                     "bne 1b"                      \
            : [p] "+&r"(p), [w] "+&r"(w), [count] "+&r"(count), [sum_a] "+t"(sums.a),              \
              [sum_b] "+t"(sums.b), [sum_c] "+t"(sums.c), [sum_d] "+t"(sums.d)                     \
            : [next] "r"(next), [next_weight] "r"(next_weight)                                     \
            : "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory")

/* clang-format off */
#define MG_DEPTHWISE_TILE_F32(each)                                                                \
    __asm__ volatile(                                                                              \
        "vldmia %[state], {s0-s15}\n"                                                              \
        "1:\n\t"                                                                                   \
        "ldr %[count], [%[state], #88]\n"                                                          \
        "2:\n\t"                                                                                   \
        "vldmia %[w], {s16-s19}\n\t"                                                               \
        "add %[w], %[w], %[next_weight]\n\t"                                                       \
        MG_EACH_OF_F32("p")                                                                        \
        each("s0", "s1", "s2", "s3")                                                               \
        MG_EACH_OF_F32("q")                                                                        \
        each("s4", "s5", "s6", "s7")                                                               \
        MG_EACH_OF_F32("r")                                                                        \
        each("s8", "s9", "s10", "s11")                                                             \
        MG_EACH_OF_F32("s")                                                                        \
        each("s12", "s13", "s14", "s15")                                                           \
        "subs %[count], %[count], #1\n\t"                                                          \
        "bne 2b\n\t"                                                                               \
        "ldrd %[count], %[word], [%[state], #72]\n\t"                                              \
        "add %[p], %[p], %[count]\n\t"                                                             \
        "add %[q], %[q], %[count]\n\t"                                                             \
        "add %[r], %[r], %[count]\n\t"                                                             \
        "add %[s], %[s], %[count]\n\t"                                                             \
        "add %[w], %[w], %[word]\n\t"                                                              \
        "ldr %[count], [%[state], #80]\n\t"                                                        \
        "subs %[count], %[count], #1\n\t"                                                          \
        "str %[count], [%[state], #80]\n\t"                                                        \
        "bne 1b\n\t"                                                                               \
        "vstmia %[state], {s0-s15}\n\t"                                                            \
        MG_TOTAL_F32                                                                               \
        "vstr.f32 s16, [%[state], #84]"                                                            \
        : [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r), [s] "+&r"(s), [w] "+&r"(w),                    \
          [count] "=&r"(count), [word] "=&r"(word)                                                 \
        : [state] "r"(tile), [next] "r"(next), [next_weight] "r"(next_weight)                    \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory")
/* clang-format on */

/* Adds the products of the windows of four channels of a pixel to their sums. */
MG_INLINE mg_sums_f32 mg_depthwise_f32_pixel_sums(mg_sums_f32 sums, const mg_window *window,
                                                  const float *values, const float *weight,
                                                  int fused)
{
    const int32_t size = (int32_t)sizeof(float);
    const int32_t next = window->next_run * size;
    const int32_t next_weight = window->next_weight_run * size;

    for (int32_t row = 0; row < window->rows; row++) {
        const float *p = &values[row * window->next_row];
        const float *w = &weight[row * window->next_weight_row];
        int32_t count = window->runs;
        MG_ADDED_F32(fused, MG_DEPTHWISE_PIXEL_F32, MG_EACH);
    }
    return sums;
}

MG_INLINE void mg_depthwise_f32_tile_sums(mg_tile_f32 *tile, const mg_window *window,
                                          const float *values, int32_t step, const float *weight,
                                          int fused)
{
    const int32_t size = (int32_t)sizeof(float);
    const int32_t next = window->next_run * size;
    const int32_t next_weight = window->next_weight_run * size;
    const float *p = values;
    const float *q = &p[step];
    const float *r = &q[step];
    const float *s = &r[step];
    const float *w = weight;
    int32_t count;
    int32_t word;

    tile->next_value = window->next_row * size - window->runs * next;
    tile->next_weight = window->next_weight_row * size - window->runs * next_weight;
    tile->lines = window->rows;
    tile->runs = window->runs;
    if (window->rows > 0) {
        MG_ADDED_F32(fused, MG_DEPTHWISE_TILE_F32, MG_EACH);
    }
}
#else
MG_INLINE mg_sums_f32 mg_depthwise_f32_pixel_sums(mg_sums_f32 sums, const mg_window *window,
                                                  const float *values, const float *weight,
                                                  int fused)
{
    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weight[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const mg_sums_f32 weights = {tap[0], tap[1], tap[2], tap[3]};
            sums = mg_add_each_f32(sums, value, weights, fused);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

MG_INLINE void mg_depthwise_f32_tile_sums(mg_tile_f32 *tile, const mg_window *window,
                                          const float *values, int32_t step, const float *weight,
                                          int fused)
{
    mg_sums_16_f32 found = tile->sums;

    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weight[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const mg_sums_f32 weights = {tap[0], tap[1], tap[2], tap[3]};
            found.p = mg_add_each_f32(found.p, value, weights, fused);
            found.q = mg_add_each_f32(found.q, &value[step], weights, fused);
            found.r = mg_add_each_f32(found.r, &value[2 * step], weights, fused);
            found.s = mg_add_each_f32(found.s, &value[3 * step], weights, fused);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    tile->sums = found;
}
#endif

/* Computes all channels of a pixel, or of four of a line (`is_block`). The last four channels may
 * be computed together with some that are already known. */
MG_INLINE void mg_depthwise_f32_pixels(const mg_depthwise_conv2d_f32_blocks_params *p,
                                       const mg_pixel_lines *lines, const mg_window *window,
                                       int is_block, float *pixel, const float *input,
                                       const float *weight, const float *bias, int fused)
{
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const int32_t last = p->shape.output_channels - 4;

    for (int32_t c = 0; c < last + 4; c += 4) {
        const int32_t from = (c < last) ? c : last;
        const float *values = &input[window->value + from];
        const float *taps = &weight[window->weight + from];
        const mg_sums_f32 start = mg_bias_4_f32(bias, from);
        if (is_block != 0) {
            mg_tile_f32 tile;
            mg_begin_tile_f32(&tile, start);
            mg_depthwise_f32_tile_sums(&tile, window, values, lines->value_step, taps, fused);
            mg_store_tile_f32(&tile, range, &pixel[from], lines->output_step, MG_SEPARATE_F32);
        } else {
            mg_clamp_4_f32(range, mg_depthwise_f32_pixel_sums(start, window, values, taps, fused),
                           &pixel[from]);
        }
    }
}

/* Computes the same as mg_depthwise_conv2d_f32_body, except that sums begin with the bias and are
 * added as `fused` says. There must be four or more channels, and as many inputs as outputs. */
MG_INLINE void mg_depthwise_conv2d_f32_blocks_body(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_blocks),
                                                   int fused)
{
    MG_PIXELS_F32(mg_depthwise_f32_pixels, mg_depthwise_window_at, p, output, input, weight, bias,
                  fused);
}

#define MG_DEPTHWISE_CONV2D_F32_BLOCKS_PROTOTYPE(name)                                             \
    void name(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_blocks))
#define MG_DEPTHWISE_CONV2D_F32_BLOCKS_KERNEL(name, fused)                                         \
    MG_KERNEL_F32(name, mg_depthwise_conv2d_f32_blocks, fused)

#endif
