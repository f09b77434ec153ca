/* SPDX-License-Identifier: Apache-2.0 */
/* The platform of a POSIX host: files, standard output and the monotonic clock. */
#define _POSIX_C_SOURCE 200809L

#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct timespec timer_start;
static int timer_running;

int32_t mg_io_open(const char *name, uint32_t length, mg_io_mode mode)
{
    (void)length;
    return mode == MG_IO_READ ? open(name, O_RDONLY)
                              : open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

uint32_t mg_io_read(int32_t file, void *data, uint32_t nbytes)
{
    uint32_t done = 0U;

    while (done < nbytes) {
        const ssize_t n = read(file, (char *)data + done, nbytes - done);
        if (n <= 0) {
            break;
        }
        done += (uint32_t)n;
    }
    return done;
}

uint32_t mg_io_write(int32_t file, const void *data, uint32_t nbytes)
{
    uint32_t done = 0U;

    while (done < nbytes) {
        const ssize_t n = write(file, (const char *)data + done, nbytes - done);
        if (n <= 0) {
            break;
        }
        done += (uint32_t)n;
    }
    return done;
}

int32_t mg_io_close(int32_t file)
{
    return close(file);
}

void mg_io_print(const char *text)
{
    (void)mg_io_write(STDOUT_FILENO, text, (uint32_t)strlen(text));
}

void mg_io_exit(int32_t status)
{
    exit(status);
}

uint32_t mg_io_stack_used(void)
{
    return 0U;
}

tvm_crt_error_t TVMPlatformInitialize(void)
{
    return kTvmErrorNoError;
}

__attribute__((noinline)) tvm_crt_error_t TVMPlatformTimerStart(void)
{
    if (timer_running != 0 || clock_gettime(CLOCK_MONOTONIC, &timer_start) != 0) {
        return kTvmErrorPlatformTimerBadState;
    }
    timer_running = 1;
    return kTvmErrorNoError;
}

__attribute__((noinline)) tvm_crt_error_t TVMPlatformTimerStop(double *elapsed_time_seconds)
{
    struct timespec now;

    if (timer_running == 0 || clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return kTvmErrorPlatformTimerBadState;
    }
    timer_running = 0;
    *elapsed_time_seconds = (double)(now.tv_sec - timer_start.tv_sec) +
                            (double)(now.tv_nsec - timer_start.tv_nsec) * 1e-9;
    return kTvmErrorNoError;
}
