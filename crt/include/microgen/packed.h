/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the arguments of a packed function are the tensors that it takes. */
#ifndef MICROGEN_PACKED_H
#define MICROGEN_PACKED_H

#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>
#include <stdint.h>

/* `ndim` of a tensor of any shape; shape[0] is then the number of its elements. */
#define MG_ANY_SHAPE (-1)

/* A tensor that a function takes. */
typedef struct {
    const int64_t *shape; /* [ndim] */
    int32_t ndim;
    DLDataType dtype;
} mg_tensor_spec;

/* The initialiser of a DLTensor in the CPU's memory with contiguous elements. Its pointers are not
 * const, because packed functions take no const, but nothing is written through them. */
#define MG_TENSOR(address, dimensions, lengths, type_code, type_bits)                              \
    {                                                                                              \
        .data = (void *)(address), .device = {kDLCPU, 0}, .ndim = (dimensions),                    \
        .dtype = {(type_code), (type_bits), 1U}, .shape = (int64_t *)(lengths), .strides = NULL,   \
        .byte_offset = 0U                                                                          \
    }

/* Whether the tensor has the spec's shape. */
static inline int mg_packed_has_shape(const DLTensor *tensor, const mg_tensor_spec *spec)
{
    int64_t elements = 1;
    int32_t i;

    if (tensor->ndim < 0 || (tensor->ndim > 0 && tensor->shape == NULL)) {
        return 0;
    }
    if (spec->ndim == MG_ANY_SHAPE) {
        for (i = 0; i < tensor->ndim; i++) {
            /* The product fits int64, because both factors are at most a tensor's size, which has
             * 31 bits. */
            if (tensor->shape[i] < 1 || tensor->shape[i] > spec->shape[0] ||
                elements > spec->shape[0]) {
                return 0;
            }
            elements *= tensor->shape[i];
        }
        return elements == spec->shape[0];
    }
    if (tensor->ndim != spec->ndim) {
        return 0;
    }
    for (i = 0; i < spec->ndim; i++) {
        if (tensor->shape[i] != spec->shape[i]) {
            return 0;
        }
    }
    return 1;
}

/* Whether the elements are contiguous, with the last axis innermost. */
static inline int mg_packed_is_compact(const DLTensor *tensor)
{
    int64_t step = 1;
    int32_t i;

    if (tensor->strides == NULL) {
        return 1;
    }
    for (i = tensor->ndim - 1; i >= 0; i--) {
        if (tensor->shape[i] != 1 && tensor->strides[i] != step) {
            return 0;
        }
        step *= tensor->shape[i];
    }
    return 1;
}

/* Stores the address of the tensor's first element and returns 0. Returns
 * kTvmErrorFunctionCallWrongArgType if the value is not a tensor. Returns
 * kTvmErrorFunctionCallInvalidArg if the tensor is NULL or not compact, if it has no data or its
 * data is not aligned to its elements, or if its element type or shape differs from the spec's. */
static inline int32_t mg_packed_tensor(const TVMValue *value, int type_code,
                                       const mg_tensor_spec *spec, void **data)
{
    const DLTensor *tensor;
    uintptr_t address;

    if (type_code != kTVMDLTensorHandle && type_code != kTVMNDArrayHandle &&
        type_code != kTVMOpaqueHandle) {
        return kTvmErrorFunctionCallWrongArgType;
    }
    tensor = (const DLTensor *)value->v_handle;
    if (tensor == NULL || tensor->data == NULL || tensor->dtype.code != spec->dtype.code ||
        tensor->dtype.bits != spec->dtype.bits || tensor->dtype.lanes != spec->dtype.lanes ||
        !mg_packed_has_shape(tensor, spec) || !mg_packed_is_compact(tensor)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    address = (uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset;
    if (address % (spec->dtype.bits < 8U ? 1U : spec->dtype.bits / 8U) != 0U) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    *data = (uint8_t *)tensor->data + (size_t)tensor->byte_offset;
    return 0;
}

/* One copy in each file that includes this header, because the function is long and every packed
 * function begins by calling it. */
#if defined(__GNUC__)
#define MG_PACKED_ONCE static __attribute__((noinline, unused))
#else
#define MG_PACKED_ONCE static inline
#endif

/* Stores the address of the first element of each of `count` tensors and returns 0. Returns
 * kTvmErrorFunctionCallNumArguments if the number of arguments differs,
 * kTvmErrorFunctionCallInvalidArg if `args` or `type_codes` is NULL, or what mg_packed_tensor
 * returns for the first bad tensor. */
MG_PACKED_ONCE int32_t mg_packed_tensors(const TVMValue *args, const int *type_codes, int num_args,
                                         const mg_tensor_spec *specs, int count, void **data)
{
    int32_t status = 0;
    int i;

    if (num_args != count) {
        return kTvmErrorFunctionCallNumArguments;
    }
    if (args == NULL || type_codes == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    for (i = 0; i < count && status == 0; i++) {
        status = mg_packed_tensor(&args[i], type_codes[i], &specs[i], &data[i]);
    }
    return status;
}

#endif
