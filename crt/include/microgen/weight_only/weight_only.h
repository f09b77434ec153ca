/* SPDX-License-Identifier: Apache-2.0 */
/* What float32 layers with stored weights share. Weights are int8, or 4 bits as
 * microgen/blocks/int4.h describes them, and have one scale for each output channel, or one for
 * all: a weight is (float)stored * scale. The Python twin is microgen/graph/ops/weight_only. */
#ifndef MICROGEN_WEIGHT_ONLY_H
#define MICROGEN_WEIGHT_ONLY_H

#include <stddef.h>

#include "microgen/blocks/int4.h"
#include "microgen/inline.h"

/* How weights are stored, a constant of each body. */
#define MG_WEIGHTS_S8 0
#define MG_WEIGHTS_S4 1

/* The arguments of layers, before those that only some have. */
#define MG_ARGUMENTS_WEIGHT_ONLY(body)                                                             \
    const body##_params *p, const float *input, const void *weight, const float *bias,             \
        const float *scale, float *output

/* Declares and defines the kernel `name` with the body `body`, whose constants follow. */
#define MG_PROTOTYPE_WEIGHT_ONLY(name, body) void name(MG_ARGUMENTS_WEIGHT_ONLY(body))
#define MG_KERNEL_WEIGHT_ONLY(name, body, ...)                                                     \
    MG_PROTOTYPE_WEIGHT_ONLY(name, body);                                                          \
    MG_PROTOTYPE_WEIGHT_ONLY(name, body)                                                           \
    {                                                                                              \
        body##_body(p, input, weight, bias, scale, output, __VA_ARGS__);                           \
    }

/* The same for bodies that use scratch memory, which is aligned for floats. */
#define MG_PROTOTYPE_WEIGHT_ONLY_SCRATCH(name, body)                                               \
    void name(MG_ARGUMENTS_WEIGHT_ONLY(body), uint8_t *scratch)
#define MG_KERNEL_WEIGHT_ONLY_SCRATCH(name, body, ...)                                             \
    MG_PROTOTYPE_WEIGHT_ONLY_SCRATCH(name, body);                                                  \
    MG_PROTOTYPE_WEIGHT_ONLY_SCRATCH(name, body)                                                   \
    {                                                                                              \
        body##_body(p, input, weight, bias, scale, output, scratch, __VA_ARGS__);                  \
    }

/* The bytes of a row of n weights. */
MG_INLINE int32_t mg_row_bytes_stored(int32_t n, int weights)
{
    return (weights == MG_WEIGHTS_S4) ? mg_row_bytes_s4(n) : n;
}

/* The row of weights, of which each has row_bytes bytes. */
MG_INLINE const void *mg_row_stored(const void *weight, int32_t row, int32_t row_bytes)
{
    return (const uint8_t *)weight + row * row_bytes;
}

/* Dequantizes a row of n weights of one scale. */
MG_INLINE void mg_dequantize_row(const void *stored, int32_t n, float scale, float *row,
                                 int weights)
{
    if (weights == MG_WEIGHTS_S4) {
        const uint8_t *bytes = (const uint8_t *)stored;
        const int32_t whole = n - n % 2;
        for (int32_t i = 0; i < whole; i += 2) {
            const uint8_t byte = *bytes++;
            row[i] = (float)mg_low_s4(byte) * scale;
            row[i + 1] = (float)mg_high_s4(byte) * scale;
        }
        if (whole < n) {
            row[whole] = (float)mg_low_s4(*bytes) * scale;
        }
    } else {
        const int8_t *values = (const int8_t *)stored;
        for (int32_t i = 0; i < n; i++) {
            row[i] = (float)values[i] * scale;
        }
    }
}

#endif
