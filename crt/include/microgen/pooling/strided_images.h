/* SPDX-License-Identifier: Apache-2.0 */
/* Images in memory of any layout. */
#ifndef MICROGEN_STRIDED_IMAGES_H
#define MICROGEN_STRIDED_IMAGES_H

#include <stdint.h>

/* Elements between neighbouring indices of the axes N, C, H and W, or O, I, H and W of a weight. */
typedef struct {
    int32_t batch;
    int32_t channel;
    int32_t row;
    int32_t column;
} mg_image_steps;

#endif
