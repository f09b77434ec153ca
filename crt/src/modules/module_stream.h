/* SPDX-License-Identifier: Apache-2.0 */
/* Reads data that dmlc's streams wrote, in place and never a byte past the end. Numbers are
 * little-endian and read byte by byte, because nothing is aligned. Strings and lists have 64-bit
 * counts.
 *
 * Strings can contain any bytes. The functions of json_text.h resolve escapes, and would read past
 * the end of a text whose last escape is broken. So texts of streams may only be compared by
 * mg_text_same, or be the bytes with which mg_text_is compares a text of JSON.
 *
 * A stream that fails remains failed and at its end. From then on it gives 0 or empty texts. So the
 * caller needs to check `failed` only once. */
#ifndef MICROGEN_MODULE_STREAM_H
#define MICROGEN_MODULE_STREAM_H

#include "json/json_text.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
} mg_stream;

MG_EXTERN void mg_stream_fail(mg_stream *stream);

/* Reads an unsigned number of up to 8 bytes. */
MG_EXTERN uint64_t mg_stream_number(mg_stream *stream, uint32_t nbytes);

/* Reads an unsigned 64-bit number. Fails if it is above INT32_MAX. */
MG_EXTERN uint32_t mg_stream_unsigned(mg_stream *stream);

/* Reads the count before a list whose items take at least `least` bytes each, 1 or more. Fails if
 * so many items cannot fit in the rest of the stream. */
MG_EXTERN uint32_t mg_stream_count(mg_stream *stream, size_t least);

/* Reads a string: a 64-bit length, then its bytes, which are not copied. */
MG_EXTERN void mg_stream_string(mg_stream *stream, mg_text *text);

/* Skips `nbytes` bytes. */
MG_EXTERN void mg_stream_skip(mg_stream *stream, size_t nbytes);

/* Whether two texts have the same bytes, without resolving escapes. */
MG_EXTERN bool mg_text_same(mg_text a, mg_text b);

#endif
