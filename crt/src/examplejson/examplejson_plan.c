/* SPDX-License-Identifier: Apache-2.0 */
#include "examplejson/examplejson_graph.h"

/* The first node before `node` whose place `node` can take over, or NULL. Operators are
 * elementwise, so a result may overwrite an operand. */
static mg_examplejson_node *find_free(mg_examplejson_node *first, const mg_examplejson_node *node)
{
    while (first != node &&
           (first->storage != MG_EXAMPLEJSON_FREE || first->nbytes != node->nbytes)) {
        first = first->next;
    }
    return first != node ? first : NULL;
}

static void release(mg_examplejson_node *node, const mg_examplejson_node *by)
{
    if (node->storage == MG_EXAMPLEJSON_WORKSPACE && node->last_reader == by) {
        node->storage = MG_EXAMPLEJSON_FREE;
    }
}

/* Assigns a place to `node`. Returns false if the workspace would be too large. */
static bool place(mg_examplejson_function *function, mg_examplejson_node *node)
{
    mg_examplejson_node *const other = find_free(function->nodes, node);

    if (other != NULL) {
        node->place = other->place;
        other->storage = MG_EXAMPLEJSON_WORKSPACE;
        return true;
    }
    node->place = function->workspace_bytes;
    function->workspace_bytes += node->nbytes;
    return function->workspace_bytes <= (uint32_t)INT32_MAX;
}

bool mg_examplejson_plan(mg_examplejson_function *function)
{
    mg_examplejson_node *node;

    for (node = function->nodes; node != NULL; node = node->next) {
        if (node->op == MG_EXAMPLEJSON_INPUT) {
            continue;
        }
        release(node->operands[0], node);
        release(node->operands[1], node);
        if (node->storage == MG_EXAMPLEJSON_WORKSPACE) {
            if (!place(function, node)) {
                return false;
            }
            release(node, NULL); /* if nothing reads it */
        }
    }
    return true;
}
