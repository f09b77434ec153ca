/* Elementwise addition of float32 tensors with broadcasting. */
#ifndef MICROGEN_ADD_F32_H
#define MICROGEN_ADD_F32_H

#include <stdint.h>

#include "microgen/broadcast.h"
#include "microgen/clamp_f32.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[4];      /* of the output */
    int32_t lhs_stride[4]; /* elements from one index to the next; 0: broadcast */
    int32_t rhs_stride[4]; /* the same */
    float activation_min;  /* finite */
    float activation_max;  /* finite, activation_min or more */
} mg_add_f32_params;

/* Adds lhs and rhs into output [shape[0]][shape[1]][shape[2]][shape[3]], and clamps the sums.
 *
 * Output may be the very buffer of an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
void mg_add_f32(const mg_add_f32_params *p, const float *lhs, const float *rhs, float *output);

MG_INLINE float mg_add_f32_element(const mg_add_f32_params *p, float lhs, float rhs)
{
    return mg_clamp_f32(lhs + rhs, p->activation_min, p->activation_max);
}

MG_INLINE void mg_add_f32_body(const mg_add_f32_params *p, const float *lhs, const float *rhs,
                               float *output)
{
    MG_BROADCAST(mg_add_f32_element, p, lhs, rhs, output);
}

#ifdef __cplusplus
}
#endif

#endif
