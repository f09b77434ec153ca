// RISC-V: a tick is a retired instruction.

extern "C" {
void start();
void fault();
}

asm(".option arch, +zicsr\n"
    ".section .vectors, \"ax\"\n"
    "la sp, __stack\n"
    "la t0, fault\n"
    "csrw mtvec, t0\n"
    "j start\n"
    ".text");

namespace
{

constexpr uint32_t kMask = 0xffffffffu;

void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t a0 asm("a0") = operation;
    register const void *a1 asm("a1") = argument;
    asm volatile(".balign 16\n\t.option push\n\t.option norvc\n\tslli x0, x0, 0x1f\n\tebreak\n\t"
                 "srai x0, x0, 7\n\t.option pop"
                 : "+r"(a0)
                 : "r"(a1)
                 : "memory");
}

uint32_t ticks()
{
    uint32_t count;
    asm volatile("csrr %0, minstret" : "=r"(count));
    return count;
}

uint32_t high_ticks()
{
    uint32_t count;
    asm volatile("csrr %0, minstreth" : "=r"(count));
    return count;
}

uint64_t started;

void start_ticks()
{
    started = (static_cast<uint64_t>(high_ticks()) << 32) | ticks();
}

bool ticks_are_over()
{
    const uint64_t now = (static_cast<uint64_t>(high_ticks()) << 32) | ticks();
    return now - started > kMask;
}

} // namespace
