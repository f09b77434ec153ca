/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_graph.h"

const mg_dnnl_node *mg_dnnl_input(const mg_dnnl_graph *graph, const mg_dnnl_node *node, uint32_t k)
{
    return &graph->nodes[graph->inputs[node->first_input + k]];
}

int32_t mg_dnnl_product(const mg_dnnl_node *node, uint32_t first, uint32_t last)
{
    int32_t product = 1;
    uint32_t i;

    for (i = first; i < last; i++) {
        product *= node->dims[i];
    }
    return product;
}

int32_t mg_dnnl_elements(const mg_dnnl_node *node)
{
    return mg_dnnl_product(node, 0U, node->ndim);
}

int32_t mg_dnnl_dim_from_end(const mg_dnnl_node *node, uint32_t i)
{
    return i < node->ndim ? node->dims[node->ndim - 1U - i] : 1;
}

bool mg_dnnl_is_global(const mg_dnnl_node *node)
{
    return node->op == MG_DNNL_GLOBAL_MAX_POOL2D || node->op == MG_DNNL_GLOBAL_AVG_POOL2D;
}

bool mg_dnnl_same_shape(const mg_dnnl_node *a, const mg_dnnl_node *b)
{
    uint32_t i;

    for (i = 0U; i < a->ndim; i++) {
        if (a->dims[i] != b->dims[i]) {
            return false;
        }
    }
    return a->ndim == b->ndim;
}

uint32_t mg_dnnl_axis_of(uint8_t layout, uint32_t letter)
{
    return (uint32_t)layout >> (2U * letter) & 3U;
}

int32_t mg_dnnl_dim(const mg_dnnl_node *node, uint8_t layout, uint32_t letter)
{
    return node->dims[mg_dnnl_axis_of(layout, letter)];
}
