/* SPDX-License-Identifier: Apache-2.0 */
/* Where intermediates of a `dnnl_json` graph lie in the workspace. */
#ifndef MICROGEN_DNNL_MEMORY_H
#define MICROGEN_DNNL_MEMORY_H

#include "dnnl/dnnl_graph.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives each node whose storage is the workspace a place, in the order of the nodes: the lowest
 * that what is still needed leaves free, a multiple of MG_DNNL_ALIGNMENT; and stores how much there
 * is to be. kTvmErrorPlatformNoMemory from 2^31 bytes on.
 *
 * microgen/codegens/dnnl/runtime.py has the same rule. */
tvm_crt_error_t mg_dnnl_lay_out(mg_dnnl_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
