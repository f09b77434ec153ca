/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of a `dnnl_json` graph into tables. */
#ifndef MICROGEN_DNNL_READER_H
#define MICROGEN_DNNL_READER_H

#include "dnnl/dnnl_graph.h"
#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "tvm/runtime/crt/error_codes.h"

/* Makes a graph from its text. The stream is at the names of the constants, a list of strings. The
 * constants of the text must be the same, in the same order. */
MG_EXTERN tvm_crt_error_t mg_dnnl_read_graph(mg_text json, mg_stream *names, mg_pool *pool,
                                             mg_dnnl_graph **graph);

#endif
