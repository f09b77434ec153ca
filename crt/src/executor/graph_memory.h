/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the tensors of a graph executor. */
#ifndef MICROGEN_GRAPH_MEMORY_H
#define MICROGEN_GRAPH_MEMORY_H

#include "tvm/runtime/crt/graph_executor_types.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of bytes for the tensors of all storages, or only of those that nodes write. SIZE_MAX
 * if the number is greater. */
size_t mg_graph_memory_bytes(const TVMGraphExecutor *executor, bool all);

/* Gives memory to the executor, once, and places the storages that nodes write in it. The rest is
 * for mg_graph_copy_in. Returns kTvmErrorPlatformNoMemory if it is too small. */
tvm_crt_error_t mg_graph_give(TVMGraphExecutor *executor, uint8_t *memory, size_t nbytes);

/* Copies the data of the input `entry` to memory that the executor owns. Returns
 * kTvmErrorPlatformNoMemory if the input has no such memory yet and not enough is left. */
tvm_crt_error_t mg_graph_copy_in(TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data);

/* Whether the input may use the caller's memory: no node writes to its storage, and no tensor that
 * shares the storage is larger. */
bool mg_graph_can_alias(const TVMGraphExecutor *executor, uint32_t entry);

/* Whether `data` has the alignment that all tensors in the input's storage need. */
bool mg_graph_is_aligned(const TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data);

/* Places the input, and all tensors that share its storage, at `data`. Memory that it owned remains
 * unused. */
void mg_graph_alias(TVMGraphExecutor *executor, uint32_t entry, uint8_t *data);

#ifdef __cplusplus
}
#endif

#endif
