/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up code for Arm Cortex-M, Armv6-M to Armv8.1-M: vector table, reset, faults, stack paint.
 *
 * Needs the symbols of start.h from the linker script, and .vectors at the address where the core
 * reads it. */
#include "platform/start.h"

#include <stdint.h>

/* System control block: Armv7-M Architecture Reference Manual (DDI 0403), B3.2. */
#define SCB_CFSR ((volatile uint32_t *)0xE000ED28U)

/* Armv7-M, Armv8-M mainline and later. The others have no fault status registers. */
#define HAS_FAULT_STATUS (__ARM_ARCH_ISA_THUMB >= 2)

extern uint32_t __stack_top[];

void Reset_Handler(void);
void Fault_Handler(void);
void mg_fault(const uint32_t *frame, uint32_t exception) __attribute__((noreturn));

/* In assembly for two reasons: C code may use FPU registers before the FPU is enabled, and nothing
 * may use the stack before it is painted. Code for all cores has only Armv6-M's instructions. */
__attribute__((naked)) void Reset_Handler(void)
{
    __asm__ volatile(
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
        /* CPACR: full access to CP10 and CP11, the FPU and MVE. */
        "ldr r0, =0xE000ED88      \n"
        "ldr r1, [r0]             \n"
        "orr r1, r1, #0x00F00000  \n"
        "str r1, [r0]             \n"
        "dsb                      \n"
        "isb                      \n"
#endif
#if HAS_FAULT_STATUS
        /* VTOR: the vectors are not always at 0, or at the address from which the core started. */
        "ldr r0, =0xE000ED08      \n"
        "ldr r1, =vectors         \n"
        "str r1, [r0]             \n"
        /* SHCSR: enables MemManage, BusFault, UsageFault and, if there is one, SecureFault.
         * Otherwise each of these is a HardFault. */
        "ldr r0, =0xE000ED24      \n"
        "ldr r1, [r0]             \n"
        "orr r1, r1, #0x000F0000  \n"
        "str r1, [r0]             \n"
#endif
        "ldr r0, =__stack_limit   \n"
#if __ARM_ARCH >= 8 && __ARM_ARCH_ISA_THUMB >= 2
        "msr msplim, r0           \n"
#endif
        "ldr r1, =__stack_top     \n"
        "ldr r2, =0xC5C5C5C5      \n"
        "1: stmia r0!, {r2}       \n"
        "cmp r0, r1               \n"
        "blo 1b                   \n"
        "bl mg_start              \n"
        ".ltorg                   \n");
}

/* Handles every exception except reset. Nothing enables an interrupt, so all of them are faults. If
 * the stack is nearly used up, the report needs a new one, because another fault would lock up the
 * core. If the stack pointer is at its limit, where Armv8-M stops it, or below it, there is no
 * frame to read. */
__attribute__((naked)) void Fault_Handler(void)
{
    __asm__ volatile("mov r0, sp              \n"
                     "ldr r1, =__stack_limit + 256 \n"
                     "cmp r0, r1              \n"
                     "bhs 1f                  \n"
                     "ldr r1, =__stack_top    \n"
                     "mov sp, r1              \n"
                     "ldr r1, =__stack_limit  \n"
                     "cmp r0, r1              \n"
                     "bhi 1f                  \n"
                     "movs r0, #0             \n"
                     "1: mrs r1, ipsr         \n"
                     "bl mg_fault             \n"
                     ".ltorg                  \n");
}

/* `frame` is the frame that the core pushed (r0-r3, r12, lr, pc, xpsr), or NULL if there is
 * none. */
void mg_fault(const uint32_t *frame, uint32_t exception)
{
    static const char *const names[] = {"Exception", "Exception", "NMI",        "HardFault",
                                        "MemManage", "BusFault",  "UsageFault", "SecureFault"};
#if HAS_FAULT_STATUS
    const uint32_t status = *SCB_CFSR;
#else
    const uint32_t status = 0U;
#endif

    mg_report_fault(names[exception < 8U ? exception : 0U], frame != 0 ? frame[6] : 0U,
                    frame != 0 ? frame[5] : 0U, status);
}

/* The vectors of the core's own exceptions. This is a union, because in C a void * cannot portably
 * contain both a pointer and a function. */
typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = __stack_top},     /* initial stack pointer */
    {.handler = Reset_Handler}, /* reset */
    {.handler = Fault_Handler}, /* NMI */
    {.handler = Fault_Handler}, /* HardFault */
    {.handler = Fault_Handler}, /* MemManage */
    {.handler = Fault_Handler}, /* BusFault */
    {.handler = Fault_Handler}, /* UsageFault */
    {.handler = Fault_Handler}, /* SecureFault */
    {.handler = Fault_Handler}, /* reserved */
    {.handler = Fault_Handler}, /* reserved */
    {.handler = Fault_Handler}, /* reserved */
    {.handler = Fault_Handler}, /* SVCall */
    {.handler = Fault_Handler}, /* DebugMonitor */
    {.handler = Fault_Handler}, /* reserved */
    {.handler = Fault_Handler}, /* PendSV */
    {.handler = Fault_Handler}, /* SysTick */
};
