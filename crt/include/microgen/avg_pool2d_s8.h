/* Average pooling over 2-D windows, int8. */
#ifndef MICROGEN_AVG_POOL2D_S8_H
#define MICROGEN_AVG_POOL2D_S8_H

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
    int32_t pool_height;
    int32_t pool_width;
    int32_t stride_height; /* at least 1 */
    int32_t stride_width;
    int32_t pad_top;        /* less than pool_height: no window is empty */
    int32_t pad_left;       /* less than pool_width */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_avg_pool2d_s8_params;

/* Averages windows of input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels]. Padding does not count; ties are rounded away
 * from zero. Output must not overlap the input. */
void mg_avg_pool2d_s8(const mg_avg_pool2d_s8_params *p, const int8_t *input, int8_t *output);

/* The average of one channel over one window: rows and columns are the taps inside the input;
 * (origin_y, origin_x) is where tap (0, 0) lies. */
MG_INLINE int32_t mg_avg_pool2d_s8_window(const mg_avg_pool2d_s8_params *p, const int8_t *input,
                                          int32_t batch, int32_t channel, int32_t origin_y,
                                          int32_t origin_x)
{
    const mg_taps rows = mg_taps_inside(origin_y, p->pool_height, 1, p->input_height);
    const mg_taps columns = mg_taps_inside(origin_x, p->pool_width, 1, p->input_width);
    const int32_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
    int32_t sum = 0;

    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
            const int8_t value = input[mg_nhwc(batch, origin_y + ky, origin_x + kx, p->input_height,
                                               p->input_width, p->channels) +
                                       channel];
            sum += value;
        }
    }
    return ((sum > 0) ? (sum + count / 2) : (sum - count / 2)) / count;
}

MG_INLINE void mg_avg_pool2d_s8_body(const mg_avg_pool2d_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                int8_t *pixel =
                    &output[mg_nhwc(n, y, x, p->output_height, p->output_width, p->channels)];
                for (int32_t c = 0; c < p->channels; c++) {
                    const int32_t value =
                        mg_avg_pool2d_s8_window(p, input, n, c, y * p->stride_height - p->pad_top,
                                                x * p->stride_width - p->pad_left);
                    pixel[c] = mg_offset_and_clamp(value, 0, p->activation_min, p->activation_max);
                }
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
