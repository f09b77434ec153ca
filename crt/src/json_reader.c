#include "json_reader.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit, 16 for other characters. */
static uint32_t hex(char c)
{
    if (is_digit(c)) {
        return (uint32_t)(c - '0');
    }
    c = (char)(c | 0x20); /* to lower case */
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10U : 16U;
}

/* Where `c` stands among the letters, NULL if it does not. */
static const char *find(const char *letters, char c)
{
    for (; *letters != '\0'; letters++) {
        if (*letters == c) {
            return letters;
        }
    }
    return NULL;
}

static bool same(const char *a, const char *b, size_t length)
{
    for (; length > 0U; length--) {
        if (a[length - 1U] != b[length - 1U]) {
            return false;
        }
    }
    return true;
}

void mg_json_fail(mg_json *json)
{
    json->failed = true;
    json->at = json->end;
}

/* The next character as it stands, NUL at the end: no JSON has one. */
static char raw(const mg_json *json)
{
    return json->at < json->end ? *json->at : '\0';
}

/* The next character that is not white space. */
static char peek(mg_json *json)
{
    while (raw(json) == ' ' || raw(json) == '\n' || raw(json) == '\r' || raw(json) == '\t') {
        json->at++;
    }
    return raw(json);
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

/* What follows a backslash. */
static void escape(mg_json *json)
{
    uint32_t i;

    if (raw(json) == 'u') {
        for (i = 0U; i < 4U; i++) {
            json->at++;
            if (hex(raw(json)) > 15U) {
                mg_json_fail(json);
                return;
            }
        }
    } else if (find("\"\\/bfnrt", raw(json)) == NULL) {
        mg_json_fail(json);
        return;
    }
    json->at++;
}

void mg_json_string(mg_json *json, mg_text *text)
{
    text->at = json->end;
    text->length = 0U;
    expect(json, '"');
    const char *const start = json->at;
    while (!json->failed && raw(json) != '"') {
        const unsigned char c = (unsigned char)raw(json);
        json->at++;
        if (c == (unsigned char)'\\') {
            escape(json);
        } else if (c < 0x20U) {
            json->at--;
            mg_json_fail(json);
        }
    }
    if (!json->failed) {
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

static void word(mg_json *json, const char *letters, size_t length)
{
    if ((size_t)(json->end - json->at) < length || !same(json->at, letters, length)) {
        mg_json_fail(json);
        return;
    }
    json->at += length;
}

/* A value that holds no others. */
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
    uint32_t objects = 0U; /* bit 0: the innermost of what is open is an object */
    uint32_t depth = 0U;
    uint32_t done = 0U; /* of the innermost */
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

static uint32_t hex4(const char *at)
{
    return hex(at[0]) << 12 | hex(at[1]) << 8 | hex(at[2]) << 4 | hex(at[3]);
}

/* The code point of \uXXXX, whose digits `rest` begins with, and moves behind it: of both halves,
 * if a second one follows. */
static uint32_t code_point(mg_text *rest)
{
    const uint32_t high = hex4(rest->at);

    rest->at += 4;
    rest->length -= 4U;
    if (high >> 10 == 0x36U && rest->length >= 6U && rest->at[0] == '\\' && rest->at[1] == 'u' &&
        hex4(rest->at + 2) >> 10 == 0x37U) {
        const uint32_t low = hex4(rest->at + 2);
        rest->at += 6;
        rest->length -= 6U;
        return 0x10000U + ((high & 0x3FFU) << 10 | (low & 0x3FFU));
    }
    return high;
}

static uint32_t utf8(uint32_t point, char bytes[4])
{
    uint32_t length = 1U;
    uint32_t i;

    if (point >= 0x80U) {
        length = point < 0x800U ? 2U : point < 0x10000U ? 3U : 4U;
    }
    for (i = length; i > 1U; i--) {
        bytes[i - 1U] = (char)(0x80U | (point & 0x3FU));
        point >>= 6;
    }
    bytes[0] = (char)(length == 1U ? point : ((0xF0U << (4U - length)) & 0xFFU) | point);
    return length;
}

/* Moves behind the next character, of a text that is not empty, and stores its UTF-8: the number of
 * bytes. */
static uint32_t character(mg_text *rest, char bytes[4])
{
    static const char escapes[] = "bfnrt";
    static const char meant[] = "\b\f\n\r\t";
    const char *found;

    bytes[0] = *rest->at;
    rest->at++;
    rest->length--;
    if (bytes[0] != '\\') {
        return 1U;
    }
    bytes[0] = *rest->at;
    rest->at++;
    rest->length--;
    if (bytes[0] == 'u') {
        return utf8(code_point(rest), bytes);
    }
    found = find(escapes, bytes[0]);
    if (found != NULL) {
        bytes[0] = meant[found - escapes];
    }
    return 1U;
}

bool mg_text_is(const mg_text *text, const char *bytes, size_t length)
{
    mg_text rest = *text;
    char next[4];

    while (rest.length > 0U) {
        const uint32_t n = character(&rest, next);
        if (n > length || !same(next, bytes, n)) {
            return false;
        }
        bytes += n;
        length -= n;
    }
    return length == 0U;
}

bool mg_text_copy(const mg_text *text, char *out, size_t size)
{
    mg_text rest = *text;
    size_t length = 0U;
    char next[4];

    while (rest.length > 0U) {
        const uint32_t n = character(&rest, next);
        if (next[0] == '\0' || n >= size - length) {
            out[0] = '\0';
            return false;
        }
        (void)memcpy(out + length, next, n);
        length += n;
    }
    out[length] = '\0';
    return true;
}

bool mg_text_unsigned(const mg_text *text, uint32_t *value)
{
    uint32_t result = 0U;
    uint32_t i;

    for (i = 0U; i < text->length; i++) {
        const uint32_t digit = (uint32_t)(unsigned char)text->at[i] - (uint32_t)'0';
        if (digit > 9U || result > ((uint32_t)INT32_MAX - digit) / 10U) {
            return false;
        }
        result = result * 10U + digit;
    }
    *value = result;
    return text->length > 0U;
}
