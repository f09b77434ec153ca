/* SPDX-License-Identifier: Apache-2.0 */
/* The common end of every core's start-up code: the way into C, and the way out after a fault.
 *
 * Needs from the linker script: __stack_limit, __stack_top, __data_start, __data_end, __data_load,
 * __bss_start, __bss_end, all multiples of 4 (the stack's of 16). */
#ifndef MICROGEN_START_H
#define MICROGEN_START_H

#include "microgen/inline.h"

/* Sets up C's memory and runs main. The caller must have painted the stack: every word from
 * __stack_limit up to __stack_top is 0xC5C5C5C5. */
MG_EXTERN void mg_start(void) __attribute__((noreturn));

/* Prints the fault's line and ends the program. `status` is the core's fault status register, or 0
 * if it has none. */
MG_EXTERN void mg_report_fault(const char *name, uint32_t pc, uint32_t lr, uint32_t status)
    __attribute__((noreturn));

#endif
