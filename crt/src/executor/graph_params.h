/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a graph executor. */
#ifndef MICROGEN_GRAPH_PARAMS_H
#define MICROGEN_GRAPH_PARAMS_H

#include "tvm/runtime/crt/graph_executor_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Implements TVMGraphExecutor_LoadParams. */
tvm_crt_error_t mg_graph_load_params(TVMGraphExecutor *executor, const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
