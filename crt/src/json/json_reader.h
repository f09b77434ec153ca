/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON (RFC 8259) in place: no memory, no recursion, never a byte past the end.
 *
 * A reader that fails remains failed and at its end: what it stores from then on is 0 or empty,
 * loops over mg_json_more end, and only `failed` must be looked at, once. */
#ifndef MICROGEN_JSON_READER_H
#define MICROGEN_JSON_READER_H

#include "json/json_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays and objects inside each other that mg_json_skip follows. */
#define MG_JSON_MAX_DEPTH 32U

typedef struct {
    const char *at;
    const char *end;
    bool failed;
} mg_json;

void mg_json_fail(mg_json *json);

/* The `bracket` that an array or an object begins with. */
void mg_json_open(mg_json *json, char bracket);

/* Whether another item follows, after `done` of them; reads the comma before it, or `bracket`:
 * for (i = 0; mg_json_more(json, i, ']'); i++) { item }. */
bool mg_json_more(mg_json *json, uint32_t done, char bracket);

void mg_json_string(mg_json *json, mg_text *text);

/* A string and the colon after it. */
void mg_json_key(mg_json *json, mg_text *key);

/* An integer from 0 to INT32_MAX; all others fail. */
uint32_t mg_json_unsigned(mg_json *json);

/* One value of any kind. */
void mg_json_skip(mg_json *json);

/* Whether nothing but white space is left. */
bool mg_json_is_at_end(mg_json *json);

#ifdef __cplusplus
}
#endif

#endif
