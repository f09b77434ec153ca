/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/freestanding.h"

#include <stdint.h>

/* Without this, compilers recognise these loops as memcpy and memset, and call them. */
#if defined(__clang__)
#define NO_LIBCALL __attribute__((no_builtin("memcpy", "memmove", "memset")))
#elif defined(__GNUC__)
#define NO_LIBCALL __attribute__((optimize("no-tree-loop-distribute-patterns")))
#else
#define NO_LIBCALL
#endif

typedef uint32_t __attribute__((may_alias)) word;

NO_LIBCALL void *memcpy(void *restrict to, const void *restrict from, size_t nbytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((((uintptr_t)to | (uintptr_t)from) & 3U) == 0U) {
        for (; nbytes >= 4U; nbytes -= 4U, t += 4, f += 4) {
            *(word *)(void *)t = *(const word *)(const void *)f;
        }
    }
    for (; nbytes > 0U; nbytes--) {
        *t++ = *f++;
    }
    return to;
}

NO_LIBCALL void *memmove(void *to, const void *from, size_t nbytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    const uintptr_t up = (uintptr_t)to - (uintptr_t)from;
    const uintptr_t down = (uintptr_t)from - (uintptr_t)to;

    if (up >= nbytes && down >= nbytes) { /* the buffers do not overlap: copy words */
        return memcpy(to, from, nbytes);
    }
    if (down < nbytes) {
        for (; nbytes > 0U; nbytes--) {
            *t++ = *f++;
        }
    }
    for (; nbytes > 0U; nbytes--) {
        t[nbytes - 1U] = f[nbytes - 1U];
    }
    return to;
}

NO_LIBCALL void *memset(void *to, int value, size_t nbytes)
{
    uint8_t *t = to;
    const uint32_t pattern = (uint8_t)value * 0x01010101U;

    for (; nbytes > 0U && ((uintptr_t)t & 3U) != 0U; nbytes--) {
        *t++ = (uint8_t)value;
    }
    for (; nbytes >= 4U; nbytes -= 4U, t += 4) {
        *(word *)(void *)t = pattern;
    }
    for (; nbytes > 0U; nbytes--) {
        *t++ = (uint8_t)value;
    }
    return to;
}
