/* SPDX-License-Identifier: Apache-2.0 */
/* Averages or maxima of regions of float32 images, in a grid of bins. */
#ifndef MICROGEN_ROI_ALIGN_F32_H
#define MICROGEN_ROI_ALIGN_F32_H

#include "microgen/inline.h"
#include "tvm/runtime/crt/error_codes.h"

#define MG_ROI_SAMPLES 256 /* the most samples along each axis of a bin */

typedef struct {
    int32_t images;
    int32_t height;
    int32_t width;
    int32_t channels;
    int32_t regions;
    int32_t rows;    /* of bins */
    int32_t columns; /* of bins */
    int32_t samples; /* along each axis of a bin; 0: one for each pixel, at most MG_ROI_SAMPLES */
    int32_t is_max;  /* 1: the greatest product of a pixel and its weight; 0: the mean */
    int32_t is_half; /* 1: half a pixel is subtracted from coordinates, after `scale` */
    float scale;     /* of the coordinates of regions */
} mg_roi_align_f32_params;

/* Computes output [regions][rows][columns][channels] from input [images][height][width][channels],
 * region [regions][4], which are x, y, x, y of two corners, and the number of each region's image,
 * and returns 0. Returns kTvmErrorFunctionCallInvalidArg if there is no such image. Output must not
 * overlap an input. */
MG_EXTERN int32_t mg_roi_align_f32(const mg_roi_align_f32_params *p, const float *input,
                                   const float *region, const int32_t *image, float *output);

/* A region along one axis. */
typedef struct {
    float start;
    float width; /* of a bin */
    int32_t samples;
    int32_t size; /* of the image */
} mg_roi_axis;

/* The two pixels of a sample, with their weights. */
typedef struct {
    int32_t index[2];
    float weight[2];
} mg_roi_pixels;

MG_INLINE mg_roi_axis mg_roi_axis_of(const mg_roi_align_f32_params *p, float first, float last,
                                     int32_t bins, int32_t size)
{
    const float offset = (p->is_half != 0) ? 0.5F : 0.0F;
    const float start = first * p->scale - offset;
    const float end = last * p->scale - offset;
    float length = end - start;
    mg_roi_axis axis;

    if (p->is_half == 0 && !(length > 1.0F)) {
        length = 1.0F;
    }
    axis.start = start;
    axis.width = length / (float)bins;
    axis.samples = p->samples;
    axis.size = size;
    if (p->samples == 0 && axis.width > 0.0F) {
        const float most =
            (axis.width < (float)MG_ROI_SAMPLES) ? axis.width : (float)MG_ROI_SAMPLES;
        axis.samples = (int32_t)most;
        axis.samples += ((float)axis.samples < most) ? 1 : 0;
    }
    return axis;
}

MG_INLINE mg_roi_pixels mg_roi_pixels_of(const mg_roi_axis *axis, int32_t bin, int32_t sample)
{
    const float step = ((float)sample + 0.5F) * axis->width / (float)axis->samples;
    float at = axis->start + (float)bin * axis->width + step;
    mg_roi_pixels found = {{0, 0}, {0.0F, 0.0F}};

    if (!(at >= -1.0F && at <= (float)axis->size)) {
        return found;
    }
    at = (at > 0.0F) ? at : 0.0F;
    found.index[0] = (int32_t)at;
    if (found.index[0] >= axis->size - 1) {
        found.index[0] = axis->size - 1;
        found.index[1] = axis->size - 1;
        found.weight[0] = 1.0F;
    } else {
        found.index[1] = found.index[0] + 1;
        found.weight[1] = at - (float)found.index[0];
        found.weight[0] = 1.0F - found.weight[1];
    }
    return found;
}

/* Adds a sample to a bin, or replaces what is less; `is_first`: the bin has none yet. */
MG_INLINE void mg_roi_sample(const mg_roi_align_f32_params *p, const float *input,
                             const mg_roi_pixels *row, const mg_roi_pixels *column, int is_first,
                             float *output)
{
    for (int32_t c = 0; c < p->channels; c++) {
        float sum = 0.0F;
        for (int32_t n = 0; n < 4; n++) {
            const int32_t y = n / 2;
            const int32_t x = n % 2;
            const int32_t place = row->index[y] * p->width + column->index[x];
            const float term = row->weight[y] * column->weight[x] * input[place * p->channels + c];
            if (p->is_max == 0) {
                sum = (n == 0) ? term : sum + term;
            } else if ((is_first && n == 0) || term > output[c]) {
                output[c] = term;
            }
        }
        if (p->is_max == 0) {
            output[c] += sum;
        }
    }
}

MG_INLINE void mg_roi_bin(const mg_roi_align_f32_params *p, const float *input,
                          const mg_roi_axis *rows, const mg_roi_axis *columns, int32_t y, int32_t x,
                          float *output)
{
    const int32_t count = rows->samples * columns->samples;

    for (int32_t c = 0; c < p->channels; c++) {
        output[c] = 0.0F;
    }
    for (int32_t i = 0; i < rows->samples; i++) {
        const mg_roi_pixels row = mg_roi_pixels_of(rows, y, i);
        for (int32_t j = 0; j < columns->samples; j++) {
            const mg_roi_pixels column = mg_roi_pixels_of(columns, x, j);
            mg_roi_sample(p, input, &row, &column, i == 0 && j == 0, output);
        }
    }
    for (int32_t c = 0; c < p->channels && p->is_max == 0; c++) {
        output[c] /= (float)((count > 0) ? count : 1);
    }
}

MG_INLINE int32_t mg_roi_align_f32_body(const mg_roi_align_f32_params *p, const float *input,
                                        const float *region, const int32_t *image, float *output)
{
    for (int32_t n = 0; n < p->regions; n++) {
        if (image[n] < 0 || image[n] >= p->images) {
            return (int32_t)kTvmErrorFunctionCallInvalidArg;
        }
    }
    for (int32_t n = 0; n < p->regions; n++) {
        const mg_roi_axis rows =
            mg_roi_axis_of(p, region[n * 4 + 1], region[n * 4 + 3], p->rows, p->height);
        const mg_roi_axis columns =
            mg_roi_axis_of(p, region[n * 4], region[n * 4 + 2], p->columns, p->width);
        const float *own = &input[image[n] * p->height * p->width * p->channels];
        for (int32_t y = 0; y < p->rows; y++) {
            for (int32_t x = 0; x < p->columns; x++) {
                mg_roi_bin(p, own, &rows, &columns, y, x, output);
                output += p->channels;
            }
        }
    }
    return 0;
}

#ifdef MG_ROI_ALIGN_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE_STATUS(mg_roi_align_f32, (p, input, region, image, output),
                      const mg_roi_align_f32_params *p, const float *input, const float *region,
                      const int32_t *image, float *output)
#endif

#endif
