/* SPDX-License-Identifier: Apache-2.0 */
/* Arm semihosting (Arm IHI 0100), which RISC-V has adopted: a debugger or QEMU executes the
 * operation at a breakpoint.
 *
 * Without a debugger or QEMU the breakpoint is a fault. */
#ifndef MICROGEN_SEMIHOSTING_H
#define MICROGEN_SEMIHOSTING_H

#include "microgen/inline.h"

#define SYS_OPEN 0x01U
#define SYS_CLOSE 0x02U
#define SYS_WRITE0 0x04U
#define SYS_WRITE 0x05U
#define SYS_READ 0x06U
#define SYS_EXIT_EXTENDED 0x20U
#define SYS_ELAPSED 0x30U
#define SYS_TICKFREQ 0x31U

/* SYS_OPEN's modes for fopen's "rb" and "wb". */
#define SEMIHOSTING_OPEN_RB 1U
#define SEMIHOSTING_OPEN_WB 5U

/* SYS_EXIT_EXTENDED's reason for an ordinary end (ADP_Stopped_ApplicationExit). */
#define SEMIHOSTING_APPLICATION_EXIT 0x20026U

/* Performs one operation. `argument` is its block of words, or another value that the specification
 * gives for it. */
MG_EXTERN int32_t mg_semihosting(uint32_t operation, const void *argument);

#endif
