/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a graph in TVM's JSON format, function by function, without a heap. The functions that TVM
 * v0.14 has keep their names and arguments, and return an error code where TVM aborts or returns
 * nothing: 0, a code of error_codes.h, or what an operator returned.
 *
 * All memory comes from one pool, of the caller (CreateIn) or of TVMPlatformMemoryAllocate
 * (Create). The graph's text, the parameters and the module must outlive the executor: names and
 * weights stay where they are. Executors share nothing. README.md of crt says how a project uses
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

/* Makes an executor in `pool`, best aligned to TVM_GRAPH_EXECUTOR_ALIGNMENT: what is before its
 * first such byte is lost. `sym_json` are `num_json` bytes. All tensors are on `device`. Errors:
 * kTvmErrorExecutorGraphMalformed, -GraphUnsupported, kTvmErrorGeneratedInvalidStorageId,
 * kTvmErrorFunctionNameNotFound, kTvmErrorPlatformNoMemory. Not in TVM. */
int TVMGraphExecutor_CreateIn(uint8_t *pool, size_t num_pool, const char *sym_json, size_t num_json,
                              const TVMModule *module, DLDevice device,
                              TVMGraphExecutor **executor);

/* Makes an executor in memory of TVMPlatformMemoryAllocate; `sym_json` ends with a NUL. Takes
 * memory for copies of all inputs, parameters too, or where that is not there for none. The same
 * errors, and kTvmErrorExecutorModuleBadContext. */
int TVMGraphExecutor_Create(const char *sym_json, TVMModuleHandle module_handle,
                            const DLDevice *devices, TVMGraphExecutor **executor);

/* Frees what Create allocated, and makes `*executor` NULL. */
int TVMGraphExecutor_Release(TVMGraphExecutor **executor);

/* The index among the inputs (arg_nodes), parameters too; -1 if none has that name. */
int TVMGraphExecutor_GetInputIndex(TVMGraphExecutor *executor, const char *name);

int TVMGraphExecutor_GetNumInputs(TVMGraphExecutor *executor);

/* Has the graph read the input from where `data_in` has it: as TVM's C runtime, this copies
 * nothing, so the data must stay until the last run that uses it. It must be compact and aligned to
 * its elements. kTvmErrorExecutorModuleNoSuchInput, kTvmErrorFunctionCallInvalidArg (another number
 * of elements, or alignment), kTvmErrorFunctionCallWrongArgType (another dtype),
 * kTvmErrorGeneratedInvalidStorageId if a node writes to the input's storage: CopyInput it is. */
int TVMGraphExecutor_SetInput(TVMGraphExecutor *executor, const char *name, DLTensor *data_in);

/* SetInput by index, TVM's name for it in C++. */
int TVMGraphExecutor_SetInputZeroCopy(TVMGraphExecutor *executor, int32_t index, DLTensor *data_in);

/* Copies the input into the pool, at once; its memory is taken there the first time. SetInput's
 * errors, but for alignment and storage, and kTvmErrorPlatformNoMemory. Not in TVM. */
int TVMGraphExecutor_CopyInput(TVMGraphExecutor *executor, int32_t index, const DLTensor *data_in);

/* The tensor of an input: its data is NULL until it is set. kTvmErrorExecutorModuleNoSuchInput. Not
 * in TVM. */
int TVMGraphExecutor_GetInput(TVMGraphExecutor *executor, int32_t index, const DLTensor **tensor);

int TVMGraphExecutor_GetNumOutputs(TVMGraphExecutor *executor);

/* Copies an output to the memory of `out`, which must have the output's shape and dtype.
 * kTvmErrorFunctionCallInvalidArg, kTvmErrorFunctionCallWrongArgType. */
int TVMGraphExecutor_GetOutput(TVMGraphExecutor *executor, const int32_t index, DLTensor *out);

/* The tensor of an output, where the graph has it. kTvmErrorFunctionCallInvalidArg. Not in TVM. */
int TVMGraphExecutor_GetOutputZeroCopy(TVMGraphExecutor *executor, int32_t index,
                                       const DLTensor **tensor);

/* Sets inputs from a parameter file (TVM's save_param_dict): in place where the data is aligned for
 * its elements, otherwise copied into the pool. All of them are set, or after an error some.
 * kTvmErrorExecutorParamsMalformed, and CopyInput's and SetInput's errors. */
int TVMGraphExecutor_LoadParams(TVMGraphExecutor *executor, const char *param_blob,
                                const uint32_t param_size);

/* Runs all nodes. kTvmErrorExecutorInputNotSet, or what the operator that failed returned. */
int TVMGraphExecutor_Run(TVMGraphExecutor *executor);

/* Runs one node: Run is this for 0 to GetNumNodes - 1. Not in TVM. */
int TVMGraphExecutor_RunNode(TVMGraphExecutor *executor, uint32_t node);

/* Runs all nodes and stores the seconds of each, by TVMPlatformTimerStart and -Stop: 0 for those
 * that call nothing. `seconds` has `count` elements, at least GetNumNodes, else
 * kTvmErrorBufferTooSmall. Not in TVM. */
int TVMGraphExecutor_RunDebug(TVMGraphExecutor *executor, double *seconds, uint32_t count);

uint32_t TVMGraphExecutor_GetNumNodes(const TVMGraphExecutor *executor);

/* Stores the node's name with a NUL. kTvmErrorBufferTooSmall, kTvmErrorFunctionCallInvalidArg. */
int TVMGraphExecutor_GetNodeName(const TVMGraphExecutor *executor, uint32_t node, char *name,
                                 size_t num_name);

/* The tensor of a node's output. kTvmErrorFunctionCallInvalidArg. Not in TVM. */
int TVMGraphExecutor_GetNodeOutput(const TVMGraphExecutor *executor, uint32_t node, uint32_t index,
                                   const DLTensor **tensor);

/* Bytes of the pool in use: tables, and all tensors that have memory. Not in TVM. */
size_t TVMGraphExecutor_GetPoolBytesUsed(const TVMGraphExecutor *executor);

#ifdef __cplusplus
}
#endif

#endif
