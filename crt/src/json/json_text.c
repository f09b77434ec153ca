/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json_text.h"

#include <string.h>

uint32_t mg_hex(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    c = (char)(c | 0x20); /* to lower case */
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10U : 16U;
}

/* The position of `c` among the letters, or NULL if it is not there. */
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

static uint32_t hex4(const char *at)
{
    return mg_hex(at[0]) << 12 | mg_hex(at[1]) << 8 | mg_hex(at[2]) << 4 | mg_hex(at[3]);
}

/* Reads a code point from the digits of \uXXXX, with which `rest` begins, and moves past it. Reads
 * both halves of a surrogate pair. */
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

/* Moves past the next character of a text that is not empty, and stores its UTF-8. Returns the
 * number of bytes. */
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
        uint32_t n;
        if (length == 0U || (*rest.at != '\\' && *rest.at != *bytes)) {
            return false; /* most comparisons end here */
        }
        n = character(&rest, next);
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

/* The bound keeps GCC from turning the loop into a call of strlen. */
static size_t name_length(const char *name)
{
    size_t length = 0U;

    while (length < MG_TEXT_MAX_NAME && name[length] != '\0') {
        length++;
    }
    return length;
}

uint32_t mg_text_place(const mg_text *text, const char *names)
{
    uint32_t i;

    for (i = 0U; *names != '\0'; i++) {
        const size_t length = name_length(names);
        if (mg_text_is(text, names, length)) {
            return i;
        }
        names += length + 1U;
    }
    return MG_TEXT_UNKNOWN;
}
