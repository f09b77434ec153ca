/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of graphs have in common: objects of known keys, references to outputs of nodes.
 */
#ifndef MICROGEN_JSON_KEYS_H
#define MICROGEN_JSON_KEYS_H

#include "json/json_reader.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fails unless the condition holds. */
void mg_json_require(mg_json *json, bool condition);

/* Reads a key and the colon after it: its place in `names`, as mg_text_place has them, or
 * MG_TEXT_UNKNOWN. Notes in `seen`, bit by bit, what was there: a known key only once. */
uint32_t mg_json_known_key(mg_json *json, const char *names, uint32_t *seen);

/* Whether the first `count` of the names were there. */
bool mg_json_has_all(uint32_t seen, uint32_t count);

typedef struct {
    uint32_t node;
    uint32_t index; /* of its outputs */
} mg_json_reference;

/* [node, index] or [node, index, version]. */
mg_json_reference mg_json_read_reference(mg_json *json);

/* An array of them: how many. */
uint32_t mg_json_count_references(mg_json *json);

#ifdef __cplusplus
}
#endif

#endif
