/* SPDX-License-Identifier: Apache-2.0 */
/* What all platforms share: printing numbers, and the abort. It does not use printf, because its
 * code and stack would be much larger than all the rest. */
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"

void mg_io_print_int(int32_t value)
{
    /* Subtracts powers of ten, because division is a library call on cores without a divider. */
    static const uint32_t powers[] = {1000000000U, 100000000U, 10000000U, 1000000U, 100000U,
                                      10000U,      1000U,      100U,      10U,      1U};
    char text[12];
    char *end = text;
    uint32_t rest = (uint32_t)value;
    uint32_t i = 0U;

    if (value < 0) {
        *end++ = '-';
        rest = 0U - rest;
    }
    while (i < 9U && rest < powers[i]) {
        i++;
    }
    for (; i < 10U; i++) {
        char digit = '0';
        for (; rest >= powers[i]; rest -= powers[i]) {
            digit++;
        }
        *end++ = digit;
    }
    *end = '\0';
    mg_io_print(text);
}

void mg_io_print_hex(uint32_t value)
{
    char text[11] = "0x";
    uint32_t i;

    for (i = 0U; i < 8U; i++) {
        text[2U + i] = "0123456789abcdef"[(value >> (28U - 4U * i)) & 15U];
    }
    text[10] = '\0';
    mg_io_print(text);
}

void TVMPlatformAbort(tvm_crt_error_t code)
{
    mg_io_print("microgen: abort=");
    mg_io_print_hex((uint32_t)code);
    mg_io_print("\n");
    mg_io_exit(1);
}
