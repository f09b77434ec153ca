/* Vectors, start-up and semihosting for a Cortex-M. */
#include "console.h"

#define SYS_WRITE0 4
#define SYS_EXIT 24
#define STOPPED_EXIT 0x20026

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];
int main(void);
void boot(void);

static void semihost(int32_t operation, const void *argument)
{
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void hang(void)
{
    for (;;) {
    }
}

void boot(void)
{
    const uint32_t *from = data_load;

#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88 |= 0xF00000; /* the FPU */
    __asm__ volatile("dsb\n isb");
#endif
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    (void)main();
    hang();
}

static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors __attribute__((section(".isr_vector"), used)) = {
    stack_top,
    {boot, hang, hang, hang, hang, hang},
};

void console_print(int32_t number)
{
    char text[] = "-0000 ";
    int32_t rest = number < 0 ? -number : number;

    for (int i = 4; i > 0; i--) {
        text[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    text[0] = number < 0 ? '-' : ' ';
    semihost(SYS_WRITE0, text);
}

void console_end(int32_t status)
{
    semihost(SYS_WRITE0, status == 0 ? "status 0\n" : "failed\n");
    semihost(SYS_EXIT, (const void *)STOPPED_EXIT);
}
