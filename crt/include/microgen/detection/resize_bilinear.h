/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear resizing of images. */
#ifndef MICROGEN_RESIZE_BILINEAR_H
#define MICROGEN_RESIZE_BILINEAR_H

#include "microgen/requantization/requantize.h"
#include "microgen/window.h"

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

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

typedef struct {
    MG_IMAGE_SIZES(channels)
    /* Output row y is at row (y + offset) * step_y - offset of the input, which must be less than
     * input_height. The same applies to columns. */
    float step_y;
    float step_x;
    float offset; /* position of a pixel's centre inside it: 0 or 0.5 */
} mg_resize_bilinear_f32_params;

/* The two neighbours of a position, and the second's weight. */
typedef struct {
    int32_t lower;
    int32_t upper;
    float weight;
} mg_resize_bilinear_f32_place;

MG_INLINE mg_resize_bilinear_f32_place mg_resize_bilinear_f32_at(float position, int32_t size)
{
    const float inside = (position > 0.0F) ? position : 0.0F;
    const int32_t lower = (int32_t)inside;
    const float weight = inside - (float)lower;
    const int32_t upper = (weight > 0.0F) ? lower + 1 : lower;
    const mg_resize_bilinear_f32_place place = {lower, (upper < size) ? upper : size - 1, weight};
    return place;
}

MG_INLINE mg_resize_bilinear_f32_place
mg_resize_bilinear_f32_row(const mg_resize_bilinear_f32_params *p, int32_t y)
{
    return mg_resize_bilinear_f32_at(((float)y + p->offset) * p->step_y - p->offset,
                                     p->input_height);
}

MG_INLINE mg_resize_bilinear_f32_place
mg_resize_bilinear_f32_column(const mg_resize_bilinear_f32_params *p, int32_t x)
{
    return mg_resize_bilinear_f32_at(((float)x + p->offset) * p->step_x - p->offset,
                                     p->input_width);
}

MG_INLINE float mg_resize_bilinear_f32_blend(float first, float second, float weight)
{
    return first * (1.0F - weight) + second * weight;
}

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels]. Output must not overlap the input. */
MG_RESIZING(mg_resize_bilinear_f32, float, mg_resize_bilinear_f32_place, mg_resize_bilinear_f32_row,
            mg_resize_bilinear_f32_column, mg_resize_bilinear_f32_blend,
            mg_resize_bilinear_f32_blend)

typedef mg_resize_bilinear_params mg_resize_bilinear_s8_params;

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels], rounded to nearest, ties away from zero.
 * Output must not overlap the input. */
MG_DECLARE_UNARY(mg_resize_bilinear_s8, int8_t, int8_t);

/* The four neighbours of a pixel, the upper ones first, and their weights in units of 2^-20. */
typedef struct {
    const int8_t *from[4];
    int32_t weight[4];
} mg_resize_bilinear_s8_pixel;

/* The channels of a pixel. No sum of products exceeds 2^30. */
MG_INLINE void mg_resize_bilinear_s8_channels(const mg_resize_bilinear_s8_pixel *of,
                                              int32_t channels, int8_t *output)
{
    const int8_t *const first = of->from[0];
    const int8_t *const second = of->from[1];
    const int8_t *const third = of->from[2];
    const int8_t *const fourth = of->from[3];
    const int32_t weights[4] = {of->weight[0], of->weight[1], of->weight[2], of->weight[3]};

#if defined(__ARM_FEATURE_MVE)
    for (int32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t active = vctp32q((uint32_t)(channels - c));
        int32x4_t sum = vmulq_n_s32(vldrbq_z_s32(&first[c], active), weights[0]);
        sum = vmlaq_n_s32(sum, vldrbq_z_s32(&second[c], active), weights[1]);
        sum = vmlaq_n_s32(sum, vldrbq_z_s32(&third[c], active), weights[2]);
        sum = vmlaq_n_s32(sum, vldrbq_z_s32(&fourth[c], active), weights[3]);
        /* Ties go upwards, so 1 is subtracted from negative sums. */
        sum = vrshrq_n_s32(vaddq_s32(sum, vshrq_n_s32(sum, 31)), 20);
        vstrbq_p_s32(&output[c], sum, active);
    }
#else
    for (int32_t c = 0; c < channels; c++) {
        const int32_t sum = first[c] * weights[0] + second[c] * weights[1] + third[c] * weights[2] +
                            fourth[c] * weights[3];
        output[c] = (int8_t)mg_shift_right(sum + (1 << 19) + mg_shift_right(sum, 31), 20);
    }
#endif
}

/* A row of pixels between the rows `top` and `bottom` of the input. */
MG_INLINE void mg_resize_bilinear_s8_row(const mg_resize_bilinear_params *p, const int8_t *top,
                                         const int8_t *bottom, int32_t weight, int8_t *output)
{
    for (int32_t x = 0; x < p->output_width; x++) {
        const mg_resize_bilinear_place column = mg_resize_bilinear_column(p, x);
        const int32_t left = column.lower * p->channels;
        const int32_t right = column.upper * p->channels;
        const int32_t rest = 1024 - column.weight;
        const mg_resize_bilinear_s8_pixel of = {
            {&top[left], &top[right], &bottom[left], &bottom[right]},
            {(1024 - weight) * rest, (1024 - weight) * column.weight, weight * rest,
             weight * column.weight},
        };
        mg_resize_bilinear_s8_channels(&of, p->channels, &output[x * p->channels]);
    }
}

MG_INLINE void mg_resize_bilinear_s8_body(const mg_resize_bilinear_s8_params *p,
                                          const int8_t *input, int8_t *output)
{
    const int32_t line = p->input_width * p->channels;

    for (int32_t y = 0; y < p->batches * p->output_height; y++) {
        const mg_resize_bilinear_place row = mg_resize_bilinear_row(p, y % p->output_height);
        const int8_t *image = &input[y / p->output_height * p->input_height * line];
        mg_resize_bilinear_s8_row(p, &image[row.lower * line], &image[row.upper * line], row.weight,
                                  &output[y * p->output_width * p->channels]);
    }
}

typedef mg_resize_bilinear_params mg_resize_bilinear_s16_params;

MG_INLINE int16_t mg_resize_bilinear_s16_stored(int32_t top, int32_t bottom, int32_t weight)
{
    const int64_t sum = (int64_t)top * (1024 - weight) + (int64_t)bottom * weight;
    const int64_t half = (int64_t)1 << 19;
    return (int16_t)mg_shift_right_64(sum + half - ((sum < 0) ? 1 : 0), 20);
}

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels], rounded to nearest, ties away from zero.
 * Output must not overlap the input. */
MG_RESIZING(mg_resize_bilinear_s16, int16_t, mg_resize_bilinear_place, mg_resize_bilinear_row,
            mg_resize_bilinear_column, mg_resize_bilinear_blend, mg_resize_bilinear_s16_stored)

typedef mg_resize_bilinear_f32_params mg_resize_bilinear_s8_f32_params;

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels]. Values are int8, and 128 is added to them
 * before they become floats. Results are rounded to nearest, ties upwards. The compiler must not
 * contract products and sums (-ffp-contract=off). Output must not overlap the input. */
MG_DECLARE_UNARY(mg_resize_bilinear_s8_f32, int8_t, int8_t);

/* The neighbours of a position. Before the first pixel, both are the first, and the second's weight
 * is negative. */
MG_INLINE mg_resize_bilinear_f32_place mg_resize_bilinear_s8_f32_at(float position, int32_t size)
{
    mg_resize_bilinear_f32_place place = mg_resize_bilinear_f32_at(position, size);

    if (position < 0.0F) {
        place.weight = position;
    }
    return place;
}

MG_INLINE float mg_resize_bilinear_s8_f32_value(int8_t stored)
{
    return (float)(stored + 128);
}

MG_INLINE int8_t mg_resize_bilinear_s8_f32_stored(float x)
{
    const int32_t whole = (int32_t)x;
    return (int8_t)(whole + ((x - (float)whole >= 0.5F) ? 1 : 0) - 128);
}

MG_INLINE void mg_resize_bilinear_s8_f32_row(const mg_resize_bilinear_s8_f32_params *p,
                                             const int8_t *upper, const int8_t *lower, float weight,
                                             int8_t *output)
{
    const float rest = 1.0F - weight;

    for (int32_t x = 0; x < p->output_width; x++) {
        const mg_resize_bilinear_f32_place at = mg_resize_bilinear_s8_f32_at(
            ((float)x + p->offset) * p->step_x - p->offset, p->input_width);
        const float other = 1.0F - at.weight;
        for (int32_t c = 0; c < p->channels; c++) {
            const int32_t left = at.lower * p->channels + c;
            const int32_t right = at.upper * p->channels + c;
            const float sum = mg_resize_bilinear_s8_f32_value(upper[left]) * rest * other +
                              mg_resize_bilinear_s8_f32_value(lower[left]) * weight * other +
                              mg_resize_bilinear_s8_f32_value(upper[right]) * rest * at.weight +
                              mg_resize_bilinear_s8_f32_value(lower[right]) * weight * at.weight;
            output[x * p->channels + c] = mg_resize_bilinear_s8_f32_stored(sum);
        }
    }
}

MG_INLINE void mg_resize_bilinear_s8_f32_body(const mg_resize_bilinear_s8_f32_params *p,
                                              const int8_t *input, int8_t *output)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            const mg_resize_bilinear_f32_place at = mg_resize_bilinear_s8_f32_at(
                ((float)y + p->offset) * p->step_y - p->offset, p->input_height);
            mg_resize_bilinear_s8_f32_row(
                p, &input[mg_nhwc(n, at.lower, 0, p->input_height, p->input_width, p->channels)],
                &input[mg_nhwc(n, at.upper, 0, p->input_height, p->input_width, p->channels)],
                at.weight,
                &output[mg_nhwc(n, y, 0, p->output_height, p->output_width, p->channels)]);
        }
    }
}

#ifdef MG_RESIZE_BILINEAR_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_resize_bilinear_f32, float, float)
MG_DEFINE_UNARY(mg_resize_bilinear_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_resize_bilinear_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_resize_bilinear_s8_f32, int8_t, int8_t)
#endif

#endif
