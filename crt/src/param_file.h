/* Reads parameter files: TVM's save_param_dict, little-endian, never a byte behind the end.
 *
 *     u64 0xF7E58D4F05049CB7, u64 0, u64 n, n x (u64 length, name), u64 n, n x array
 *     array = u64 0xDD5E40F096B4A13F, u64 0, i32 device type, i32 device id, i32 ndim,
 *             u8 code, u8 bits, u16 lanes, i64 shape[ndim], i64 nbytes, data */
#ifndef MICROGEN_PARAM_FILE_H
#define MICROGEN_PARAM_FILE_H

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *at;
    size_t left;
    bool failed;
} mg_bytes;

typedef struct {
    mg_bytes names;
    mg_bytes arrays;
    uint32_t count; /* of both */
} mg_param_file;

typedef struct {
    const char *name; /* not terminated */
    size_t name_length;
    DLDataType dtype;
    int32_t ndim;
    const uint8_t *shape; /* ndim numbers of 8 bytes: mg_param_dim */
    const uint8_t *data;
    size_t num_data; /* what the file says; not compared with the shape */
} mg_param;

/* Opens the file and checks its head and its names. False if it is malformed. */
bool mg_param_open(mg_param_file *file, const uint8_t *data, size_t size);

/* The next of `count` parameters. False if it is malformed. */
bool mg_param_next(mg_param_file *file, mg_param *param);

/* Whether nothing follows the last array. */
bool mg_param_is_at_end(const mg_param_file *file);

/* A dimension, as a number of any size. */
uint64_t mg_param_dim(const mg_param *param, int32_t axis);

#endif
