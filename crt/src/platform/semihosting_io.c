/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/semihosting_io.h"

#include "platform/io.h"
#include "platform/semihosting.h"

int32_t mg_io_open(const char *name, uint32_t length, mg_io_mode mode)
{
    const uintptr_t how = mode == MG_IO_READ ? SEMIHOSTING_OPEN_RB : SEMIHOSTING_OPEN_WB;
    const uintptr_t block[3] = {(uintptr_t)name, how, length};

    return mg_semihosting(SYS_OPEN, block);
}

/* SYS_READ and SYS_WRITE return the number of bytes not transferred. Not inlined, because two
 * copies would be larger. */
__attribute__((noinline)) static uint32_t transfer(int32_t file, uintptr_t data, uint32_t nbytes,
                                                   uint32_t operation)
{
    const uintptr_t block[3] = {(uintptr_t)file, data, nbytes};
    const uint32_t left = (uint32_t)mg_semihosting(operation, block);

    return left <= nbytes ? nbytes - left : 0U;
}

uint32_t mg_io_read(int32_t file, void *data, uint32_t nbytes)
{
    return transfer(file, (uintptr_t)data, nbytes, SYS_READ);
}

uint32_t mg_io_write(int32_t file, const void *data, uint32_t nbytes)
{
    return transfer(file, (uintptr_t)data, nbytes, SYS_WRITE);
}

int32_t mg_io_close(int32_t file)
{
    return mg_semihosting(SYS_CLOSE, &file);
}

void mg_io_exit(int32_t status)
{
    const uint32_t block[2] = {SEMIHOSTING_APPLICATION_EXIT, (uint32_t)status};

    for (;;) { /* a debugger may continue the program */
        (void)mg_semihosting(SYS_EXIT_EXTENDED, block);
    }
}
