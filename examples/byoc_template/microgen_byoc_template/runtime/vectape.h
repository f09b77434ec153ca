/* The runtime of modules of type `vectape`: it plays tapes of commands to the vector unit.
 *
 * A payload is
 *
 *   string symbol                       the name of the module's only function
 *   u64 inputs, outputs, temporaries    the numbers of values, whose ids count in this order
 *   u64 slot                            bytes of the workspace for each temporary
 *   u64 count
 *   count x { u8 opcode, left, right, out; u32 elements }
 *
 * Opcodes are 1 add, 2 multiply, 3 relu. For relu, left and right are the same value. Values are
 * float32. */
#ifndef VECTAPE_H
#define VECTAPE_H

#include "modules/module_blob.h"

tvm_crt_error_t vectape_load(mg_stream *payload, mg_pool *pool, void **module);

tvm_crt_error_t vectape_find(const void *module, mg_text symbol, uint32_t *function);

/* kTvmErrorFunctionCallInvalidArg: a tape has no constants. */
tvm_crt_error_t vectape_init(void *module, uint32_t function, uint32_t index, mg_text name,
                             const DLTensor *constant);

tvm_crt_error_t vectape_run(void *module, uint32_t function, const mg_module_call *call);

#endif
