/* Host files and console of a POSIX program. */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int host_open(const char *path, int write)
{
    return write ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : open(path, O_RDONLY);
}

int host_read(int file, void *data, int size)
{
    return (int)read(file, data, (size_t)size);
}

void host_write(int file, const void *data, int size)
{
    if (write(file, data, (size_t)size) != size) {
        abort();
    }
}

void host_close(int file)
{
    close(file);
}

void host_print(const char *text)
{
    (void)fputs(text, stdout);
}

void host_print_decimal(unsigned value)
{
    (void)printf("%u", value);
}

void host_exit(int code)
{
    exit(code);
}
