/* What the application uses of its C library. */
#ifndef HOST_H_
#define HOST_H_
#include <stddef.h>
#include <stdint.h>

#ifdef HOST_HAS_LIBC
#include <stdio.h>
#include <stdlib.h>
#else
void *malloc(size_t size);
void free(void *block);
int printf(const char *format, ...);
#endif
#endif
