/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/platform.h"

TVM_WEAK tvm_crt_error_t TVMPlatformBeforeMeasurement(void)
{
    return kTvmErrorNoError;
}

TVM_WEAK tvm_crt_error_t TVMPlatformAfterMeasurement(void)
{
    return kTvmErrorNoError;
}

TVM_WEAK tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t *buffer, size_t num_bytes)
{
    (void)buffer;
    (void)num_bytes;
    return kTvmErrorFunctionCallNotImplemented;
}
