/* Reads JSON (RFC 8259) where it stands: no memory, no recursion, never a byte behind the end.
 *
 * A reader that fails stays failed and at its end: what it stores from then on is 0 or empty, loops
 * over mg_json_more end, and only `failed` must be looked at, once. */
#ifndef MICROGEN_JSON_READER_H
#define MICROGEN_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays and objects inside each other that mg_json_skip follows. */
#define MG_JSON_MAX_DEPTH 32U

typedef struct {
    const char *at;
    const char *end;
    bool failed;
} mg_json;

/* What stands between the quotes of a string: escapes are still there, and valid. */
typedef struct {
    const char *at;
    uint32_t length;
} mg_text;

void mg_json_fail(mg_json *json);

/* The `bracket` that an array or an object begins with. */
void mg_json_open(mg_json *json, char bracket);

/* Whether another item follows, after `done` of them; reads the comma before it, or `bracket`:
 * for (i = 0; mg_json_more(json, i, ']'); i++) { item }. */
bool mg_json_more(mg_json *json, uint32_t done, char bracket);

void mg_json_string(mg_json *json, mg_text *text);

/* A string and the colon behind it. */
void mg_json_key(mg_json *json, mg_text *key);

/* An integer from 0 to INT32_MAX; all others fail. */
uint32_t mg_json_unsigned(mg_json *json);

/* One value of any kind. */
void mg_json_skip(mg_json *json);

/* Whether nothing but white space is left. */
bool mg_json_is_at_end(mg_json *json);

/* Whether the text, its escapes resolved to UTF-8, is these bytes. */
bool mg_text_is(const mg_text *text, const char *bytes, size_t length);

/* The same for a string literal. */
#define MG_TEXT_IS(text, literal) mg_text_is((text), (literal), sizeof(literal) - 1U)

/* Stores the text as UTF-8 with a NUL. False, and `out` is "", if it takes more than `size` bytes
 * (at least 1) or has a NUL inside. */
bool mg_text_copy(const mg_text *text, char *out, size_t size);

/* A text of digits as a number up to INT32_MAX. False for any other. */
bool mg_text_unsigned(const mg_text *text, uint32_t *value);

#endif
