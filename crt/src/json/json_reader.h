/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON (RFC 8259) in place, without memory or recursion, and never a byte past the end.
 *
 * A reader that fails remains failed and at its end. From then on it stores 0 or empty texts, and
 * loops over mg_json_more end. So the caller needs to check `failed` only once. */
#ifndef MICROGEN_JSON_READER_H
#define MICROGEN_JSON_READER_H

#include "json/json_text.h"

#include <stdbool.h>
#include <stddef.h>

/* The maximum depth of nested arrays and objects for mg_json_skip. */
#define MG_JSON_MAX_DEPTH 32U

typedef struct {
    const char *at;
    const char *end;
    bool failed;
} mg_json;

MG_EXTERN void mg_json_fail(mg_json *json);

/* Reads the `bracket` that begins an array or an object. */
MG_EXTERN void mg_json_open(mg_json *json, char bracket);

/* Whether another item follows after `done` items. Reads the comma before the item, or the closing
 * `bracket`: for (i = 0; mg_json_more(json, i, ']'); i++) { item }. */
MG_EXTERN bool mg_json_more(mg_json *json, uint32_t done, char bracket);

MG_EXTERN void mg_json_string(mg_json *json, mg_text *text);

/* Reads a string and the colon after it. */
MG_EXTERN void mg_json_key(mg_json *json, mg_text *key);

/* Reads an integer from 0 to INT32_MAX. Fails for any other value. */
MG_EXTERN uint32_t mg_json_unsigned(mg_json *json);

/* Skips one value of any kind. */
MG_EXTERN void mg_json_skip(mg_json *json);

/* Whether only white space is left. */
MG_EXTERN bool mg_json_is_at_end(mg_json *json);

#endif
