/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/platform.h"

#define DIGITS 20U /* of 2^64 - 1 in decimal */

typedef struct {
    char *next;
    size_t left; /* without the NUL */
} output;

/* In a structure, because a va_list may be an array, which cannot be passed by address. */
typedef struct {
    va_list args;
} arguments;

/* The text between % and the letter of a conversion. */
typedef struct {
    uint32_t width;
    uint8_t left;  /* flag - */
    uint8_t zeros; /* flag 0 */
    uint8_t longs; /* 0: int, 1: long, 2: long long, 3: as a pointer */
} options;

static void put(output *out, char c)
{
    if (out->left > 0U) {
        *out->next++ = c;
        out->left--;
    }
}

/* Writes `length` characters in a field. A sign precedes the zeros of flag 0. */
static void put_field(output *out, const options *how, const char *text, uint32_t length)
{
    const uint8_t zeros = how->zeros != 0U && how->left == 0U;
    uint32_t i = 0U;
    uint32_t fill = how->width > length ? how->width - length : 0U;

    if (zeros != 0U && length > 0U && text[0] == '-') {
        put(out, text[i++]);
    }
    for (; how->left == 0U && fill > 0U && out->left > 0U; fill--) {
        put(out, zeros != 0U ? '0' : ' ');
    }
    for (; i < length; i++) {
        put(out, text[i]);
    }
    for (; how->left != 0U && fill > 0U && out->left > 0U; fill--) {
        put(out, ' ');
    }
}

static void put_text(output *out, options *how, const char *text)
{
    uint32_t length = 0U;

    /* Bounded, also because the compiler would replace a plain search by a call of strlen. */
    while (length < out->left && text[length] != '\0') {
        length++;
    }
    how->zeros = 0U;
    put_field(out, how, text, length);
}

static void put_number(output *out, const options *how, uint64_t value, uint32_t base, char first,
                       int negative)
{
    char text[DIGITS + 1U];
    uint32_t at = DIGITS + 1U;

    do {
        const uint32_t digit = (uint32_t)(value % base);
        text[--at] = (char)(digit < 10U ? '0' + (char)digit : first + (char)(digit - 10U));
        value /= base;
    } while (value != 0U);
    if (negative != 0) {
        text[--at] = '-';
    }
    put_field(out, how, text + at, DIGITS + 1U - at);
}

/* Reads flags, width and length from `fmt`, and returns the rest. */
static const char *read_options(const char *fmt, options *how)
{
    for (; *fmt == '-' || *fmt == '0'; fmt++) {
        how->left |= *fmt == '-';
        how->zeros |= *fmt == '0';
    }
    for (; *fmt >= '0' && *fmt <= '9' && how->width < 10000U; fmt++) {
        how->width = 10U * how->width + (uint32_t)(*fmt - '0');
    }
    for (; *fmt == 'h' || *fmt == 'l'; fmt++) {
        how->longs = (uint8_t)(how->longs + (*fmt == 'l'));
    }
    if (*fmt == 'j') {
        how->longs = 2U;
        fmt++;
    } else if (*fmt == 'z' || *fmt == 't') {
        how->longs = 3U;
        fmt++;
    }
    return fmt;
}

static int64_t next_signed(const options *how, arguments *rest)
{
    switch (how->longs) {
    case 0U:
        return va_arg(rest->args, int);
    case 1U:
        return va_arg(rest->args, long);
    case 2U:
        return va_arg(rest->args, long long);
    default:
        return va_arg(rest->args, ptrdiff_t);
    }
}

static uint64_t next_unsigned(const options *how, arguments *rest)
{
    switch (how->longs) {
    case 0U:
        return va_arg(rest->args, unsigned int);
    case 1U:
        return va_arg(rest->args, unsigned long);
    case 2U:
        return va_arg(rest->args, unsigned long long);
    default:
        return va_arg(rest->args, size_t);
    }
}

static void put_signed(output *out, const options *how, int64_t value)
{
    put_number(out, how, value < 0 ? 0U - (uint64_t)value : (uint64_t)value, 10U, 'a', value < 0);
}

/* Writes the next argument. Returns 0 and writes nothing if there is no such conversion. */
static int convert(output *out, char conversion, options *how, arguments *rest)
{
    switch (conversion) {
    case 'd':
    case 'i':
        put_signed(out, how, next_signed(how, rest));
        return 1;
    case 'u':
        put_number(out, how, next_unsigned(how, rest), 10U, 'a', 0);
        return 1;
    case 'x':
        put_number(out, how, next_unsigned(how, rest), 16U, 'a', 0);
        return 1;
    case 'X':
        put_number(out, how, next_unsigned(how, rest), 16U, 'A', 0);
        return 1;
    case 'p':
        put(out, '0');
        put(out, 'x');
        put_number(out, how, (uintptr_t)va_arg(rest->args, void *), 16U, 'a', 0);
        return 1;
    case 'c':
        put(out, (char)va_arg(rest->args, int));
        return 1;
    case 's':
        put_text(out, how, va_arg(rest->args, const char *));
        return 1;
    case '%':
        put(out, '%');
        return 1;
    default:
        return 0;
    }
}

TVM_WEAK size_t TVMPlatformFormatMessage(char *out_buf, size_t out_buf_size_bytes, const char *fmt,
                                         va_list args)
{
    output out = {out_buf, out_buf_size_bytes > 0U ? out_buf_size_bytes - 1U : 0U};
    arguments rest;
    int known = 1;

    va_copy(rest.args, args);
    while (*fmt != '\0') {
        options how = {0U, 0U, 0U, 0U};
        const char *end;

        /* After an unknown conversion the arguments that follow cannot be found. */
        if (*fmt != '%' || known == 0) {
            put(&out, *fmt++);
            continue;
        }
        end = read_options(fmt + 1, &how);
        known = convert(&out, *end, &how, &rest);
        fmt = known != 0 ? end + 1 : fmt;
    }
    va_end(rest.args);
    if (out_buf_size_bytes > 0U) {
        *out.next = '\0';
    }
    return (size_t)(out.next - out_buf);
}
