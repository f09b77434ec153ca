/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tensors of a graph executor have their data. */
#ifndef MICROGEN_GRAPH_MEMORY_H
#define MICROGEN_GRAPH_MEMORY_H

#include "tvm/runtime/crt/graph_executor_types.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes for the tensors of all storages, or of those that nodes write; SIZE_MAX for more. */
size_t mg_graph_memory_bytes(const TVMGraphExecutor *executor, bool all);

/* Takes over memory, once, and gives what nodes write a place there. The rest is for
 * mg_graph_copy_in. kTvmErrorPlatformNoMemory. */
tvm_crt_error_t mg_graph_give(TVMGraphExecutor *executor, uint8_t *memory, size_t nbytes);

/* Copies the data of an input, which is an entry, to a place that the executor owns.
 * kTvmErrorPlatformNoMemory if it has none yet and there is no more. */
tvm_crt_error_t mg_graph_copy_in(TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data);

/* Whether the input may have its data in memory of others: no node writes there, and no tensor that
 * shares it is larger. */
bool mg_graph_can_alias(const TVMGraphExecutor *executor, uint32_t entry);

/* Whether `data` is aligned as the tensors that share the input's storage need it. */
bool mg_graph_is_aligned(const TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data);

/* Has the input, and what shares its storage, be at `data`. What it owned stays unused. */
void mg_graph_alias(TVMGraphExecutor *executor, uint32_t entry, uint8_t *data);

#ifdef __cplusplus
}
#endif

#endif
