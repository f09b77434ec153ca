/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/module.h"

tvm_crt_error_t TVMInitializeRuntime(void)
{
    TVMModule_FreeAll();
    return kTvmErrorNoError;
}
