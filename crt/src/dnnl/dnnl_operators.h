/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the nodes of `dnnl_json` graphs. */
#ifndef MICROGEN_DNNL_OPERATORS_H
#define MICROGEN_DNNL_OPERATORS_H

#include "dnnl/dnnl_graph.h"

/* Computes `node`, an operator of a checked graph, from its inputs, in order, into its output,
 * which must not overlap them. */
MG_EXTERN void mg_dnnl_compute(const mg_dnnl_graph *graph, const mg_dnnl_node *node,
                               const float *const inputs[MG_DNNL_MAX_INPUTS], float *output);

#endif
