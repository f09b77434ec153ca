/* SPDX-License-Identifier: Apache-2.0 */
/* Signed integers of 1, 2 or 4 bytes in memory, as int32. */
#ifndef MICROGEN_STORED_INT_H
#define MICROGEN_STORED_INT_H

#include "microgen/inline.h"

MG_INLINE int32_t mg_load_int(const void *values, int32_t index, int32_t bytes)
{
    if (bytes == 1) {
        return ((const int8_t *)values)[index];
    }
    return (bytes == 2) ? ((const int16_t *)values)[index] : ((const int32_t *)values)[index];
}

/* Stores the value modulo 2^(8 * bytes). */
MG_INLINE void mg_store_int(void *values, int32_t index, int32_t bytes, int32_t value)
{
    if (bytes == 1) {
        ((int8_t *)values)[index] = (int8_t)value;
    } else if (bytes == 2) {
        ((int16_t *)values)[index] = (int16_t)value;
    } else {
        ((int32_t *)values)[index] = value;
    }
}

/* The greatest integer of that size. The least is -1 minus this. */
MG_INLINE int32_t mg_greatest_int(int32_t bytes)
{
    if (bytes == 1) {
        return INT8_MAX;
    }
    return (bytes == 2) ? INT16_MAX : INT32_MAX;
}

#endif
