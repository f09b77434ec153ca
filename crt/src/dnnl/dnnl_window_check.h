/* SPDX-License-Identifier: Apache-2.0 */
/* Checks convolution and pooling of `dnnl_json` graphs and their operands. */
#ifndef MICROGEN_DNNL_WINDOW_CHECK_H
#define MICROGEN_DNNL_WINDOW_CHECK_H

#include "dnnl/dnnl_attrs.h"
#include "dnnl/dnnl_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of mg_dnnl_check, with the same effect. */
void mg_dnnl_check_conv2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs);
void mg_dnnl_check_pool2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs);

#ifdef __cplusplus
}
#endif

#endif
