/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json_reader.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void mg_json_fail(mg_json *json)
{
    json->failed = true;
    json->at = json->end;
}

/* The next character, or NUL at the end, which valid JSON cannot contain. */
static char raw(const mg_json *json)
{
    return json->at < json->end ? *json->at : '\0';
}

/* Moves to the next character that is not white space, and returns it. */
static char peek(mg_json *json)
{
    char c = raw(json);

    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        json->at++;
        c = raw(json);
    }
    return c;
}

static bool take(mg_json *json, char wanted)
{
    if (peek(json) != wanted) {
        return false;
    }
    json->at++;
    return true;
}

static void expect(mg_json *json, char wanted)
{
    if (!take(json, wanted)) {
        mg_json_fail(json);
    }
}

void mg_json_open(mg_json *json, char bracket)
{
    expect(json, bracket);
}

bool mg_json_more(mg_json *json, uint32_t done, char bracket)
{
    if (take(json, bracket)) {
        return false;
    }
    if (done > 0U) {
        expect(json, ',');
        if (peek(json) == bracket) {
            mg_json_fail(json);
        }
    }
    return !json->failed;
}

bool mg_json_is_at_end(mg_json *json)
{
    (void)peek(json);
    return json->at == json->end;
}

static bool is_escaped(char c)
{
    return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' ||
           c == 't';
}

/* Reads the characters after a backslash. */
static void escape(mg_json *json)
{
    uint32_t i;

    if (raw(json) == 'u') {
        for (i = 0U; i < 4U; i++) {
            json->at++;
            if (mg_hex(raw(json)) > 15U) {
                mg_json_fail(json);
                return;
            }
        }
    } else if (!is_escaped(raw(json))) {
        mg_json_fail(json);
        return;
    }
    json->at++;
}

/* Finds the first character that has a meaning in a string, or cannot be in one. Names are most of
 * a graph's text, so reading spends most of its time here. */
static const char *plain_end(const char *at, const char *end)
{
    while (at != end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20U) {
        at++;
    }
    return at;
}

void mg_json_string(mg_json *json, mg_text *text)
{
    text->at = json->end;
    text->length = 0U;
    expect(json, '"');
    const char *const start = json->at;
    json->at = plain_end(json->at, json->end);
    while (raw(json) == '\\') {
        json->at++;
        escape(json);
        json->at = plain_end(json->at, json->end);
    }
    if (raw(json) != '"') {
        mg_json_fail(json);
    } else {
        text->at = start;
        text->length = (uint32_t)(json->at - start);
        json->at++;
    }
}

void mg_json_key(mg_json *json, mg_text *key)
{
    mg_json_string(json, key);
    expect(json, ':');
}

uint32_t mg_json_unsigned(mg_json *json)
{
    mg_text digits = {json->end, 0U};
    uint32_t value = 0U;

    (void)peek(json);
    digits.at = json->at;
    while (is_digit(raw(json))) {
        json->at++;
        digits.length++;
    }
    if (!mg_text_unsigned(&digits, &value) || (digits.length > 1U && *digits.at == '0')) {
        mg_json_fail(json);
        return 0U;
    }
    return value;
}

static void digits(mg_json *json)
{
    if (!is_digit(raw(json))) {
        mg_json_fail(json);
    }
    while (is_digit(raw(json))) {
        json->at++;
    }
}

static void number(mg_json *json)
{
    (void)take(json, '-');
    if (raw(json) == '0') {
        json->at++;
    } else {
        digits(json);
    }
    if (raw(json) == '.') {
        json->at++;
        digits(json);
    }
    if (raw(json) == 'e' || raw(json) == 'E') {
        json->at++;
        if (raw(json) == '+' || raw(json) == '-') {
            json->at++;
        }
        digits(json);
    }
}

static bool starts_with(const char *at, const char *letters, size_t length)
{
    for (; length > 0U; length--) {
        if (at[length - 1U] != letters[length - 1U]) {
            return false;
        }
    }
    return true;
}

static void word(mg_json *json, const char *letters, size_t length)
{
    if ((size_t)(json->end - json->at) < length || !starts_with(json->at, letters, length)) {
        mg_json_fail(json);
        return;
    }
    json->at += length;
}

/* Reads a value that contains no other values. */
static void scalar(mg_json *json)
{
    mg_text ignored;

    switch (peek(json)) {
    case '"':
        mg_json_string(json, &ignored);
        break;
    case 't':
        word(json, "true", 4U);
        break;
    case 'f':
        word(json, "false", 5U);
        break;
    case 'n':
        word(json, "null", 4U);
        break;
    default:
        number(json);
        break;
    }
}

void mg_json_skip(mg_json *json)
{
    uint32_t objects = 0U; /* bit 0: the innermost open value is an object */
    uint32_t depth = 0U;
    uint32_t done = 0U; /* items of the innermost value */
    mg_text ignored;

    do {
        const char c = peek(json);
        if (c == '{' || c == '[') {
            if (depth == MG_JSON_MAX_DEPTH) {
                mg_json_fail(json);
                return;
            }
            mg_json_open(json, c);
            objects = objects << 1 | (c == '{' ? 1U : 0U);
            depth++;
            done = 0U;
        } else {
            scalar(json);
            done = 1U;
        }
        while (depth > 0U && !mg_json_more(json, done, (objects & 1U) != 0U ? '}' : ']')) {
            objects >>= 1;
            depth--;
            done = 1U;
            if (json->failed) {
                return;
            }
        }
        if (depth > 0U && (objects & 1U) != 0U) {
            mg_json_key(json, &ignored);
        }
    } while (depth > 0U && !json->failed);
}
