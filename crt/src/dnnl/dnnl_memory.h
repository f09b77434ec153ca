/* SPDX-License-Identifier: Apache-2.0 */
/* Places the intermediates of a `dnnl_json` graph in the workspace. */
#ifndef MICROGEN_DNNL_MEMORY_H
#define MICROGEN_DNNL_MEMORY_H

#include "dnnl/dnnl_graph.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Assigns a place to each node whose storage is the workspace, in the order of the nodes. It is the
 * lowest multiple of MG_DNNL_ALIGNMENT at which the node overlaps no value that is still needed.
 * Also stores the size of the workspace. Returns kTvmErrorPlatformNoMemory for 2^31 bytes or more.
 *
 * microgen/tvm/codegens/dnnl/runtime.py applies the same rule. */
tvm_crt_error_t mg_dnnl_lay_out(mg_dnnl_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
