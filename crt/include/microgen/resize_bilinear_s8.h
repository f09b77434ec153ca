/* Bilinear resizing of int8 images. */
#ifndef MICROGEN_RESIZE_BILINEAR_S8_H
#define MICROGEN_RESIZE_BILINEAR_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/requantize.h"
#include "microgen/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t batches;
    int32_t input_height;
    int32_t input_width;
    int32_t channels;
    int32_t output_height;
    int32_t output_width;
    int32_t step_y;  /* output row y lies at y * step_y + start_y of the input, in units of 2^-10 */
    int32_t start_y; /* rows, below input_height; -512 or more */
    int32_t step_x;  /* the same for columns */
    int32_t start_x;
} mg_resize_bilinear_s8_params;

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels], rounded to nearest, ties away from zero.
 * Output must not overlap the input. */
void mg_resize_bilinear_s8(const mg_resize_bilinear_s8_params *p, const int8_t *input,
                           int8_t *output);

/* The two neighbours of a position, and the second's weight of 1024. */
typedef struct {
    int32_t lower;
    int32_t upper;
    int32_t weight;
} mg_resize_bilinear_s8_place;

MG_INLINE mg_resize_bilinear_s8_place mg_resize_bilinear_s8_at(int32_t position, int32_t size)
{
    const int32_t lower = (position > 0) ? position >> 10 : 0;
    const int32_t upper = (position > 0) ? (position + 1023) >> 10 : 0;
    const mg_resize_bilinear_s8_place place = {lower, (upper < size) ? upper : size - 1,
                                               position - lower * 1024};
    return place;
}

/* One element, from its four neighbours; no product exceeds 2^29. */
MG_INLINE int8_t mg_resize_bilinear_s8_element(int32_t top, int32_t bottom, int32_t weight)
{
    const int32_t sum = top * (1024 - weight) + bottom * weight;
    return (int8_t)mg_divide_by_power_of_two(sum, 20);
}

MG_INLINE void mg_resize_bilinear_s8_body(const mg_resize_bilinear_s8_params *p,
                                          const int8_t *input, int8_t *output)
{
    const int32_t height = p->input_height;
    const int32_t width = p->input_width;
    const int32_t channels = p->channels;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            const mg_resize_bilinear_s8_place row =
                mg_resize_bilinear_s8_at(y * p->step_y + p->start_y, height);
            const int8_t *top = &input[mg_nhwc(n, row.lower, 0, height, width, channels)];
            const int8_t *bottom = &input[mg_nhwc(n, row.upper, 0, height, width, channels)];
            for (int32_t x = 0; x < p->output_width; x++) {
                const mg_resize_bilinear_s8_place column =
                    mg_resize_bilinear_s8_at(x * p->step_x + p->start_x, width);
                const int32_t left = column.lower * channels;
                const int32_t right = column.upper * channels;
                const int32_t weight = column.weight;
                for (int32_t c = 0; c < channels; c++) {
                    *output = mg_resize_bilinear_s8_element(
                        top[left + c] * (1024 - weight) + top[right + c] * weight,
                        bottom[left + c] * (1024 - weight) + bottom[right + c] * weight,
                        row.weight);
                    output++;
                }
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
