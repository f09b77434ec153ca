/* SPDX-License-Identifier: Apache-2.0 */
/* How the int16 fully connected layers for DSP and MVE store their outputs. */
#ifndef MICROGEN_DENSE_S16_STORE_H
#define MICROGEN_DENSE_S16_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/dense_s16.h"
#include "microgen/inline.h"
#include "microgen/requantize_real_s16.h"

/* Stores output feature o of one row. */
MG_INLINE void mg_dense_s16_store(const mg_dense_s16_scaling *s, int32_t o, int32_t sum,
                                  int16_t *output)
{
    const int32_t channel = (s->per_channel != 0) ? o : 0;
    const int64_t total = sum + ((s->bias != NULL) ? s->bias[o] : 0);
    output[o] =
        mg_clamp_s16(mg_requantize_real_soon(total, s->significand[channel], s->shift[channel]),
                     s->activation_min, s->activation_max);
}

#endif
