/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/semihosting.h"

#if defined(__riscv)
/* The two shifts only distinguish a semihosting call from a breakpoint. All three instructions must
 * be uncompressed and in the same page. */
#define CALL                                                                                       \
    ".option push; .option norvc; .balign 16;"                                                     \
    "slli x0, x0, 0x1f; ebreak; srai x0, x0, 7; .option pop"
#define RESULT "a0"
#define ARGUMENT "a1"
#else
#define CALL "bkpt 0xab"
#define RESULT "r0"
#define ARGUMENT "r1"
#endif

/* Out of line, so that there is only one breakpoint, and one place for a breakpoint of the
 * debugger. */
__attribute__((noinline)) int32_t mg_semihosting(uint32_t operation, const void *argument)
{
    register uint32_t first __asm__(RESULT) = operation;
    register const void *second __asm__(ARGUMENT) = argument;

    __asm__ volatile(CALL : "+r"(first) : "r"(second) : "memory");
    return (int32_t)first;
}
