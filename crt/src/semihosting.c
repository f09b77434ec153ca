#include "semihosting.h"

/* Out of line: one breakpoint, and a place for one in the debugger. */
__attribute__((noinline)) int32_t mg_semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}
