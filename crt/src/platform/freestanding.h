/* SPDX-License-Identifier: Apache-2.0 */
/* memcpy, memmove and memset for images without a C library, because GCC may call them in any
 * program. */
#ifndef MICROGEN_FREESTANDING_H
#define MICROGEN_FREESTANDING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memcpy(void *to, const void *from, size_t nbytes);
void *memmove(void *to, const void *from, size_t nbytes);
void *memset(void *to, int value, size_t nbytes);

#ifdef __cplusplus
}
#endif

#endif
