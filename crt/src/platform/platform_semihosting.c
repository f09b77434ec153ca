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
 * because the compiler's conversion and division would link a soft-double library. Both must be
 * below 2^62, and the denominator above 0. */
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
