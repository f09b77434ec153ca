/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up code for a RISC-V hart, RV32 in machine mode with physical memory protection: reset,
 * traps, stack paint.
 *
 * Needs the symbols of start.h, __flash_start and __flash_end from the linker script, and .vectors
 * at the address where the core starts. */
#include "platform/start.h"

void Reset_Handler(void);
void Trap_Handler(void);
void mg_fault(uint32_t pc, uint32_t lr, uint32_t cause) __attribute__((noreturn));

/* In assembly, because there is no stack yet, and this code paints it. */
__attribute__((naked, section(".vectors"))) void Reset_Handler(void)
{
    __asm__ volatile("la t0, Trap_Handler      \n"
                     "csrw mtvec, t0           \n"
#if defined(__riscv_flen)
                     /* mstatus.FS: the FPU is on (Privileged Architecture, 3.1.6.6). */
                     "li t0, 0x2000            \n"
                     "csrs mstatus, t0         \n"
#endif
                     /* Physical memory protection: nothing can write to flash, even if the flash is
                      * actually RAM below the stack. Entry 1: locked, read and execute, from
                      * pmpaddr0 up to pmpaddr1 (Privileged Architecture, 3.7). */
                     "la t0, __flash_start     \n"
                     "srli t0, t0, 2           \n"
                     "csrw pmpaddr0, t0        \n"
                     "la t0, __flash_end       \n"
                     "srli t0, t0, 2           \n"
                     "csrw pmpaddr1, t0        \n"
                     "li t0, 0x8D00            \n"
                     "csrw pmpcfg0, t0         \n"
                     "la t0, __stack_limit     \n"
                     "la sp, __stack_top       \n"
                     "li t1, 0xC5C5C5C5        \n"
                     "1: sw t1, 0(t0)          \n"
                     "addi t0, t0, 4           \n"
                     "bltu t0, sp, 1b          \n"
                     "call mg_start            \n");
}

/* Nothing enables an interrupt, so every trap is a fault. Nothing returns from a fault, so the
 * report uses the stack from its top, which works even if the stack is used up. */
__attribute__((naked, aligned(4))) void Trap_Handler(void)
{
    __asm__ volatile("csrr a0, mepc           \n"
                     "mv a1, ra               \n"
                     "csrr a2, mcause         \n"
                     "la sp, __stack_top      \n"
                     "call mg_fault           \n");
}

void mg_fault(uint32_t pc, uint32_t lr, uint32_t cause)
{
    /* By mcause: Privileged Architecture, table 3.6. */
    static const char *const names[] = {"InstructionAddressMisaligned",
                                        "InstructionAccessFault",
                                        "IllegalInstruction",
                                        "Breakpoint",
                                        "LoadAddressMisaligned",
                                        "LoadAccessFault",
                                        "StoreAddressMisaligned",
                                        "StoreAccessFault",
                                        "Exception"};

    mg_report_fault(names[cause < 8U ? cause : 8U], pc, lr, 0U);
}
