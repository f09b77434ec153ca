/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of the `dnnl_json` runtime in the form of tables in a pool. */
#ifndef MICROGEN_DNNL_GRAPH_H
#define MICROGEN_DNNL_GRAPH_H

#include "modules/module_pool.h"
#include "json/json_text.h"

#include <stdbool.h>

/* Larger graphs are not supported. */
#define MG_DNNL_MAX_DIMS 6U
#define MG_DNNL_MAX_NODES 1024U
#define MG_DNNL_MAX_INPUTS 5U /* of a node */
#define MG_DNNL_MAX_HEADS 1024U

/* The alignment of tensors in the workspace. */
#define MG_DNNL_ALIGNMENT 16U

/* Operators in the order of their names in dnnl_reader.c. */
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
    MG_DNNL_RELU, /* from here on, functions of one value */
    MG_DNNL_TANH,
    MG_DNNL_SIGMOID,
    MG_DNNL_CLIP,
    MG_DNNL_ABS,
    MG_DNNL_EXP,
    MG_DNNL_LOG,
    MG_DNNL_SQRT,
    MG_DNNL_LEAKY_RELU,
    MG_DNNL_SWISH,  /* only as an activation */
    MG_DNNL_NOTHING /* an input or a constant; no activation */
} mg_dnnl_operator;

/* The place of a node's output. */
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
#define MG_DNNL_IS_SCALED 4U        /* a normalisation, which multiplies by gamma */
#define MG_DNNL_TRANSPOSES_A 8U     /* a product of matrices */
#define MG_DNNL_TRANSPOSES_B 16U

/* A layout has two bits for each letter, in the order NCHW or OIHW: the number of the axis with
 * this letter. microgen/tvm/codegens/dnnl/runtime.py depends on the sizes of the structs below. */
typedef struct {
    int32_t dims[MG_DNNL_MAX_DIMS]; /* of output 0; each is at least 1 */
    float real[2];                  /* a_min and a_max; alpha; epsilon */
    uint32_t place; /* number of the argument or constant, or offset in the workspace in bytes */
    uint16_t stride[2]; /* of rows and columns, like the next three */
    uint16_t dilation[2];
    uint16_t padding[2]; /* before */
    uint16_t pool[2];
    uint16_t first_input; /* in the graph's `inputs` */
    uint16_t last_use;    /* the last node that reads it, or itself */
    uint8_t op;           /* mg_dnnl_operator */
    uint8_t activation;   /* fused one, the same type */
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
    mg_text name;      /* bytes of the payload; a backslash is an ordinary character */
    const float *data; /* NULL until it is set */
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

/* The bytes of a pool that mg_dnnl_read_graph takes for these numbers of nodes, inputs of all
 * nodes, heads and constants, as a constant expression. */
#define MG_DNNL_POOL_BYTES(nodes, inputs, heads, constants)                                        \
    (MG_POOL_ALIGNED(sizeof(mg_dnnl_graph)) + MG_POOL_ALIGNED((nodes) * sizeof(mg_dnnl_node)) +    \
     MG_POOL_ALIGNED((inputs) * sizeof(uint16_t)) + MG_POOL_ALIGNED((heads) * sizeof(uint16_t)) +  \
     MG_POOL_ALIGNED((constants) * sizeof(mg_dnnl_constant)))

/* The node that is input k of `node`. */
MG_EXTERN const mg_dnnl_node *mg_dnnl_input(const mg_dnnl_graph *graph, const mg_dnnl_node *node,
                                            uint32_t k);

/* The product of the sizes of axes first to last - 1. */
MG_EXTERN int32_t mg_dnnl_product(const mg_dnnl_node *node, uint32_t first, uint32_t last);

/* The number of elements of output 0, below 2^29. */
MG_EXTERN int32_t mg_dnnl_elements(const mg_dnnl_node *node);

/* The size of axis `i`, counted from the last one, of a broadcast operand; 1 if it has no such
 * axis. */
MG_EXTERN int32_t mg_dnnl_dim_from_end(const mg_dnnl_node *node, uint32_t i);

/* Whether the node is a pool with one window over the whole image. */
MG_EXTERN bool mg_dnnl_is_global(const mg_dnnl_node *node);

MG_EXTERN bool mg_dnnl_same_shape(const mg_dnnl_node *a, const mg_dnnl_node *b);

/* The positions of the letters of a layout, NCHW or OIHW. */
#define MG_DNNL_BATCH_AXIS 0U
#define MG_DNNL_CHANNELS_AXIS 1U
#define MG_DNNL_ROWS_AXIS 2U
#define MG_DNNL_COLUMNS_AXIS 3U

/* The axis that has this letter in a layout, and its size. */
MG_EXTERN uint32_t mg_dnnl_axis_of(uint8_t layout, uint32_t letter);
MG_EXTERN int32_t mg_dnnl_dim(const mg_dnnl_node *node, uint8_t layout, uint32_t letter);

#endif
