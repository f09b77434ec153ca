/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph executor consists of, and how much memory that takes. */
#ifndef TVM_RUNTIME_CRT_GRAPH_EXECUTOR_TYPES_H_
#define TVM_RUNTIME_CRT_GRAPH_EXECUTOR_TYPES_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/module.h"

/* Every table and every tensor in a pool begins at a multiple of this. */
#define TVM_GRAPH_EXECUTOR_ALIGNMENT 16U

/* Private: here for TVM_GRAPH_EXECUTOR_TABLE_BYTES only. */
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
    uint8_t *data; /* NULL: no memory yet */
    uint32_t bytes;
    uint8_t alignment;
    uint8_t is_written; /* by a node */
    uint8_t is_input;
    uint8_t is_owned; /* data is memory of the pool */
} TVMGraphExecutorStorage;

/* How much there is of everything in a graph. */
typedef struct TVMGraphExecutorCounts {
    uint32_t nodes;
    uint32_t entries;  /* outputs of all nodes: the last of node_row_ptr */
    uint32_t storages; /* the greatest storage id and one more */
    uint32_t dims;     /* of the shapes of all entries */
    uint32_t args;     /* inputs and outputs of all nodes that are operators */
    uint32_t max_args; /* of one of them */
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
    uint8_t *free;                     /* what is left of the pool */
    size_t num_free;
    size_t num_used;
    void *tables_block; /* of TVMPlatformMemoryAllocate, else NULL */
    void *storage_block;
} TVMGraphExecutor;

#define TVM_GRAPH_EXECUTOR_ALIGNED(nbytes)                                                         \
    (((size_t)(nbytes) + (TVM_GRAPH_EXECUTOR_ALIGNMENT - 1U)) / TVM_GRAPH_EXECUTOR_ALIGNMENT *     \
     TVM_GRAPH_EXECUTOR_ALIGNMENT)
#define TVM_GRAPH_EXECUTOR_TABLE(count, type)                                                      \
    TVM_GRAPH_EXECUTOR_ALIGNED((size_t)(count) * sizeof(type))

/* What the tables of a graph take of a pool, from TVMGraphExecutorCounts' numbers in their order: a
 * constant expression. The rest of a pool is for tensors: TVM_GRAPH_EXECUTOR_ALIGNED of the
 * greatest entry of each storage id that a node other than "__nop" writes, and of each that an
 * input is copied to. */
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
