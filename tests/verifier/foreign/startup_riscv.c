/* Start-up, and a small C library with a heap and a recursive printf. */
#include "host.h"

#include <stdarg.h>

extern char _heap_start[], _heap_end[];
int main(void);
void boot(void);
void on_trap(void);
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);

__attribute__((naked, section(".isr_vector"))) void boot(void)
{
    __asm__ volatile("la t0, on_trap\n"
                     "csrw mtvec, t0\n"
                     "la sp, _estack\n"
                     "call main\n"
                     "1: j 1b\n");
}

__attribute__((aligned(4))) void on_trap(void)
{
    for (;;) {
    }
}

void *malloc(size_t size)
{
    static char *next;
    char *const block = next ? next : _heap_start;

    if (size > (size_t)(_heap_end - block)) {
        return 0;
    }
    next = block + (size + 15) / 16 * 16;
    return block;
}

void free(void *block)
{
    (void)block;
}

static volatile char console;

static void print_digits(unsigned value)
{
    if (value > 9) {
        print_digits(value / 10);
    }
    console = (char)('0' + value % 10);
}

int printf(const char *format, ...)
{
    va_list list;
    int count = 0;

    va_start(list, format);
    for (; *format; format++, count++) {
        if (*format != '%') {
            console = *format;
            continue;
        }
        format++;
        print_digits(*format == 'f' ? (unsigned)va_arg(list, double) : va_arg(list, unsigned));
    }
    va_end(list);
    return count;
}

void *memcpy(void *to, const void *from, size_t size)
{
    volatile char *out = to;
    const char *in = from;

    while (size-- > 0) {
        *out++ = *in++;
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    volatile char *out = to;

    while (size-- > 0) {
        *out++ = (char)value;
    }
    return to;
}
