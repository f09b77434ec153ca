/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a graph in TVM's JSON format, function by function, without a heap. Functions that exist in
 * TVM v0.14 have the same names and arguments here. All of them return a status, even those of TVM
 * that abort or return nothing: 0, a code of error_codes.h, or the code that an operator returned.
 *
 * All memory comes from one pool, which the caller provides (CreateIn) or TVMPlatformMemoryAllocate
 * (Create). The graph's text, the parameters and the module must outlive the executor, because it
 * does not copy names and weights. Executors share nothing. crt's README.md says how a project uses
 * this. */
#ifndef TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_
#define TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"
#include "tvm/runtime/crt/graph_executor_types.h"
#include "tvm/runtime/crt/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an executor in `pool`. Bytes before the first address that is aligned to
 * TVM_GRAPH_EXECUTOR_ALIGNMENT are not used. `sym_json` has `num_json` bytes. All tensors are on
 * `device`. Errors: kTvmErrorExecutorGraphMalformed, kTvmErrorExecutorGraphUnsupported,
 * kTvmErrorGeneratedInvalidStorageId, kTvmErrorFunctionNameNotFound, kTvmErrorPlatformNoMemory. Not
 * in TVM. */
int TVMGraphExecutor_CreateIn(uint8_t *pool, size_t num_pool, const char *sym_json, size_t num_json,
                              const TVMModule *module, DLDevice device,
                              TVMGraphExecutor **executor);

/* Makes an executor in memory from TVMPlatformMemoryAllocate. `sym_json` ends with a NUL. Allocates
 * memory for copies of all inputs, including parameters, or for none of them if there is not
 * enough. Errors: those of CreateIn, and kTvmErrorExecutorModuleBadContext. */
int TVMGraphExecutor_Create(const char *sym_json, TVMModuleHandle module_handle,
                            const DLDevice *devices, TVMGraphExecutor **executor);

/* Frees the memory that Create allocated, and sets `*executor` to NULL. */
int TVMGraphExecutor_Release(TVMGraphExecutor **executor);

/* The index of that name among the inputs (arg_nodes), including parameters; -1 if there is
 * none. */
int TVMGraphExecutor_GetInputIndex(TVMGraphExecutor *executor, const char *name);

int TVMGraphExecutor_GetNumInputs(TVMGraphExecutor *executor);

/* Makes the graph read the input from the data of `data_in`. Like TVM's C runtime, this copies
 * nothing, so the data must remain valid until the last run that uses it. The data must be compact
 * and aligned to its elements. Errors: kTvmErrorExecutorModuleNoSuchInput,
 * kTvmErrorFunctionCallInvalidArg (wrong number of elements or alignment),
 * kTvmErrorFunctionCallWrongArgType (wrong dtype), kTvmErrorGeneratedInvalidStorageId if a node
 * writes to the input's storage; use CopyInput then. */
int TVMGraphExecutor_SetInput(TVMGraphExecutor *executor, const char *name, DLTensor *data_in);

/* SetInput by index. The name is that of TVM's C++ executor. */
int TVMGraphExecutor_SetInputZeroCopy(TVMGraphExecutor *executor, int32_t index, DLTensor *data_in);

/* Copies the input into the pool immediately. The first call allocates memory for it there. Errors:
 * those of SetInput except for alignment and storage, and kTvmErrorPlatformNoMemory. Not in TVM. */
int TVMGraphExecutor_CopyInput(TVMGraphExecutor *executor, int32_t index, const DLTensor *data_in);

/* Stores the tensor of an input. Its data is NULL until the input is set. Error:
 * kTvmErrorExecutorModuleNoSuchInput. Not in TVM. */
int TVMGraphExecutor_GetInput(TVMGraphExecutor *executor, int32_t index, const DLTensor **tensor);

int TVMGraphExecutor_GetNumOutputs(TVMGraphExecutor *executor);

/* Copies an output to the memory of `out`, which must have the output's shape and dtype. Errors:
 * kTvmErrorFunctionCallInvalidArg, kTvmErrorFunctionCallWrongArgType. */
int TVMGraphExecutor_GetOutput(TVMGraphExecutor *executor, const int32_t index, DLTensor *out);

/* Stores the tensor of an output, whose data is in the graph's memory. Error:
 * kTvmErrorFunctionCallInvalidArg. Not in TVM. */
int TVMGraphExecutor_GetOutputZeroCopy(TVMGraphExecutor *executor, int32_t index,
                                       const DLTensor **tensor);

/* Sets inputs from a parameter file (TVM's save_param_dict). Arrays whose data is aligned to its
 * elements are used in place; the others are copied into the pool. After an error only some inputs
 * may be set. Errors: kTvmErrorExecutorParamsMalformed, and those of CopyInput and SetInput. */
int TVMGraphExecutor_LoadParams(TVMGraphExecutor *executor, const char *param_blob,
                                const uint32_t param_size);

/* Runs all nodes. Returns 0, kTvmErrorExecutorInputNotSet, or the code of the operator that
 * failed. */
int TVMGraphExecutor_Run(TVMGraphExecutor *executor);

/* Runs one node. Run calls this for 0 to GetNumNodes - 1. Not in TVM. */
int TVMGraphExecutor_RunNode(TVMGraphExecutor *executor, uint32_t node);

/* Runs all nodes and stores the seconds of each, measured by TVMPlatformTimerStart and
 * TVMPlatformTimerStop; 0 for nodes that call nothing. `seconds` has `count` elements. Returns
 * kTvmErrorBufferTooSmall if these are fewer than GetNumNodes. Not in TVM. */
int TVMGraphExecutor_RunDebug(TVMGraphExecutor *executor, double *seconds, uint32_t count);

uint32_t TVMGraphExecutor_GetNumNodes(const TVMGraphExecutor *executor);

/* Stores the node's name with a NUL. Errors: kTvmErrorBufferTooSmall,
 * kTvmErrorFunctionCallInvalidArg. */
int TVMGraphExecutor_GetNodeName(const TVMGraphExecutor *executor, uint32_t node, char *name,
                                 size_t num_name);

/* Stores the tensor of a node's output. Error: kTvmErrorFunctionCallInvalidArg. Not in TVM. */
int TVMGraphExecutor_GetNodeOutput(const TVMGraphExecutor *executor, uint32_t node, uint32_t index,
                                   const DLTensor **tensor);

/* The number of bytes of the pool in use, for tables and for all tensors that have memory. Not in
 * TVM. */
size_t TVMGraphExecutor_GetPoolBytesUsed(const TVMGraphExecutor *executor);

#ifdef __cplusplus
}
#endif

#endif
