/* The platform of a board: console, files, timer and exit by semihosting. */
#include "io.h"
#include "semihosting.h"
#include "tvm/runtime/crt/platform.h"

#include <string.h>

static uint64_t timer_start;
static uint32_t timer_running;

int32_t mg_io_open(const char *name, uint32_t length, mg_io_mode mode)
{
    const uintptr_t how = mode == MG_IO_READ ? SEMIHOSTING_OPEN_RB : SEMIHOSTING_OPEN_WB;
    const uintptr_t block[3] = {(uintptr_t)name, how, length};

    return mg_semihosting(SYS_OPEN, block);
}

/* SYS_READ and SYS_WRITE return how many bytes did not go. */
static uint32_t transfer(uint32_t operation, int32_t file, uintptr_t data, uint32_t nbytes)
{
    const uintptr_t block[3] = {(uintptr_t)file, data, nbytes};
    const uint32_t left = (uint32_t)mg_semihosting(operation, block);

    return left <= nbytes ? nbytes - left : 0U;
}

uint32_t mg_io_read(int32_t file, void *data, uint32_t nbytes)
{
    return transfer(SYS_READ, file, (uintptr_t)data, nbytes);
}

uint32_t mg_io_write(int32_t file, const void *data, uint32_t nbytes)
{
    return transfer(SYS_WRITE, file, (uintptr_t)data, nbytes);
}

int32_t mg_io_close(int32_t file)
{
    return mg_semihosting(SYS_CLOSE, &file);
}

void mg_io_print(const char *text)
{
    (void)mg_semihosting(SYS_WRITE0, text);
}

void mg_io_exit(int32_t status)
{
    const uint32_t block[2] = {SEMIHOSTING_APPLICATION_EXIT, (uint32_t)status};

    for (;;) { /* a debugger may let the program go on */
        (void)mg_semihosting(SYS_EXIT_EXTENDED, block);
    }
}

void TVMPlatformAbort(tvm_crt_error_t code)
{
    mg_io_print("microgen: abort=");
    mg_io_print_hex((uint32_t)code);
    mg_io_print("\n");
    mg_io_exit(1);
}

tvm_crt_error_t TVMPlatformInitialize(void)
{
    return kTvmErrorNoError;
}

/* `numerator` / `denominator` as the bits of a double, rounded towards zero, by long division: the
 * compiler's own conversion and division would link a soft-double library. Both must be under 2^62
 * and the denominator over 0. */
static uint64_t quotient(uint64_t numerator, uint64_t denominator)
{
    uint32_t exponent = 1023U; /* the bias */
    uint64_t mantissa = 0U;
    uint32_t i;

    if (numerator == 0U) {
        return 0U;
    }
    for (; numerator < denominator; exponent--) {
        numerator <<= 1;
    }
    for (; numerator - denominator >= denominator; exponent++) {
        denominator <<= 1;
    }
    for (i = 0U; i < 53U; i++) {
        mantissa <<= 1;
        if (numerator >= denominator) {
            numerator -= denominator;
            mantissa |= 1U;
        }
        numerator <<= 1;
    }
    /* The leading one is implied. */
    return (mantissa & 0x000FFFFFFFFFFFFFU) | (uint64_t)exponent << 52;
}

__attribute__((noinline)) tvm_crt_error_t TVMPlatformTimerStart(void)
{
    if (timer_running != 0U || mg_semihosting(SYS_ELAPSED, &timer_start) != 0) {
        return kTvmErrorPlatformTimerBadState;
    }
    timer_running = 1U;
    return kTvmErrorNoError;
}

__attribute__((noinline)) tvm_crt_error_t TVMPlatformTimerStop(double *elapsed_time_seconds)
{
    uint64_t now = 0U;
    uint64_t bits;
    const int32_t frequency = mg_semihosting(SYS_TICKFREQ, 0);

    if (timer_running == 0U || frequency <= 0 || mg_semihosting(SYS_ELAPSED, &now) != 0) {
        return kTvmErrorPlatformTimerBadState;
    }
    timer_running = 0U;
    bits = quotient(now - timer_start, (uint32_t)frequency);
    (void)memcpy(elapsed_time_seconds, &bits, sizeof(bits));
    return kTvmErrorNoError;
}

#if defined(__ZEPHYR__)
/* Zephyr starts the program and owns its stacks. */
uint32_t mg_io_stack_used(void)
{
    return 0U;
}
#endif
