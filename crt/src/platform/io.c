/* SPDX-License-Identifier: Apache-2.0 */
/* What all platforms share: printing numbers, and the abort. It does not use printf, because its
 * code and stack would be much larger than all the rest. */
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"

void mg_io_print_int(int32_t value)
{
    char text[12]; /* filled from its end, with the last digit first */
    char *start = &text[11];
    uint32_t rest = value < 0 ? 0U - (uint32_t)value : (uint32_t)value;

    *start = '\0';
    do {
        uint32_t digit = 0U;
        uint32_t bit;
        /* Divides by 10 bit by bit, because division is a library call on cores without a divider. The
         * quotient's bits enter `rest` where the dividend's leave it. */
        for (bit = 0U; bit < 32U; bit++) {
            digit = digit << 1 | rest >> 31;
            rest <<= 1;
            if (digit >= 10U) {
                digit -= 10U;
                rest++;
            }
        }
        *--start = (char)('0' + digit);
    } while (rest != 0U);
    if (value < 0) {
        *--start = '-';
    }
    mg_io_print(start);
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
