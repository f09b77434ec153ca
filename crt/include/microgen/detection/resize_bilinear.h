/* SPDX-License-Identifier: Apache-2.0 */
/* Loops and parameters of bilinear resizing. */
#ifndef MICROGEN_RESIZE_BILINEAR_H
#define MICROGEN_RESIZE_BILINEAR_H

#include "microgen/window.h"

/* The parameters of integer kernels of any type. */
typedef struct {
    MG_IMAGE_SIZES(channels)
    /* Output row y is at y * step_y + start_y of the input, in units of 2^-10 rows. This position
     * must be -512 or more, and less than input_height rows. The same applies to columns. */
    int32_t step_y;
    int32_t start_y;
    int32_t step_x;
    int32_t start_x;
} mg_resize_bilinear_params;

/* The two neighbours of a position, and the second's weight in units of 1/1024. */
typedef struct {
    int32_t lower;
    int32_t upper;
    int32_t weight;
} mg_resize_bilinear_place;

MG_INLINE mg_resize_bilinear_place mg_resize_bilinear_at(int32_t position, int32_t size)
{
    const int32_t lower = (position > 0) ? position >> 10 : 0;
    const int32_t upper = (position > 0) ? (position + 1023) >> 10 : 0;
    const mg_resize_bilinear_place place = {lower, (upper < size) ? upper : size - 1,
                                            position - lower * 1024};
    return place;
}

MG_INLINE mg_resize_bilinear_place mg_resize_bilinear_row(const mg_resize_bilinear_params *p,
                                                          int32_t y)
{
    return mg_resize_bilinear_at(y * p->step_y + p->start_y, p->input_height);
}

MG_INLINE mg_resize_bilinear_place mg_resize_bilinear_column(const mg_resize_bilinear_params *p,
                                                             int32_t x)
{
    return mg_resize_bilinear_at(x * p->step_x + p->start_x, p->input_width);
}

/* Interpolates input [batches][input_height][input_width][channels] of `type` into output
 * [batches][output_height][output_width][channels]. `row`(p, y) and `column`(p, x) return the
 * position of an output row and column as a `place`, a struct like the one above. `blend`(left,
 * right, weight) interpolates between neighbours in a row, and `result`(top, bottom, weight)
 * between two such values.
 *
 * This is a macro so that these functions work for any types and are inlined at every optimisation
 * level. */
#define MG_RESIZE_BILINEAR(type, place, row, column, blend, result, p, input, output)              \
    do {                                                                                           \
        const int32_t channels_ = (p)->channels;                                                   \
        type *next_ = (output);                                                                    \
        for (int32_t n_ = 0; n_ < (p)->batches; n_++) {                                            \
            for (int32_t y_ = 0; y_ < (p)->output_height; y_++) {                                  \
                const place row_ = row((p), y_);                                                   \
                const type *top_ = &(input)[mg_nhwc(n_, row_.lower, 0, (p)->input_height,          \
                                                    (p)->input_width, channels_)];                 \
                const type *bottom_ = &(input)[mg_nhwc(n_, row_.upper, 0, (p)->input_height,       \
                                                       (p)->input_width, channels_)];              \
                for (int32_t x_ = 0; x_ < (p)->output_width; x_++) {                               \
                    const place column_ = column((p), x_);                                         \
                    const int32_t left_ = column_.lower * channels_;                               \
                    const int32_t right_ = column_.upper * channels_;                              \
                    for (int32_t c_ = 0; c_ < channels_; c_++) {                                   \
                        *next_ = result(                                                           \
                            blend(top_[left_ + c_], top_[right_ + c_], column_.weight),            \
                            blend(bottom_[left_ + c_], bottom_[right_ + c_], column_.weight),      \
                            row_.weight);                                                          \
                        next_++;                                                                   \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol` for elements of `type`, and defines its body by MG_RESIZE_BILINEAR.
 */
#define MG_RESIZING(symbol, type, place, row, column, blend, result)                               \
    MG_DECLARE_UNARY(symbol, type, type);                                                          \
    MG_INLINE void symbol##_body(const symbol##_params *p, const type *input, type *output)        \
    {                                                                                              \
        MG_RESIZE_BILINEAR(type, place, row, column, blend, result, p, input, output);             \
    }

/* The value between two neighbours in a row, times 1024. Its magnitude is below 2^26 for int16. */
MG_INLINE int32_t mg_resize_bilinear_blend(int32_t left, int32_t right, int32_t weight)
{
    return left * (1024 - weight) + right * weight;
}

#endif
