/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a graph executor, and their size. */
#ifndef TVM_RUNTIME_CRT_GRAPH_EXECUTOR_TYPES_H_
#define TVM_RUNTIME_CRT_GRAPH_EXECUTOR_TYPES_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/module.h"

/* Every table and every tensor in a pool begins at a multiple of this. */
#define TVM_GRAPH_EXECUTOR_ALIGNMENT 16U

/* Private. It is only here for TVM_GRAPH_EXECUTOR_TABLE_BYTES. */
typedef struct TVMGraphExecutorNode {
    const char *name; /* in the graph's text, with its escapes */
    uint32_t name_length;
    TVMValue *args; /* inputs, then outputs */
    uint32_t num_inputs;
    uint32_t num_outputs;
    uint32_t first_entry; /* of its outputs */
    tvm_function_index_t function;
    uint8_t kind;
} TVMGraphExecutorNode;

typedef struct TVMGraphExecutorStorage {
    uint8_t *data; /* NULL if it has no memory yet */
    uint32_t bytes;
    uint8_t alignment;
    uint8_t is_written; /* by a node */
    uint8_t is_input;
    uint8_t is_owned; /* data is in the pool */
} TVMGraphExecutorStorage;

/* The number of items of each kind in a graph. */
typedef struct TVMGraphExecutorCounts {
    uint32_t nodes;
    uint32_t entries;  /* outputs of all nodes: the last of node_row_ptr */
    uint32_t storages; /* the greatest storage id plus one */
    uint32_t dims;     /* of the shapes of all entries */
    uint32_t args;     /* inputs and outputs of all nodes that are operators */
    uint32_t max_args; /* greatest number of args of one operator */
    uint32_t inputs;   /* arg_nodes */
    uint32_t outputs;  /* heads */
} TVMGraphExecutorCounts;

typedef struct TVMGraphExecutor {
    TVMGraphExecutorCounts counts;
    const TVMModule *module;
    TVMGraphExecutorNode *nodes;       /* [nodes] */
    DLTensor *tensors;                 /* [entries] */
    uint32_t *storage_ids;             /* [entries] */
    TVMGraphExecutorStorage *storages; /* [storages] */
    int64_t *dims;                     /* [dims] */
    TVMValue *args;                    /* [args] */
    int *type_codes;                   /* [max_args] */
    uint32_t *inputs;                  /* [inputs] nodes */
    uint32_t *outputs;                 /* [outputs] entries */
    uint32_t num_unset;                /* inputs without data */
    uint8_t *free;                     /* the unused part of the pool */
    size_t num_free;
    size_t num_used;
    void *tables_block; /* from TVMPlatformMemoryAllocate, or NULL */
    void *storage_block;
} TVMGraphExecutor;

#define TVM_GRAPH_EXECUTOR_ALIGNED(nbytes)                                                         \
    (((size_t)(nbytes) + (TVM_GRAPH_EXECUTOR_ALIGNMENT - 1U)) / TVM_GRAPH_EXECUTOR_ALIGNMENT *     \
     TVM_GRAPH_EXECUTOR_ALIGNMENT)
#define TVM_GRAPH_EXECUTOR_TABLE(count, type)                                                      \
    TVM_GRAPH_EXECUTOR_ALIGNED((size_t)(count) * sizeof(type))

/* The bytes of a pool that the tables of a graph take, as a constant expression. The arguments are
 * the numbers of TVMGraphExecutorCounts, in the same order. The rest of a pool is for tensors. It
 * needs TVM_GRAPH_EXECUTOR_ALIGNED of the bytes of the largest entry for each storage id that a
 * node other than "__nop" writes, and for each one that an input is copied to. */
#define TVM_GRAPH_EXECUTOR_TABLE_BYTES(nodes, entries, storages, dims, args, max_args, inputs,     \
                                       outputs)                                                    \
    (TVM_GRAPH_EXECUTOR_TABLE(1, TVMGraphExecutor) +                                               \
     TVM_GRAPH_EXECUTOR_TABLE(nodes, TVMGraphExecutorNode) +                                       \
     TVM_GRAPH_EXECUTOR_TABLE(entries, DLTensor) + TVM_GRAPH_EXECUTOR_TABLE(entries, uint32_t) +   \
     TVM_GRAPH_EXECUTOR_TABLE(storages, TVMGraphExecutorStorage) +                                 \
     TVM_GRAPH_EXECUTOR_TABLE(dims, int64_t) + TVM_GRAPH_EXECUTOR_TABLE(args, TVMValue) +          \
     TVM_GRAPH_EXECUTOR_TABLE(max_args, int) + TVM_GRAPH_EXECUTOR_TABLE(inputs, uint32_t) +        \
     TVM_GRAPH_EXECUTOR_TABLE(outputs, uint32_t))

#endif
