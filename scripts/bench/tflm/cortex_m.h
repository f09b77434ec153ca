// Cortex-M: ticks are those of a SysTick that counts QEMU's virtual time, a nanosecond an
// instruction.

extern "C" {
extern uint32_t __stack;
// Not inlined, because it may save registers of the floating-point unit, which is off at first.
__attribute__((noinline)) void start();
void fault();

void start_core()
{
    *reinterpret_cast<volatile uint32_t *>(0xE000ED88u) |= 0xfu << 20; // the floating-point unit
    asm volatile("dsb\n\tisb");
    start();
}

__attribute__((section(".vectors"), used)) void (*const vectors[])() = {
    reinterpret_cast<void (*)()>(&__stack), start_core, fault, fault, fault, fault, fault};
}

namespace
{

constexpr uint32_t kMask = 0xffffffu; // of a counter of 24 bits
volatile uint32_t *const kSysTick = reinterpret_cast<volatile uint32_t *>(0xE000E010u);

void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 asm("r0") = operation;
    register const void *r1 asm("r1") = argument;
    asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory", "cc");
}

void start_ticks()
{
    kSysTick[1] = kMask;
    kSysTick[2] = 0; // it forgets that it has been at 0
    kSysTick[0] = 5; // on, by the core's clock
}

uint32_t ticks()
{
    return kMask - kSysTick[2];
}

bool ticks_are_over()
{
    return (kSysTick[0] & 0x10000u) != 0;
}

} // namespace
