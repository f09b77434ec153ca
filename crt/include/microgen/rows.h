/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers with the last rows of a tensor that is computed row by row. New rows come at the end, and
 * those before move up to make room for them. */
#ifndef MICROGEN_ROWS_H
#define MICROGEN_ROWS_H

#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

/* Moves a buffer of `nbytes` bytes up by `fresh` bytes, which is where the next rows will be. Pieces
 * are so small that memcpy never reads what it writes. */
MG_ONCE void mg_move_rows(uint8_t *rows, int32_t nbytes, int32_t fresh)
{
    int32_t kept = nbytes - fresh;

    while (kept > 0) {
        int32_t const piece = kept < fresh ? kept : fresh;

        (void)memcpy(rows, rows + fresh, (uint32_t)piece);
        rows += piece;
        kept -= piece;
    }
}

#endif
