/* Operators of `dnnl_json` graphs: which there are, and what they ask of their operands. */
#ifndef MICROGEN_DNNL_CHECK_H
#define MICROGEN_DNNL_CHECK_H

#include "dnnl_attrs.h"
#include "dnnl_graph.h"

/* Stores the operator that a name means, and what is fused into it: "nn.conv2d",
 * "dnnl.conv2d_bias_relu". False for other names. */
bool mg_dnnl_find_operator(const mg_text *name, mg_dnnl_node *node);

/* Stores the parameters of a node whose operator, inputs and shape are known. Fails in `attrs` if
 * an attribute is wrong or missing, or if the shape is not what the operator gives for its inputs.
 */
void mg_dnnl_check(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs);

/* The same for those with windows: convolution and pooling. */
void mg_dnnl_check_conv2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs);
void mg_dnnl_check_pool2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs);

#endif
