/* SPDX-License-Identifier: Apache-2.0 */
/* What softmax and log softmax of float32 share. */
#ifndef MICROGEN_ROW_MAXIMUM_F32_H
#define MICROGEN_ROW_MAXIMUM_F32_H

#include "microgen/inline.h"

/* The largest of n values, limited to finite numbers. NaN is ignored. */
MG_INLINE float mg_row_maximum_f32(const float *values, int32_t n)
{
    float largest = -0x1.fffffep127F;

    for (int32_t i = 0; i < n; i++) {
        if (values[i] > largest) {
            largest = values[i];
        }
    }
    return largest;
}

#endif
