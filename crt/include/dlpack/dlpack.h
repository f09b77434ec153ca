/* SPDX-License-Identifier: Apache-2.0 */
/* DLPack's tensor: only the names and the layout that TVM's C interfaces use. */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    kDLCPU = 1,
    kDLExtDev = 12 /* for devices that have no number of their own */
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
    kDLBfloat = 4
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

#ifdef __cplusplus
}
#endif

#endif
