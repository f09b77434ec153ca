/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of graphs share: objects with known keys, and references to outputs of nodes. */
#ifndef MICROGEN_JSON_KEYS_H
#define MICROGEN_JSON_KEYS_H

#include "json/json_reader.h"

#include <stdbool.h>

/* Makes the reader fail unless the condition holds. */
MG_EXTERN void mg_json_require(mg_json *json, bool condition);

/* Reads a key and the colon after it. Returns its position in `names`, a list for mg_text_place, or
 * MG_TEXT_UNKNOWN. Sets the key's bit in `seen`, and fails if a known key occurs twice. */
MG_EXTERN uint32_t mg_json_known_key(mg_json *json, const char *names, uint32_t *seen);

/* Whether the first `count` names were all seen. */
MG_EXTERN bool mg_json_has_all(uint32_t seen, uint32_t count);

typedef struct {
    uint32_t node;
    uint32_t index; /* of the node's outputs */
} mg_json_reference;

/* Reads [node, index] or [node, index, version]. */
MG_EXTERN mg_json_reference mg_json_read_reference(mg_json *json);

/* Reads an array of references and returns their number. */
MG_EXTERN uint32_t mg_json_count_references(mg_json *json);

#endif
