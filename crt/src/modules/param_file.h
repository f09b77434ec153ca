/* SPDX-License-Identifier: Apache-2.0 */
/* Reads parameter files that TVM's save_param_dict wrote, little-endian, and never a byte past the
 * end.
 *
 *     u64 0xF7E58D4F05049CB7, u64 0, u64 n, n x (u64 length, name), u64 n, n x array
 *     array = u64 0xDD5E40F096B4A13F, u64 0, i32 device type, i32 device id, i32 ndim,
 *             u8 code, u8 bits, u16 lanes, i64 shape[ndim], i64 nbytes, data */
#ifndef MICROGEN_PARAM_FILE_H
#define MICROGEN_PARAM_FILE_H

#include "modules/module_stream.h"

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    mg_stream names;
    mg_stream arrays;
    uint32_t count; /* of names and of arrays */
} mg_param_file;

typedef struct {
    mg_text name; /* bytes, not JSON */
    uint32_t device_type;
    DLDataType dtype;
    uint32_t ndim;
    mg_stream shape; /* at ndim numbers of 8 bytes */
    const uint8_t *data;
    uint32_t num_data; /* from the file; not compared with the shape */
} mg_param;

/* Opens the file and checks its header and its names. Returns false if it is malformed. */
MG_EXTERN bool mg_param_open(mg_param_file *file, const uint8_t *data, size_t size);

/* The same for names and arrays without a file header. Other data may follow them. */
MG_EXTERN bool mg_param_open_list(mg_param_file *file, const mg_stream *list);

/* Reads the next of `count` parameters. Returns false if it is malformed. */
MG_EXTERN bool mg_param_next(mg_param_file *file, mg_param *param);

/* Whether nothing follows the last array. */
MG_EXTERN bool mg_param_is_at_end(const mg_param_file *file);

#endif
