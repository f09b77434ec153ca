/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a node: {"num_inputs": "1", "strides": [["1", "1"]], ...}. */
#ifndef MICROGEN_DNNL_ATTRS_H
#define MICROGEN_DNNL_ATTRS_H

#include "tvm/runtime/crt/error_codes.h"
#include "json/json_reader.h"

#include <stdbool.h>

/* In the order of their names in dnnl_attrs.c. */
typedef enum {
    MG_DNNL_SHAPE,
    MG_DNNL_DTYPE,
    MG_DNNL_NUM_INPUTS,
    MG_DNNL_NUM_OUTPUTS,
    MG_DNNL_OUT_DTYPE,
    MG_DNNL_STRIDES,
    MG_DNNL_PADDING,
    MG_DNNL_DILATION,
    MG_DNNL_GROUPS,
    MG_DNNL_CHANNELS,
    MG_DNNL_KERNEL_SIZE,
    MG_DNNL_DATA_LAYOUT,
    MG_DNNL_KERNEL_LAYOUT,
    MG_DNNL_OUT_LAYOUT,
    MG_DNNL_LAYOUT,
    MG_DNNL_POOL_SIZE,
    MG_DNNL_CEIL_MODE,
    MG_DNNL_COUNT_INCLUDE_PAD,
    MG_DNNL_UNITS,
    MG_DNNL_AXIS,
    MG_DNNL_EPSILON,
    MG_DNNL_CENTER,
    MG_DNNL_SCALE,
    MG_DNNL_A_MIN,
    MG_DNNL_A_MAX,
    MG_DNNL_ALPHA,
    MG_DNNL_TRANSPOSE_A,
    MG_DNNL_TRANSPOSE_B,
    MG_DNNL_ATTRS /* number of attributes */
} mg_dnnl_attr;

/* `error` is the first error. All values read after it are 0 or empty. */
typedef struct {
    mg_json values[MG_DNNL_ATTRS];
    uint32_t seen; /* one bit for each key */
    tvm_crt_error_t error;
} mg_dnnl_attrs;

/* Finds the attributes of an object that is valid JSON. Attributes not listed above are skipped. */
MG_EXTERN void mg_dnnl_find_attrs(mg_json json, mg_dnnl_attrs *attrs);

/* Sets the error kTvmErrorExecutorGraphMalformed unless the condition holds. */
MG_EXTERN void mg_dnnl_require(mg_dnnl_attrs *attrs, bool condition);

/* Sets the error kTvmErrorExecutorGraphUnsupported unless the condition holds. */
MG_EXTERN void mg_dnnl_support(mg_dnnl_attrs *attrs, bool condition);

/* Whether the attribute is present, and is not [[""]], which TVM writes for an absent one. */
MG_EXTERN bool mg_dnnl_has(mg_dnnl_attrs *attrs, mg_dnnl_attr key);

/* Reads the texts of an attribute such as [["1", "1"]], from 1 to `most` of them. Returns their
 * number. */
MG_EXTERN uint32_t mg_dnnl_texts(mg_dnnl_attrs *attrs, mg_dnnl_attr key, mg_text *texts,
                                 uint32_t most);

/* Reads exactly `count` texts, up to 4, as numbers up to UINT16_MAX. */
MG_EXTERN void mg_dnnl_numbers(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint16_t *numbers,
                               uint32_t count);

/* Reads one number up to INT32_MAX. */
MG_EXTERN uint32_t mg_dnnl_number(mg_dnnl_attrs *attrs, mg_dnnl_attr key);

/* Reads an axis of `ndim`. Negative numbers count from the end. */
MG_EXTERN uint8_t mg_dnnl_axis(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint32_t ndim);

/* Reads "0" or "1" and returns 0 or `flag`. */
MG_EXTERN uint8_t mg_dnnl_flag(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint8_t flag);

MG_EXTERN float mg_dnnl_real(mg_dnnl_attrs *attrs, mg_dnnl_attr key);

/* Reads a layout, which must be a permutation of these four letters, and packs it as in
 * mg_dnnl_node. */
MG_EXTERN uint8_t mg_dnnl_read_layout(mg_dnnl_attrs *attrs, mg_dnnl_attr key, const char *letters);

/* Requires "num_inputs" or "num_outputs", which is a plain text, to be this number if it is
 * present. */
MG_EXTERN void mg_dnnl_require_count(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint32_t count);

#endif
