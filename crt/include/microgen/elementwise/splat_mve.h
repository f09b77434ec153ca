/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of operands that may be broadcast along the row, for the M-profile vector extension. */
#ifndef MICROGEN_SPLAT_MVE_H
#define MICROGEN_SPLAT_MVE_H

#include "microgen/blocks/mve.h"

#if defined(__ARM_FEATURE_MVE)

#define MG_SPLAT_MVE 8 /* copies of a value that is broadcast */

/* Pointers that assembly moves on: to two operands and to the output. */
#define MG_PAIR_POINTERS_MVE(lhs, rhs, output)                                                     \
    [lhs] "+l"(lhs), [rhs] "+l"(rhs), [output] "+l"(output)

/* The values of a row of `size`: its own, or copies of the only one in `splat`. Along a row of more
 * than one element at most one operand is broadcast, so two operands need one array. */
MG_INLINE const int8_t *mg_splat_mve(const int8_t *row, int32_t step, int32_t size,
                                     int8_t splat[MG_SPLAT_MVE])
{
    if (step != 0 || size == 1) {
        return row;
    }
    (void)mg_mve_fill(splat, row[0], MG_SPLAT_MVE);
    return splat;
}

#endif

#endif
