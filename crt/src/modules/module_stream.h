/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what dmlc's streams write, in place: numbers byte by byte, little-endian, because
 * nothing there is aligned; strings and lists with 64-bit counts. Never a byte past the end.
 *
 * Its strings are any bytes. json_text.h resolves escapes, and reads past the end of a text whose
 * last one is broken: texts of streams are compared with mg_text_same, or are the bytes that
 * mg_text_is compares a text of JSON with.
 *
 * A stream that fails remains failed and at its end: what it gives from then on is 0 or empty, and
 * only `failed` must be looked at, once. */
#ifndef MICROGEN_MODULE_STREAM_H
#define MICROGEN_MODULE_STREAM_H

#include "json/json_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
} mg_stream;

void mg_stream_fail(mg_stream *stream);

/* An unsigned number of up to 8 bytes. */
uint64_t mg_stream_number(mg_stream *stream, uint32_t nbytes);

/* An unsigned 64-bit number, which fails above INT32_MAX. */
uint32_t mg_stream_unsigned(mg_stream *stream);

/* The count before a list whose items take at least `least` bytes each, 1 or more; more than the
 * rest of the stream can hold fails. */
uint32_t mg_stream_count(mg_stream *stream, size_t least);

/* A string: a 64-bit length, then its bytes, which stay where they are. */
void mg_stream_string(mg_stream *stream, mg_text *text);

/* Passes over `nbytes`. */
void mg_stream_skip(mg_stream *stream, size_t nbytes);

/* Whether two texts are the same bytes, whatever those mean. */
bool mg_text_same(mg_text a, mg_text b);

#ifdef __cplusplus
}
#endif

#endif
