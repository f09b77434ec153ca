/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_names.h"

/* Each name ends with a NUL, and one more NUL ends the list. */
static const char operators[] =
    "nn.conv2d\0nn.dense\0nn.batch_matmul\0add\0multiply\0nn.batch_norm\0nn.max_pool2d\0nn.avg_"
    "pool2d\0"
    "nn.global_max_pool2d\0nn.global_avg_pool2d\0nn.softmax\0nn.relu\0tanh\0sigmoid\0clip\0abs\0"
    "exp\0log\0sqrt\0nn.leaky_relu\0";
static const char activations[] = "_relu\0_tanh\0_sigmoid\0_clip\0_swish\0";
enum {
    SWISH = 4
}; /* those before it are in the order of the operators from MG_DNNL_RELU on */

/* Moves past `part` if the rest of the name begins with it. Returns whether it does. */
static bool take(mg_text *name, const char *part)
{
    uint32_t length = 0U;

    while (part[length] != '\0') {
        if (length == name->length || name->at[length] != part[length]) {
            return false;
        }
        length++;
    }
    name->at += length;
    name->length -= length;
    return true;
}

/* Matches "dnnl.conv2d" or "dnnl.dense", followed by an optional "_bias", an optional "_sum" and an
 * optional activation. */
static bool find_composite(mg_text name, mg_dnnl_node *node)
{
    uint32_t place;

    if (take(&name, "dnnl.conv2d")) {
        node->op = MG_DNNL_CONV2D;
    } else if (take(&name, "dnnl.dense")) {
        node->op = MG_DNNL_DENSE;
    } else {
        return false;
    }
    node->fused |= take(&name, "_bias") ? MG_DNNL_BIAS : 0U;
    node->fused |= take(&name, "_sum") ? MG_DNNL_SUM : 0U;
    if (name.length == 0U) {
        return true;
    }
    place = mg_text_place(&name, activations);
    node->activation = (uint8_t)(place == SWISH ? MG_DNNL_SWISH : MG_DNNL_RELU + place);
    return place != MG_TEXT_UNKNOWN;
}

bool mg_dnnl_find_operator(const mg_text *name, mg_dnnl_node *node)
{
    const uint32_t place = mg_text_place(name, operators);

    node->activation = MG_DNNL_NOTHING;
    if (place == MG_TEXT_UNKNOWN) {
        return find_composite(*name, node);
    }
    node->op = (uint8_t)place;
    return true;
}
