/* SPDX-License-Identifier: Apache-2.0 */
/* The names of operators in `dnnl_json` graphs. */
#ifndef MICROGEN_DNNL_NAMES_H
#define MICROGEN_DNNL_NAMES_H

#include "dnnl/dnnl_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stores the operator that a name such as "nn.conv2d" or "dnnl.conv2d_bias_relu" means, and the
 * operations fused into it. Returns false for other names. */
bool mg_dnnl_find_operator(const mg_text *name, mg_dnnl_node *node);

#ifdef __cplusplus
}
#endif

#endif
