/* SPDX-License-Identifier: Apache-2.0 */
/* The two axes of a depthwise convolution, for kernels for MVE that treat both alike. */
#ifndef MICROGEN_MVE_AXIS_H
#define MICROGEN_MVE_AXIS_H

#include "microgen/depthwise/depthwise_conv2d_s8_compact.h"
#include "microgen/inline.h"

/* One of the two axes. Steps are in bytes, from place to place, and in weights. */
typedef struct {
    int32_t size;
    int32_t pad; /* before the first place */
    int32_t kernel;
    int32_t stride;
    int32_t outputs;
    int32_t input_step;
    int32_t weight_step;
    int32_t output_step;
} mg_mve_axis;

MG_INLINE mg_mve_axis mg_mve_axis_of_rows(const mg_depthwise_conv2d_s8_compact *p)
{
    const mg_mve_axis axis = {p->input_height,
                              p->pad_top,
                              p->kernel_height,
                              p->stride_height,
                              p->output_height,
                              p->input_width * p->input_channels,
                              p->kernel_width * p->input_channels,
                              p->output_width * p->input_channels};
    return axis;
}

MG_INLINE mg_mve_axis mg_mve_axis_of_columns(const mg_depthwise_conv2d_s8_compact *p)
{
    const mg_mve_axis axis = {p->input_width,    p->pad_left,      p->kernel_width,
                              p->stride_width,   p->output_width,  p->input_channels,
                              p->input_channels, p->input_channels};
    return axis;
}

#endif
