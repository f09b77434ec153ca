/* SPDX-License-Identifier: Apache-2.0 */
/* DLPack's tensor: the names, numbers and layout that TVM's C interfaces use. */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program for a microcontroller needs kDLCPU only, and kDLExtDev for a device that has no number
 * of its own. */
typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0,
    kDLUInt = 1, /* a bool has 1 bit and occupies a byte */
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5
} DLDataTypeCode;

typedef struct {
    uint8_t code; /* DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes; /* 1: a scalar */
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;       /* [ndim] */
    int64_t *strides;     /* [ndim], in elements; NULL: compact, with the last axis innermost */
    uint64_t byte_offset; /* of the first element from data */
} DLTensor;

/* A tensor with its owner. Nothing in this runtime makes or takes one. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;                             /* the owner's */
    void (*deleter)(struct DLManagedTensor *self); /* or NULL */
} DLManagedTensor;

#ifdef __cplusplus
}
#endif

#endif
