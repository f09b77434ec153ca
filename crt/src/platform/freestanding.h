/* memcpy, memmove and memset for images without a C library: GCC calls them in any program. */
#ifndef MICROGEN_FREESTANDING_H
#define MICROGEN_FREESTANDING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t nbytes);
void *memmove(void *to, const void *from, size_t nbytes);
void *memset(void *to, int value, size_t nbytes);

#endif
