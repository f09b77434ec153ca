/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers with the last rows of a tensor that is computed row by row. New rows come at the end, and
 * those before move up to make room for them. */
#ifndef MICROGEN_ROWS_H
#define MICROGEN_ROWS_H

#include <stdint.h>
#include <string.h>

#include "microgen/element.h"
#include "microgen/inline.h"

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

/* Copies bytes to a place that does not begin inside them. It may begin before them and reach into
 * them, because what is read of a block is read before the block is written. */
MG_ONCE void mg_copy_rows(uint8_t *to, const uint8_t *from, int32_t nbytes)
{
    int32_t i = 0;

    if ((((uintptr_t)to | (uintptr_t)from) & 3U) == 0U) {
        for (; i + 16 <= nbytes; i += 16) {
            uint32_t const w0 = mg_word(from + i), w1 = mg_word(from + i + 4);
            uint32_t const w2 = mg_word(from + i + 8), w3 = mg_word(from + i + 12);

            mg_put_word(to + i, w0);
            mg_put_word(to + i + 4, w1);
            mg_put_word(to + i + 8, w2);
            mg_put_word(to + i + 12, w3);
        }
    }
    for (; i < nbytes; ++i) {
        to[i] = from[i];
    }
}

/* Moves a buffer of `nbytes` bytes up by `fresh` bytes, which are then free at its end. */
MG_INLINE void mg_move_rows(uint8_t *rows, int32_t nbytes, int32_t fresh)
{
    mg_copy_rows(rows, rows + fresh, nbytes - fresh);
}

#endif
