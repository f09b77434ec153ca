/* SPDX-License-Identifier: Apache-2.0 */
/* The platform under Zephyr. The console uses printk, and the timer the kernel's clocks. Files and
 * the exit use semihosting if CONFIG_SEMIHOST says that a debugger or an emulator handles it.
 * Otherwise there are no files, and at the end of the program its thread sleeps. */
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"

#include <zephyr/fatal.h>
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#if __has_include(<zephyr/version.h>)
#include <zephyr/version.h>
#else
#include <version.h>
#endif

#if defined(CONFIG_SEMIHOST)
#include "platform/semihosting_io.h"
#elif defined(CONFIG_ARCH_POSIX)
#include <posix_board_if.h>
#endif

/* The exit status of a program that ended in a fault, as on bare metal. */
#define EXIT_FAULT 3

/* Zephyr 3.7 renamed the type of the exception frame. */
#if ZEPHYR_VERSION_CODE >= ZEPHYR_VERSION(3, 7, 0)
typedef struct arch_esf fault_frame;
#else
typedef z_arch_esf_t fault_frame;
#endif

static int64_t start_ticks;
static uint32_t start_cycles;
static bool timer_running;

#if !defined(CONFIG_SEMIHOST)
int32_t mg_io_open(const char *name, uint32_t length, mg_io_mode mode)
{
    ARG_UNUSED(name);
    ARG_UNUSED(length);
    ARG_UNUSED(mode);
    return MG_IO_NONE;
}

uint32_t mg_io_read(int32_t file, void *data, uint32_t nbytes)
{
    ARG_UNUSED(file);
    ARG_UNUSED(data);
    ARG_UNUSED(nbytes);
    return 0U;
}

uint32_t mg_io_write(int32_t file, const void *data, uint32_t nbytes)
{
    ARG_UNUSED(file);
    ARG_UNUSED(data);
    ARG_UNUSED(nbytes);
    return 0U;
}

int32_t mg_io_close(int32_t file)
{
    ARG_UNUSED(file);
    return -1;
}

void mg_io_exit(int32_t status)
{
#if defined(CONFIG_ARCH_POSIX)
    posix_exit(status);
#else
    ARG_UNUSED(status);
#endif
    for (;;) {
        (void)k_sleep(K_FOREVER);
    }
}
#endif

void mg_io_print(const char *text)
{
    printk("%s", text);
}

uint32_t mg_io_stack_used(void)
{
#if defined(CONFIG_INIT_STACKS) && defined(CONFIG_THREAD_STACK_INFO)
    size_t unused;

    if (k_thread_stack_space_get(k_current_get(), &unused) == 0) {
        return (uint32_t)(k_current_get()->stack_info.size - unused);
    }
#endif
    return 0U;
}

/* Replaces Zephyr's handler, which stops forever. This one ends the program, as on bare metal. */
void k_sys_fatal_error_handler(unsigned int reason, const fault_frame *frame)
{
    ARG_UNUSED(frame);
    mg_io_print("microgen: fault=");
    mg_io_print_int((int32_t)reason);
    mg_io_print("\n");
    mg_io_exit(EXIT_FAULT);
}

tvm_crt_error_t TVMPlatformInitialize(void)
{
    return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformTimerStart(void)
{
    if (timer_running) {
        return kTvmErrorPlatformTimerBadState;
    }
    timer_running = true;
    start_ticks = k_uptime_ticks();
    start_cycles = k_cycle_get_32();
    return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformTimerStop(double *elapsed_time_seconds)
{
    const uint32_t fine = k_cycle_get_32() - start_cycles;
    const uint64_t coarse = k_ticks_to_cyc_near64((uint64_t)(k_uptime_ticks() - start_ticks));
    int64_t cycles;

    if (!timer_running) {
        return kTvmErrorPlatformTimerBadState;
    }
    timer_running = false;
    /* The cycle counter may have wrapped. The ticks show how often. */
    cycles = (int64_t)coarse + (int32_t)(fine - (uint32_t)coarse);
    *elapsed_time_seconds = (double)cycles / sys_clock_hw_cycles_per_sec();
    return kTvmErrorNoError;
}
