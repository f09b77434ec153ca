/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/start.h"

#include "platform/freestanding.h"
#include "platform/io.h"

#define STACK_PAINT 0xC5C5C5C5U

/* The exit status of a program that ended in a fault. */
#define EXIT_FAULT 3

extern uint32_t __stack_limit[], __stack_top[];
extern uint32_t __data_start[], __data_end[], __data_load[];
extern uint32_t __bss_start[], __bss_end[];

int main(void);

void mg_start(void)
{
    (void)memcpy(__data_start, __data_load, (uintptr_t)__data_end - (uintptr_t)__data_start);
    (void)memset(__bss_start, 0, (uintptr_t)__bss_end - (uintptr_t)__bss_start);
    mg_io_exit(main());
}

void mg_report_fault(const char *name, uint32_t pc, uint32_t lr, uint32_t status)
{
    mg_io_print("microgen: fault=");
    mg_io_print(name);
    mg_io_print(" pc=");
    mg_io_print_hex(pc);
    mg_io_print(" lr=");
    mg_io_print_hex(lr);
    mg_io_print(" cfsr=");
    mg_io_print_hex(status);
    mg_io_print("\n");
    mg_io_exit(EXIT_FAULT);
}

uint32_t mg_io_stack_used(void)
{
    const uint32_t *word = __stack_limit;

    while (word < __stack_top && *word == STACK_PAINT) {
        word++;
    }
    return (uint32_t)((uintptr_t)__stack_top - (uintptr_t)word);
}
