/* Numbers of one type as those of another. */
#ifndef MICROGEN_CAST_H
#define MICROGEN_CAST_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/stored_int.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types: integers are their number of bytes (1, 2, 4 or 8). */
#define MG_CAST_BOOL 0     /* a byte, 0 or 1 */
#define MG_CAST_FLOAT32 32 /* bits */

typedef struct {
    int32_t size; /* elements */
    int32_t input_type;
    int32_t output_type;
} mg_cast_params;

/* Converts input [size] to output [size]. Integers that do not fit lose their upper bits; floats
 * are truncated towards zero and saturated, NaN becomes the greatest integer; bool is whether a
 * number is not 0; integers become the nearest float, ties to even.
 *
 * Output may be the very buffer of an input of the same number of bytes; otherwise they must not
 * overlap. */
void mg_cast(const mg_cast_params *p, const void *input, void *output);

/* The largest float below 2^63 is 2^63 - 2^39. */
MG_INLINE int64_t mg_cast_float_to_int64(float x)
{
    const float limit = 9223372036854775808.0F;

    if (!(x < limit)) {
        return INT64_MAX;
    }
    return (x < -limit) ? INT64_MIN : (int64_t)x;
}

MG_INLINE int32_t mg_cast_float_to_int(float x, int32_t bytes)
{
    const int32_t high = mg_greatest_int(bytes);
    const float limit = (float)(high / 2 + 1) * 2.0F; /* high + 1, exactly */

    if (!(x < limit)) {
        return high;
    }
    return (x < -limit) ? -high - 1 : (int32_t)x;
}

MG_INLINE void mg_cast_float(float x, int32_t type, void *output, int32_t i)
{
    if (type == MG_CAST_FLOAT32) {
        ((float *)output)[i] = x;
    } else if (type == MG_CAST_BOOL) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0.0F);
    } else if (type == 8) {
        ((int64_t *)output)[i] = mg_cast_float_to_int64(x);
    } else {
        mg_store_int(output, i, type, mg_cast_float_to_int(x, type));
    }
}

MG_INLINE void mg_cast_int64(int64_t x, int32_t type, void *output, int32_t i)
{
    if (type == MG_CAST_FLOAT32) {
        ((float *)output)[i] = (float)x;
    } else if (type == MG_CAST_BOOL) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0);
    } else if (type == 8) {
        ((int64_t *)output)[i] = x;
    } else {
        mg_store_int(output, i, type, (int32_t)(uint32_t)(uint64_t)x);
    }
}

MG_INLINE void mg_cast_int(int32_t x, int32_t type, void *output, int32_t i)
{
    if (type == MG_CAST_FLOAT32) {
        ((float *)output)[i] = (float)x;
    } else if (type == MG_CAST_BOOL) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0);
    } else if (type == 8) {
        ((int64_t *)output)[i] = x;
    } else {
        mg_store_int(output, i, type, x);
    }
}

MG_INLINE void mg_cast_body(const mg_cast_params *p, const void *input, void *output)
{
    const int32_t from = p->input_type;
    const int32_t to = p->output_type;

    for (int32_t i = 0; i < p->size; i++) {
        if (from == MG_CAST_FLOAT32) {
            mg_cast_float(((const float *)input)[i], to, output, i);
        } else if (from == 8) {
            mg_cast_int64(((const int64_t *)input)[i], to, output, i);
        } else if (from == MG_CAST_BOOL) {
            mg_cast_int(((const uint8_t *)input)[i], to, output, i);
        } else {
            mg_cast_int(mg_load_int(input, i, from), to, output, i);
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
