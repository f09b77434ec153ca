/* SPDX-License-Identifier: Apache-2.0 */
/* Reads text in the format ExampleJSON into functions. */
#ifndef MICROGEN_EXAMPLEJSON_READER_H
#define MICROGEN_EXAMPLEJSON_READER_H

#include "examplejson/examplejson_graph.h"
#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the functions of a text. Returns kTvmErrorExecutorGraphMalformed if the text is not
 * ExampleJSON, kTvmErrorExecutorGraphUnsupported for an unknown operator, and
 * kTvmErrorPlatformNoMemory if the pool is too small or a workspace would need more than INT32_MAX
 * bytes. */
tvm_crt_error_t mg_examplejson_read(mg_text text, mg_pool *pool,
                                    mg_examplejson_function **functions);

#ifdef __cplusplus
}
#endif

#endif
