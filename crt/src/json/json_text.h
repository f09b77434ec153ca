/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of a JSON text, read in place. */
#ifndef MICROGEN_JSON_TEXT_H
#define MICROGEN_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "microgen/inline.h"

/* The characters between the quotes of a string, with their escapes, which are valid. */
typedef struct {
    const char *at;
    uint32_t length;
} mg_text;

/* Whether the text equals these bytes after its escapes are resolved to UTF-8. */
MG_EXTERN bool mg_text_is(const mg_text *text, const char *bytes, size_t length);

/* The same for a string literal. */
#define MG_TEXT_IS(text, literal) mg_text_is((text), (literal), sizeof(literal) - 1U)

/* Stores the text as UTF-8 with a NUL. Returns false and sets `out` to "" if the text needs more
 * than `size` bytes (at least 1) or contains a NUL. */
MG_EXTERN bool mg_text_copy(const mg_text *text, char *out, size_t size);

/* Reads a text of digits as a number up to INT32_MAX. Returns false for any other text. */
MG_EXTERN bool mg_text_unsigned(const mg_text *text, uint32_t *value);

#define MG_TEXT_UNKNOWN 31U

#define MG_TEXT_MAX_NAME 32U

/* The position of the text in `names`, or MG_TEXT_UNKNOWN. There must be fewer than MG_TEXT_UNKNOWN
 * names of fewer than MG_TEXT_MAX_NAME bytes. Each name ends with a NUL, and one more NUL ends the
 * list. */
MG_EXTERN uint32_t mg_text_place(const mg_text *text, const char *names);

/* The value of a hexadecimal digit, or 16 for other characters. */
MG_EXTERN uint32_t mg_hex(char c);

#endif
