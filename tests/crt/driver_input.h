/* The standard input of the C programs that tests run. */
#ifndef TESTS_DRIVER_INPUT_H
#define TESTS_DRIVER_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The next four bytes, little-endian. At the end of the input the program ends, with success. */
static uint32_t read_number(void)
{
    uint8_t bytes[4];

    if (fread(bytes, 1, 4, stdin) != 4) {
        exit(0);
    }
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

#endif
