/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of the `dnnl_json` runtime, as tables in a pool. */
#ifndef MICROGEN_DNNL_GRAPH_H
#define MICROGEN_DNNL_GRAPH_H

#include "modules/module_pool.h"
#include "json/json_text.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More is not supported. */
#define MG_DNNL_MAX_DIMS 6U
#define MG_DNNL_MAX_NODES 1024U
#define MG_DNNL_MAX_INPUTS 5U /* of a node */
#define MG_DNNL_MAX_HEADS 1024U

/* Of what lies in the workspace. */
#define MG_DNNL_ALIGNMENT 16U

/* Operators in the order of their names in dnnl_names.c. */
typedef enum {
    MG_DNNL_CONV2D,
    MG_DNNL_DENSE,
    MG_DNNL_BATCH_MATMUL,
    MG_DNNL_ADD,
    MG_DNNL_MULTIPLY,
    MG_DNNL_BATCH_NORM,
    MG_DNNL_MAX_POOL2D,
    MG_DNNL_AVG_POOL2D,
    MG_DNNL_GLOBAL_MAX_POOL2D,
    MG_DNNL_GLOBAL_AVG_POOL2D,
    MG_DNNL_SOFTMAX,
    MG_DNNL_RELU, /* from here on of one value */
    MG_DNNL_TANH,
    MG_DNNL_SIGMOID,
    MG_DNNL_CLIP,
    MG_DNNL_ABS,
    MG_DNNL_EXP,
    MG_DNNL_LOG,
    MG_DNNL_SQRT,
    MG_DNNL_LEAKY_RELU,
    MG_DNNL_SWISH,  /* an activation only */
    MG_DNNL_NOTHING /* an input or a constant; no activation */
} mg_dnnl_operator;

/* Where the output of a node is. */
typedef enum {
    MG_DNNL_ARGUMENT,
    MG_DNNL_CONSTANT,
    MG_DNNL_WORKSPACE
} mg_dnnl_storage;

/* Bits of `fused`. */
#define MG_DNNL_BIAS 1U
#define MG_DNNL_SUM 2U

/* Bits of `flags`. */
#define MG_DNNL_INCLUDES_PADDING 1U /* an average */
#define MG_DNNL_IS_CENTERED 2U      /* a normalisation, which adds beta */
#define MG_DNNL_IS_SCALED 4U        /* and multiplies by gamma */
#define MG_DNNL_TRANSPOSES_A 8U     /* a product of matrices */
#define MG_DNNL_TRANSPOSES_B 16U

/* Layouts have two bits per letter, in the order NCHW or OIHW: the axis that it stands for.
 * microgen/codegens/dnnl/runtime.py knows the structs below. */
typedef struct {
    int32_t dims[MG_DNNL_MAX_DIMS]; /* of output 0, each at least 1 */
    float real[2];                  /* a_min and a_max; alpha; epsilon */
    uint32_t place;     /* number of the argument or constant; bytes from the workspace's start */
    uint16_t stride[2]; /* of rows and columns, as the next three */
    uint16_t dilation[2];
    uint16_t padding[2]; /* before */
    uint16_t pool[2];
    uint16_t first_input; /* in the graph's `inputs` */
    uint16_t last_use;    /* the last node that reads it; itself if none does */
    uint8_t op;           /* mg_dnnl_operator */
    uint8_t activation;   /* fused: the same */
    uint8_t fused;
    uint8_t num_inputs;
    uint8_t num_outputs;
    uint8_t ndim;
    uint8_t storage; /* mg_dnnl_storage */
    uint8_t axis;
    uint8_t layout;
    uint8_t kernel_layout;
    uint8_t out_layout;
    uint8_t flags;
} mg_dnnl_node;

typedef struct {
    mg_text name;      /* bytes of the payload: a backslash means itself */
    const float *data; /* NULL until it is given */
    uint32_t node;
} mg_dnnl_constant;

typedef struct {
    mg_text symbol; /* the same */
    mg_dnnl_node *nodes;
    uint16_t *inputs; /* nodes */
    uint16_t *heads;  /* nodes */
    mg_dnnl_constant *constants;
    uint32_t num_nodes;
    uint32_t num_inputs; /* of all nodes */
    uint32_t num_heads;
    uint32_t num_constants;
    uint32_t num_args; /* nodes that are the function's inputs */
    uint32_t workspace_bytes;
} mg_dnnl_graph;

/* What mg_dnnl_read_graph takes of a pool, for so many nodes, inputs of all of them, heads and
 * constants: a constant expression. */
#define MG_DNNL_POOL_BYTES(nodes, inputs, heads, constants)                                        \
    (MG_POOL_ALIGNED(sizeof(mg_dnnl_graph)) + MG_POOL_ALIGNED((nodes) * sizeof(mg_dnnl_node)) +    \
     MG_POOL_ALIGNED((inputs) * sizeof(uint16_t)) + MG_POOL_ALIGNED((heads) * sizeof(uint16_t)) +  \
     MG_POOL_ALIGNED((constants) * sizeof(mg_dnnl_constant)))

/* The node that `node` has as input k. */
const mg_dnnl_node *mg_dnnl_input(const mg_dnnl_graph *graph, const mg_dnnl_node *node, uint32_t k);

/* The product of dims first to last - 1. */
int32_t mg_dnnl_product(const mg_dnnl_node *node, uint32_t first, uint32_t last);

/* The elements of output 0: below 2^29. */
int32_t mg_dnnl_elements(const mg_dnnl_node *node);

bool mg_dnnl_same_shape(const mg_dnnl_node *a, const mg_dnnl_node *b);

#ifdef __cplusplus
}
#endif

#endif
