/* Host files through Arm semihosting (Arm IHI/DUI 0471: operation in r0, block in r1, BKPT 0xAB);
 * vectors, reset and fault handlers. */
#include "host.h"

#include <stdint.h>

extern uint8_t stack_top[];
int main(void);

static int32_t semihost(int32_t operation, const void *block)
{
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
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

void on_reset(void);
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
