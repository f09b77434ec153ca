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

/* Hides a number from the compiler. If it knew the number of taps, it would unroll their loop and
 * move sums to the stack; if it knew the steps, it would compute addresses anew for each tap. */
#if defined(__GNUC__)
#define MG_HIDDEN_F32(number) __asm__("" : "+r"(number))
#else
#define MG_HIDDEN_F32(number) (void)(number)
#endif

/* Adds the products of the windows of four channels of a pixel to their sums. */
MG_INLINE mg_sums_f32 mg_depthwise_f32_pixel_plain(mg_sums_f32 sums, const mg_window *window,
                                                   const float *values, const float *weight,
                                                   int fused)
{
    int32_t next = window->next_run;
    int32_t next_weight = window->next_weight_run;

    MG_HIDDEN_F32(next);
    MG_HIDDEN_F32(next_weight);
    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weight[row * window->next_weight_row];
        int32_t run = window->runs;
        MG_HIDDEN_F32(run);
        for (; run > 0; run--) {
            const mg_sums_f32 weights = {tap[0], tap[1], tap[2], tap[3]};
            sums = mg_add_each_f32(sums, value, weights, fused);
            value += next;
            tap += next_weight;
        }
    }
    return sums;
}

/* The same for four pixels that are `step` values apart. */
MG_INLINE mg_sums_16_f32 mg_depthwise_f32_tile_plain(mg_sums_16_f32 sums, const mg_window *window,
                                                     const float *values, int32_t step,
                                                     const float *weight, int fused)
{
    int32_t next_pixel = step;
    int32_t next = window->next_run;
    int32_t next_weight = window->next_weight_run;

    MG_HIDDEN_F32(next_pixel);
    MG_HIDDEN_F32(next);
    MG_HIDDEN_F32(next_weight);
    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weight[row * window->next_weight_row];
        int32_t run = window->runs;
        MG_HIDDEN_F32(run);
        for (; run > 0; run--) {
            const mg_sums_f32 weights = {tap[0], tap[1], tap[2], tap[3]};
            sums.p = mg_add_each_f32(sums.p, value, weights, fused);
            sums.q = mg_add_each_f32(sums.q, &value[next_pixel], weights, fused);
            sums.r = mg_add_each_f32(sums.r, &value[2 * next_pixel], weights, fused);
            sums.s = mg_add_each_f32(sums.s, &value[3 * next_pixel], weights, fused);
            value += next;
            tap += next_weight;
        }
    }
    return sums;
}

#if MG_HAS_TILES_F32
/* In assembly as microgen/blocks/tiles_f32.h, and for the same reason only if products are rounded
 * before the addition. */
#define MG_EACH_PRODUCT_F32(pixel, a, b, c, d)                                                     \
    "vldmia %[" pixel "], {s20-s23}\n\t" MG_NEXT_F32(                                              \
        pixel, "next") "vmul.f32 s20, s20, s16\n\tvmul.f32 s21, s21, s17\n\t"                      \
                       "vmul.f32 s22, s22, s18\n\tvmul.f32 s23, s23, s19\n\t"                      \
                       "vadd.f32 " a ", " a ", s20\n\tvadd.f32 " b ", " b ", s21\n\t"              \
                       "vadd.f32 " c ", " c ", s22\n\tvadd.f32 " d ", " d ", s23\n\t"

/* Adds the products of a row of one pixel's window. */
#define MG_DEPTHWISE_PIXEL_F32                                                                     \
    __asm__("1:\n\t"                                                                               \
            "vldmia %[w], {s16-s19}\n\t" MG_NEXT_F32("w", "next_weight")                           \
                MG_EACH_PRODUCT_F32("p", "%[sum_a]", "%[sum_b]", "%[sum_c]",                       \
                                    "%[sum_d]") "subs %[count], %[count], #1\n\t"                  \
                                                "bne 1b"                                           \
            : [p] "+&r"(p), [w] "+&r"(w), [count] "+&r"(count), [sum_a] "+t"(sums.a),              \
              [sum_b] "+t"(sums.b), [sum_c] "+t"(sums.c), [sum_d] "+t"(sums.d)                     \
            : [next] "r"(next), [next_weight] "r"(next_weight)                                     \
            : "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory")

/* clang-format off */
#define MG_DEPTHWISE_TILE_F32                                                                      \
    __asm__ volatile(                                                                              \
        MG_LOAD_4_F32("end", "word")                                                               \
        "ldr %[word], [%[state], #80]\n\t"                                                         \
        "cmp %[word], #0\n\t"                                                                      \
        "beq 3f\n"                                                                                 \
        "1:\n\t"                                                                                   \
        "ldr %[end], [%[state], #84]\n"                                                            \
        "2:\n\t"                                                                                   \
        "vldmia %[w], {s16-s19}\n\t" MG_NEXT_F32("w", "next_weight")                               \
        MG_EACH_PRODUCT_F32("p", "s0", "s1", "s2", "s3")                                           \
        MG_EACH_PRODUCT_F32("q", "s4", "s5", "s6", "s7")                                           \
        MG_EACH_PRODUCT_F32("r", "s8", "s9", "s10", "s11")                                         \
        MG_EACH_PRODUCT_F32("a", "s12", "s13", "s14", "s15")                                       \
        "subs %[end], %[end], #1\n\t"                                                              \
        "bne 2b\n\t"                                                                               \
        "ldr %[word], [%[state], #80]\n\t"                                                         \
        "subs %[word], %[word], #1\n\t"                                                            \
        "beq 3f\n\t"                                                                               \
        "str %[word], [%[state], #80]\n\t"                                                         \
        "ldrd %[end], %[word], [%[state], #72]\n\t"                                                \
        MG_NEXT_F32("p", "end") MG_NEXT_F32("q", "end") MG_NEXT_F32("r", "end")                    \
        MG_NEXT_F32("a", "end") MG_NEXT_F32("w", "word")                                           \
        "b 1b\n"                                                                                   \
        "3:\n\t"                                                                                   \
        MG_STORES_F32(MG_TOTAL_4_F32, MG_EACH_4_F32)                                               \
        : [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r), [a] "+&r"(a), [w] "+&r"(w),                    \
          [word] "=&r"(word), [end] "=&r"(end)                                                     \
        : [state] "r"(tile), [next] "r"(next), [next_weight] "r"(next_weight)                      \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory")
/* clang-format on */

MG_INLINE mg_sums_f32 mg_depthwise_f32_pixel_sums(mg_sums_f32 sums, const mg_window *window,
                                                  const float *values, const float *weight,
                                                  int fused)
{
    const int32_t size = (int32_t)sizeof(float);
    const int32_t next = window->next_run * size;
    const int32_t next_weight = window->next_weight_run * size;

    if (fused != MG_SEPARATE_F32) {
        return mg_depthwise_f32_pixel_plain(sums, window, values, weight, fused);
    }
    for (int32_t row = 0; row < window->rows; row++) {
        const float *p = &values[row * window->next_row];
        const float *w = &weight[row * window->next_weight_row];
        int32_t count = window->runs;
        MG_DEPTHWISE_PIXEL_F32;
    }
    return sums;
}

/* Sets what tiles of a window have in common. */
MG_INLINE void mg_set_depthwise_f32_tile(mg_tile_f32 *tile, const mg_window *window)
{
    const int32_t size = (int32_t)sizeof(float);

    tile->next_value = (window->next_row - window->runs * window->next_run) * size;
    tile->next_weight = (window->next_weight_row - window->runs * window->next_weight_run) * size;
    tile->runs = window->runs;
}

/* Computes four channels of four pixels that are `step` values apart. */
MG_INLINE void mg_depthwise_f32_separate_tile(mg_tile_f32 *tile, const mg_window *window,
                                              const float *values, int32_t step,
                                              const float *weight, mg_tile_outputs_f32 outputs)
{
    const int32_t size = (int32_t)sizeof(float);
    const int32_t next = window->next_run * size;
    const int32_t next_weight = window->next_weight_run * size;
    const float *p = values;
    const float *q = &p[step];
    const float *r = &q[step];
    const float *a = &r[step];
    const float *w = weight;
    const float *end;
    int32_t word;

    mg_aim_tile_f32(tile, outputs, 1);
    tile->lines = window->rows;
    MG_DEPTHWISE_TILE_F32;
    mg_clamp_tile_f32(tile, outputs, 4);
}
#else
MG_INLINE mg_sums_f32 mg_depthwise_f32_pixel_sums(mg_sums_f32 sums, const mg_window *window,
                                                  const float *values, const float *weight,
                                                  int fused)
{
    return mg_depthwise_f32_pixel_plain(sums, window, values, weight, fused);
}

MG_INLINE void mg_set_depthwise_f32_tile(mg_tile_f32 *tile, const mg_window *window)
{
    (void)tile;
    (void)window;
}
#endif

/* Computes four channels of four pixels that are `step` values apart. */
MG_INLINE void mg_depthwise_f32_tile(mg_tile_f32 *tile, const mg_window *window,
                                     const float *values, int32_t step, const float *weight,
                                     mg_tile_outputs_f32 outputs, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_depthwise_f32_separate_tile(tile, window, values, step, weight, outputs);
        return;
    }
#endif
    tile->sums = mg_depthwise_f32_tile_plain(tile->sums, window, values, step, weight, fused);
    mg_clamp_16_f32(outputs.range, tile->sums, outputs.first, outputs.step);
}

/* Computes all channels of a pixel, or of four of a line (`is_block`). The last four channels may
 * be computed together with some that are already known. */
MG_INLINE void mg_depthwise_f32_pixels(const mg_depthwise_conv2d_f32_blocks_params *p,
                                       const mg_pixel_lines *lines, const mg_window *window,
                                       int is_block, float *pixel, const float *input,
                                       const float *weight, const float *bias, int fused)
{
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const int32_t last = p->shape.output_channels - 4;
    mg_tile_f32 tile;

    mg_set_depthwise_f32_tile(&tile, window);
    for (int32_t c = 0; c < last + 4; c += 4) {
        const int32_t from = (c < last) ? c : last;
        const float *values = &input[window->value + from];
        const float *taps = &weight[window->weight + from];
        if (is_block != 0) {
            const mg_tile_outputs_f32 outputs = {&pixel[from], lines->output_step, range};
            mg_begin_tile_f32(&tile, bias, from, fused);
            mg_depthwise_f32_tile(&tile, window, values, lines->value_step, taps, outputs, fused);
        } else {
            mg_clamp_4_f32(
                range,
                mg_depthwise_f32_pixel_sums(mg_bias_4_f32(bias, from), window, values, taps, fused),
                &pixel[from]);
        }
    }
}

/* Computes the same as mg_depthwise_conv2d_f32_body, except that sums begin with the bias and are
 * added as `fused` says. There must be four or more channels, and as many inputs as outputs. */
MG_INLINE void mg_depthwise_conv2d_f32_blocks_body(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_blocks),
                                                   int fused)
{
    MG_PIXELS_F32(4, mg_depthwise_f32_pixels, mg_depthwise_window_at, p, output, input, weight,
                  bias, fused);
}

#define MG_DEPTHWISE_CONV2D_F32_BLOCKS_PROTOTYPE(name)                                             \
    void name(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_blocks))
#define MG_DEPTHWISE_CONV2D_F32_BLOCKS_KERNEL(name, fused)                                         \
    MG_KERNEL_F32(name, mg_depthwise_conv2d_f32_blocks, fused)

#endif
