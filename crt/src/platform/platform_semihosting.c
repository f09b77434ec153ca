/* SPDX-License-Identifier: Apache-2.0 */
/* The platform of a board: console, files, timer and exit by semihosting. */
#include "platform/io.h"
#include "platform/semihosting.h"
#include "platform/semihosting_io.h"
#include "tvm/runtime/crt/platform.h"

#include <string.h>

static uint64_t timer_start;
static uint32_t timer_running;

void mg_io_print(const char *text)
{
    (void)mg_semihosting(SYS_WRITE0, text);
}

tvm_crt_error_t TVMPlatformInitialize(void)
{
    return kTvmErrorNoError;
}

/* `numerator` / `denominator` as the bits of a double, rounded towards zero, by long division,
 * because the compiler's conversion and division would link a soft-double library. The denominator
 * is 1 to 2^31 - 1, so twice a rest fits 32 bits. */
static uint64_t quotient(uint64_t numerator, uint32_t denominator)
{
    uint32_t exponent = 1023U + 52U + 64U; /* with the bias, of a mantissa of 53 bits */
    uint64_t mantissa = 0U;
    uint32_t rest = 0U;

    if (numerator == 0U) {
        return 0U;
    }
    do {
        rest = rest << 1 | (uint32_t)(numerator >> 63);
        numerator <<= 1;
        mantissa <<= 1;
        exponent--;
        if (rest >= denominator) {
            rest -= denominator;
            mantissa |= 1U;
        }
    } while (mantissa >> 52 == 0U);
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
