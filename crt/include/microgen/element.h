/* SPDX-License-Identifier: Apache-2.0 */
/* Moves elements of 1, 2, 4 or 8 bytes of any type. Addresses must be multiples of the element
 * size, or of 4 for elements of 8 bytes. */
#ifndef MICROGEN_ELEMENT_H
#define MICROGEN_ELEMENT_H

#include <stddef.h>
#include <string.h>

#include "microgen/inline.h"

/* Tells the compiler the alignment, so that copying a few bytes is one load and one store even on
 * CPUs without unaligned access. */
#if defined(__GNUC__)
#define MG_ALIGNED(pointer, bytes) __builtin_assume_aligned((pointer), (bytes))
#else
#define MG_ALIGNED(pointer, bytes) (pointer)
#endif

/* The element at `index`. */
MG_INLINE const void *mg_element(const void *elements, int32_t index, int32_t element_bytes)
{
    return (const uint8_t *)elements + index * element_bytes;
}

/* The element at `index`, writable. */
MG_INLINE void *mg_element_of(void *elements, int32_t index, int32_t element_bytes)
{
    return (uint8_t *)elements + index * element_bytes;
}

MG_INLINE void mg_move_element(void *to, const void *from, int32_t element_bytes)
{
    if (element_bytes == 1) {
        *(uint8_t *)to = *(const uint8_t *)from;
    } else if (element_bytes == 2) {
        (void)memcpy(MG_ALIGNED(to, 2), MG_ALIGNED(from, 2), 2);
    } else if (element_bytes == 4) {
        (void)memcpy(MG_ALIGNED(to, 4), MG_ALIGNED(from, 4), 4);
    } else {
        (void)memcpy(MG_ALIGNED(to, 4), MG_ALIGNED(from, 4), 8);
    }
}

/* Copies contiguous bytes, which are one element or several. */
MG_INLINE void mg_move_bytes(void *to, const void *from, int32_t bytes, int32_t element_bytes)
{
    if (bytes == element_bytes) {
        mg_move_element(to, from, element_bytes);
    } else if (element_bytes >= 4) {
        (void)memcpy(MG_ALIGNED(to, 4), MG_ALIGNED(from, 4), (size_t)bytes);
    } else {
        (void)memcpy(to, from, (size_t)bytes);
    }
}

/* mg_move_steps for a constant size, which is thus selected once and not for each element. */
MG_INLINE void mg_move_steps_of(void *to, const void *from, int32_t start, int32_t step,
                                int32_t count, int32_t element_bytes)
{
    for (int32_t n = 0; n < count; n++) {
        mg_move_element(mg_element_of(to, n, element_bytes),
                        mg_element(from, start + n * step, element_bytes), element_bytes);
    }
}

/* Copies element start + n * step of `from` to element n of `to`, for n from 0 to count - 1. */
MG_INLINE void mg_move_steps(void *to, const void *from, int32_t start, int32_t step, int32_t count,
                             int32_t element_bytes)
{
    if (element_bytes == 1) {
        mg_move_steps_of(to, from, start, step, count, 1);
    } else if (element_bytes == 2) {
        mg_move_steps_of(to, from, start, step, count, 2);
    } else if (element_bytes == 4) {
        mg_move_steps_of(to, from, start, step, count, 4);
    } else {
        mg_move_steps_of(to, from, start, step, count, 8);
    }
}

#endif
