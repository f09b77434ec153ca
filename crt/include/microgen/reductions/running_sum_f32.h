/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of float32 values with an error that does not grow with the number of values. */
#ifndef MICROGEN_RUNNING_SUM_F32_H
#define MICROGEN_RUNNING_SUM_F32_H

#include "microgen/arithmetic/float_math.h"

/* A sum and the part lost to rounding (Neumaier's method). Their total is within 1 ULP of the exact
 * sum for up to a few thousand values of the same sign. */
typedef struct {
    float sum;
    float lost;
} mg_running_sum;

MG_INLINE mg_running_sum mg_running_sum_plus(mg_running_sum s, float x)
{
    mg_running_sum next = {s.sum + x, s.lost};

    /* comparing magnitudes as integers avoids soft-float calls */
    if (mg_magnitude_of_f32(s.sum) >= mg_magnitude_of_f32(x)) {
        next.lost += (s.sum - next.sum) + x;
    } else {
        next.lost += (x - next.sum) + s.sum;
    }
    return next;
}

/* The total. It is infinite or NaN if the plain sum is. */
MG_INLINE float mg_running_sum_total(mg_running_sum s)
{
    return (mg_magnitude_of_f32(s.sum) < MG_F32_INFINITY) ? s.sum + s.lost : s.sum;
}

#endif
