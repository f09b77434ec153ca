/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the operators of `dnnl_json` graphs and their operands. */
#ifndef MICROGEN_DNNL_CHECK_H
#define MICROGEN_DNNL_CHECK_H

#include "dnnl/dnnl_attrs.h"
#include "dnnl/dnnl_graph.h"

/* Stores the parameters of a node whose operator, inputs and shape are known. Sets an error in
 * `attrs` if an attribute is wrong or missing, or if the shape differs from the one that follows
 * from the operator and its inputs. */
MG_EXTERN void mg_dnnl_check(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs);

#endif
