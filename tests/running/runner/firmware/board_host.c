/* Host files through semihosting: Arm (Arm IHI/DUI 0471: operation in r0, block in r1, BKPT 0xAB)
 * and RISC-V (the same in a0, a1; RISC-V Semihosting); vectors, reset and fault handlers. */
#include "host.h"

#include <stdint.h>

extern uint8_t stack_top[];
int main(void);
void on_reset(void);
#ifdef __riscv
void on_trap(void);
#endif

static int32_t semihost(int32_t operation, const void *block)
{
#ifdef __riscv
    register int32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = block;
    __asm__ volatile(".option push\n .option norvc\n .balign 16\n"
                     "slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
#else
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

int host_open(const char *path, int write)
{
    int32_t length = 0;
    while (path[length]) {
        length++;
    }
    int32_t block[3] = {(int32_t)path, write ? 5 : 1, length};
    return semihost(0x01, block);
}

int host_read(int file, void *data, int size)
{
    int32_t block[3] = {file, (int32_t)data, size};
    return size - semihost(0x06, block);
}

void host_write(int file, const void *data, int size)
{
    int32_t block[3] = {file, (int32_t)data, size};
    semihost(0x05, block);
}

void host_close(int file)
{
    semihost(0x02, &file);
}

void host_print(const char *text)
{
    semihost(0x04, text);
}

void host_system(const char *program)
{
    int32_t length = 0;
    while (program[length]) {
        length++;
    }
    int32_t block[2] = {(int32_t)program, length};
    semihost(0x12, block);
}

void host_exit(int code)
{
    int32_t block[2] = {0x20026, code};
    semihost(0x20, block);
    for (;;) {
    }
}

static void print_digits(unsigned value, unsigned base)
{
    char text[12];
    char *at = &text[11];
    *at = 0;
    do {
        *--at = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    host_print(at);
}

void host_print_decimal(unsigned value)
{
    print_digits(value, 10);
}

static void host_print_hex(unsigned value)
{
    host_print("0x");
    print_digits(value, 16);
}

#ifdef __riscv

void report_trap(uint32_t pc, uint32_t caller);
void report_trap(uint32_t pc, uint32_t caller)
{
    host_print("microgen: fault=IllegalInstruction pc=");
    host_print_hex(pc);
    host_print(" lr=");
    host_print_hex(caller);
    host_print(" cfsr=0x0\n");
    host_exit(3);
}

__attribute__((naked, used, aligned(4))) void on_trap(void)
{
    __asm__ volatile("csrr a0, mepc\n mv a1, ra\n la sp, stack_top\n j report_trap");
}

void finish(void);
void finish(void)
{
    host_exit(main() != 0);
}

__attribute__((naked, section(".vectors"))) void on_reset(void)
{
    __asm__ volatile("la sp, stack_top\n la t0, on_trap\n csrw mtvec, t0\n j finish");
}

#else

/* The frame that the core stacked: r0-r3, r12, lr, pc, xpsr. */
void report_fault(const uint32_t *frame);
void report_fault(const uint32_t *frame)
{
    host_print("microgen: fault=HardFault pc=");
    host_print_hex(frame[6]);
    host_print(" lr=");
    host_print_hex(frame[5]);
    host_print(" cfsr=");
    host_print_hex(*(volatile uint32_t *)0xE000ED28);
    host_print("\n");
    host_exit(3);
}

__attribute__((naked)) static void on_fault(void)
{
    __asm__ volatile("mrs r0, msp\n b report_fault");
}

void on_reset(void)
{
    host_exit(main() != 0);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[4])(void) = {
    (void (*)(void))(uintptr_t)stack_top,
    on_reset,
    on_fault,
    on_fault,
};

#endif
