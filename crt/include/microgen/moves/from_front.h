/* SPDX-License-Identifier: Apache-2.0 */
/* Indices of 4 or 8 bytes that may count from the end of an axis. */
#ifndef MICROGEN_FROM_FRONT_H
#define MICROGEN_FROM_FRONT_H

#include <string.h>

#include "microgen/element.h"

/* indices[at], counted from the front of an axis of `size` elements; -1 if it is not from -size to
 * size - 1. */
MG_INLINE int32_t mg_from_front(const void *indices, int32_t at, int32_t index_bytes, int32_t size)
{
    int32_t index;

    if (index_bytes == 8) {
        int64_t wide;
        (void)memcpy(&wide, MG_ALIGNED(mg_element(indices, at, 8), 4), 8);
        index = (wide < -(int64_t)size || wide >= size) ? size : (int32_t)wide;
    } else {
        (void)memcpy(&index, MG_ALIGNED(mg_element(indices, at, 4), 4), 4);
    }
    if (index >= size || index < -size) {
        return -1;
    }
    return (index < 0) ? index + size : index;
}

#endif
