/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of a JSON text, read where they stand. */
#ifndef MICROGEN_JSON_TEXT_H
#define MICROGEN_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What stands between the quotes of a string: escapes are still there, and valid. */
typedef struct {
    const char *at;
    uint32_t length;
} mg_text;

/* Whether the text, its escapes resolved to UTF-8, is these bytes. */
bool mg_text_is(const mg_text *text, const char *bytes, size_t length);

/* The same for a string literal. */
#define MG_TEXT_IS(text, literal) mg_text_is((text), (literal), sizeof(literal) - 1U)

/* Stores the text as UTF-8 with a NUL. False, and `out` is "", if it takes more than `size` bytes
 * (at least 1) or has a NUL inside. */
bool mg_text_copy(const mg_text *text, char *out, size_t size);

/* A text of digits as a number up to INT32_MAX. False for any other. */
bool mg_text_unsigned(const mg_text *text, uint32_t *value);

#define MG_TEXT_UNKNOWN 31U

#define MG_TEXT_MAX_NAME 32U

/* The place of the text among fewer than MG_TEXT_UNKNOWN names of less than MG_TEXT_MAX_NAME bytes,
 * a NUL after each and one more at the end, or MG_TEXT_UNKNOWN. */
uint32_t mg_text_place(const mg_text *text, const char *names);

/* The value of a hexadecimal digit, 16 for other characters. */
uint32_t mg_hex(char c);

#ifdef __cplusplus
}
#endif

#endif
