/* SPDX-License-Identifier: Apache-2.0 */
/* Loops and parameters of the kernels that find where an extreme is. */
#ifndef MICROGEN_ARG_EXTREME_H
#define MICROGEN_ARG_EXTREME_H

#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

typedef struct {
    int32_t outer_size;   /* elements of the axes before it, multiplied */
    int32_t axis_size;    /* values that are compared: at least 1 */
    int32_t inner_size;   /* elements of the axes after it, multiplied */
    int32_t is_minimum;   /* 1: the least value; 0: the greatest */
    int32_t output_bytes; /* 4: positions are int32; 8: int64 */
} mg_arg_extreme_params;

/* output[index] = position. */
MG_INLINE void mg_arg_extreme_store(const mg_arg_extreme_params *p, void *output, int32_t index,
                                    int32_t position)
{
    const int64_t wide = position;

    if (p->output_bytes == 8) {
        memcpy((uint8_t *)output + index * 8, &wide, 8);
    } else {
        memcpy((uint8_t *)output + index * 4, &position, 4);
    }
}

/* Writes the position of the extreme along the middle axis of input
 * [outer_size][axis_size][inner_size] of `type` into output [outer_size][inner_size]: of equal
 * values the first. If NaN comes first, its position is the result; any other NaN is ignored.
 *
 * A macro, because it is for any type. */
#define MG_ARG_EXTREME(type, p, input, output)                                                     \
    do {                                                                                           \
        for (int32_t outer_ = 0; outer_ < (p)->outer_size; outer_++) {                             \
            for (int32_t inner_ = 0; inner_ < (p)->inner_size; inner_++) {                         \
                const type *values_ =                                                              \
                    &(input)[outer_ * (p)->axis_size * (p)->inner_size + inner_];                  \
                type best_ = values_[0];                                                           \
                int32_t position_ = 0;                                                             \
                for (int32_t i_ = 1; i_ < (p)->axis_size; i_++) {                                  \
                    const type value_ = values_[i_ * (p)->inner_size];                             \
                    if (((p)->is_minimum != 0) ? (value_ < best_) : (value_ > best_)) {            \
                        best_ = value_;                                                            \
                        position_ = i_;                                                            \
                    }                                                                              \
                }                                                                                  \
                mg_arg_extreme_store((p), (output), outer_ *(p)->inner_size + inner_, position_);  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
