/* SPDX-License-Identifier: Apache-2.0 */
/* Line buffers: the last rows of a tensor that is computed row by row. New rows come at the end,
 * and those before move up to make room for them. */
#ifndef MICROGEN_ROWS_H
#define MICROGEN_ROWS_H

#include <string.h>

#include "microgen/element.h"

MG_INLINE uint32_t mg_word(const uint8_t *from)
{
    uint32_t word;

    memcpy(&word, MG_ALIGNED(from, 4), sizeof(word));
    return word;
}

MG_INLINE void mg_put_word(uint8_t *to, uint32_t word)
{
    memcpy(MG_ALIGNED(to, 4), &word, sizeof(word));
}

#if defined(__thumb2__) && defined(__GNUC__)

/* Copies whole blocks of eight words between places that are aligned to 4 bytes, and returns the
 * bytes that this took. Compilers do not load eight registers with one instruction by themselves.
 */
MG_INLINE int32_t mg_copy_blocks(uint8_t *to, const uint8_t *from, int32_t nbytes)
{
    const int32_t whole = nbytes - nbytes % 32;
    const uint8_t *const end = from + whole;

    while (from != end) {
        __asm__ volatile("ldm %[from]!, {r3-r6, r8, r10, r12, lr}\n"
                         "stm %[to]!, {r3-r6, r8, r10, r12, lr}"
                         : [from] "+r"(from), [to] "+r"(to)
                         :
                         : "r3", "r4", "r5", "r6", "r8", "r10", "r12", "lr", "memory");
    }
    return whole;
}

#else

/* Copies whole blocks of four words between places that are aligned to 4 bytes, and returns the
 * bytes that this took. */
MG_INLINE int32_t mg_copy_blocks(uint8_t *to, const uint8_t *from, int32_t nbytes)
{
    const int32_t whole = nbytes - nbytes % 16;

    for (int32_t i = 0; i < whole; i += 16) {
        uint32_t const w0 = mg_word(from + i), w1 = mg_word(from + i + 4);
        uint32_t const w2 = mg_word(from + i + 8), w3 = mg_word(from + i + 12);

        mg_put_word(to + i, w0);
        mg_put_word(to + i + 4, w1);
        mg_put_word(to + i + 8, w2);
        mg_put_word(to + i + 12, w3);
    }
    return whole;
}

#endif

/* Copies bytes to a place that does not begin inside them. It may begin before them and reach into
 * them, because what is read of a block is read before the block is written. */
MG_ONCE void mg_copy_rows(uint8_t *to, const uint8_t *from, int32_t nbytes)
{
    const int is_aligned = (((uintptr_t)to | (uintptr_t)from) & 3U) == 0U;
    int32_t i = is_aligned ? mg_copy_blocks(to, from, nbytes) : 0;

#if defined(__ARM_FEATURE_UNALIGNED)
    for (; i + 4 <= nbytes; i += 4) {
        uint32_t word;

        memcpy(&word, from + i, sizeof(word));
        memcpy(to + i, &word, sizeof(word));
    }
#endif
    for (; i < nbytes; ++i) {
        to[i] = from[i];
    }
}

/* A line buffer: the last rows of a tensor. `rows` are its `nbytes` bytes. Each time, the last
 * `fresh` bytes are new rows. Rows that the tensor does not have are bytes of `padding`. */
typedef struct {
    uint8_t *rows;
    int32_t nbytes;
    int32_t fresh;
    uint8_t padding;
} mg_line_buffer;

/* The place of the next new rows. */
MG_INLINE uint8_t *mg_fresh_lines(const mg_line_buffer *lines)
{
    return &lines->rows[lines->nbytes - lines->fresh];
}

/* Moves the rows up, so that the place of the next new rows is free. */
MG_INLINE void mg_advance_lines(const mg_line_buffer *lines)
{
    mg_copy_rows(lines->rows, &lines->rows[lines->fresh], lines->nbytes - lines->fresh);
}

/* Makes the last `nbytes` bytes padding. */
MG_INLINE void mg_pad_lines(const mg_line_buffer *lines, int32_t nbytes)
{
    (void)memset(&lines->rows[lines->nbytes - nbytes], lines->padding, (size_t)nbytes);
}

#endif
