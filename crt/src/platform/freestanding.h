/* SPDX-License-Identifier: Apache-2.0 */
/* memcpy, memmove and memset for images without a C library, because GCC may call them in any
 * program. */
#ifndef MICROGEN_FREESTANDING_H
#define MICROGEN_FREESTANDING_H

#include <stddef.h>

#include "microgen/inline.h"

MG_EXTERN void *memcpy(void *to, const void *from, size_t nbytes);
MG_EXTERN void *memmove(void *to, const void *from, size_t nbytes);
MG_EXTERN void *memset(void *to, int value, size_t nbytes);

#endif
