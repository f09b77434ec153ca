/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of `dnnl_json` graphs that slide windows over images, in any layout. */
#ifndef MICROGEN_DNNL_WINDOWS_H
#define MICROGEN_DNNL_WINDOWS_H

#include "dnnl/dnnl_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The positions of the letters of a layout, NCHW or OIHW. */
#define MG_DNNL_BATCH_AXIS 0U
#define MG_DNNL_CHANNELS_AXIS 1U
#define MG_DNNL_ROWS_AXIS 2U
#define MG_DNNL_COLUMNS_AXIS 3U

/* The axis that has this letter in a layout. */
uint32_t mg_dnnl_axis_of(uint8_t layout, uint32_t letter);

/* Both compute checked nodes. The operations fused into a convolution are not computed here. */
void mg_dnnl_run_conv2d(const mg_dnnl_node *node, const mg_dnnl_node *data,
                        const mg_dnnl_node *weight, const float *input, const float *filters,
                        float *output);
void mg_dnnl_run_pool2d(const mg_dnnl_node *node, const mg_dnnl_node *data, const float *input,
                        float *output);

#ifdef __cplusplus
}
#endif

#endif
