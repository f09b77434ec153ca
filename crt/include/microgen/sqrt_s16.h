/* The square root of int16 values, by way of float32. */
#ifndef MICROGEN_SQRT_S16_H
#define MICROGEN_SQRT_S16_H

#include <stdint.h>

#include "microgen/float_math.h"
#include "microgen/inline.h"
#include "microgen/unary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t size;       /* elements */
    float input_scale;  /* positive */
    float output_scale; /* positive */
} mg_sqrt_s16_params;

/* Computes the square roots of input [size], truncated, into output [size]; of negative values 0.
 *
 * Output may be the very buffer of the input; otherwise they must not overlap. */
void mg_sqrt_s16(const mg_sqrt_s16_params *p, const int16_t *input, int16_t *output);

MG_INLINE int16_t mg_sqrt_s16_element(const mg_sqrt_s16_params *p, int16_t x)
{
    float steps = 0.0F;

    if (x > 0) {
        steps = mg_f32_sqrt(p->input_scale * (float)x) / p->output_scale;
    }
    return (int16_t)((steps < 32767.0F) ? (int32_t)steps : INT16_MAX);
}

MG_INLINE void mg_sqrt_s16_body(const mg_sqrt_s16_params *p, const int16_t *input, int16_t *output)
{
    MG_UNARY(mg_sqrt_s16_element, p, input, output);
}

#ifdef __cplusplus
}
#endif

#endif
