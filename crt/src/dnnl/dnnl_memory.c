/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_memory.h"

/* The node's aligned size in bytes, below 2^31 + MG_DNNL_ALIGNMENT. */
static uint32_t size_of(const mg_dnnl_node *node)
{
    const uint32_t nbytes = (uint32_t)mg_dnnl_elements(node) * (uint32_t)sizeof(float);

    return (nbytes + MG_DNNL_ALIGNMENT - 1U) / MG_DNNL_ALIGNMENT * MG_DNNL_ALIGNMENT;
}

/* Moves `place` past each earlier output that is needed while node i is computed and overlaps
 * `size` bytes at `place`. Returns whether there was one. */
static bool evade(const mg_dnnl_graph *graph, uint32_t i, uint32_t size, uint32_t *place)
{
    bool has_moved = false;
    uint32_t k;

    for (k = 0U; k < i; k++) {
        const mg_dnnl_node *const other = &graph->nodes[k];
        if (other->storage == MG_DNNL_WORKSPACE && other->last_use >= i &&
            other->place < *place + size && *place < other->place + size_of(other)) {
            *place = other->place + size_of(other);
            has_moved = true;
        }
    }
    return has_moved;
}

tvm_crt_error_t mg_dnnl_lay_out(mg_dnnl_graph *graph)
{
    uint32_t i;

    for (i = 0U; i < graph->num_nodes; i++) {
        mg_dnnl_node *const node = &graph->nodes[i];
        const uint32_t size = size_of(node);
        uint32_t place = 0U;
        if (node->storage != MG_DNNL_WORKSPACE) {
            continue;
        }
        while (evade(graph, i, size, &place)) {
        }
        if (size > (uint32_t)INT32_MAX - place) {
            return kTvmErrorPlatformNoMemory;
        }
        node->place = place;
        if (place + size > graph->workspace_bytes) {
            graph->workspace_bytes = place + size;
        }
    }
    return kTvmErrorNoError;
}
