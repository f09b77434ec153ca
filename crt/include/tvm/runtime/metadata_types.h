/* SPDX-License-Identifier: Apache-2.0 */
/* The types of TVM v0.14 for the description of a model that tvmgen_<module>_get_c_metadata
 * returns. */
#ifndef TVM_RUNTIME_METADATA_TYPES_H_
#define TVM_RUNTIME_METADATA_TYPES_H_

#include "tvm/runtime/c_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

struct TVMTensorInfo {
    const char *name;     /* as in the model */
    const int64_t *shape; /* [num_shape] */
    int64_t num_shape;
    DLDataType dtype;
};

struct TVMConstantInfo {
    const char *name_hint;
    int64_t byte_offset; /* in its pool */
    int64_t data_len;    /* bytes of data_bytes */
    const void *data_bytes;
};

/* Inputs, outputs and pools are in the order of the arguments of the model's main function. */
struct TVMMetadata {
    int64_t version; /* 1 */
    const struct TVMTensorInfo *inputs;
    int64_t num_inputs;
    const struct TVMTensorInfo *outputs;
    int64_t num_outputs;
    const struct TVMTensorInfo *workspace_pools;
    int64_t num_workspace_pools;
    const struct TVMConstantInfo *constant_pools;
    int64_t num_constant_pools;
    const char *mod_name;
};

#ifdef __cplusplus
}
#endif

#endif
