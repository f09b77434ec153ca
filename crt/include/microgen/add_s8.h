/* Elementwise addition of int8 tensors with broadcasting. */
#ifndef MICROGEN_ADD_S8_H
#define MICROGEN_ADD_S8_H

#include <stdint.h>

#include "microgen/broadcast.h"
#include "microgen/inline.h"
#include "microgen/requantize.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[4];       /* of the output */
    int32_t lhs_stride[4];  /* elements from one index to the next; 0: broadcast */
    int32_t rhs_stride[4];  /* the same */
    int32_t lhs_offset;     /* minus the zero point: -127 to 128 */
    int32_t rhs_offset;     /* the same */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    int32_t left_shift;     /* bits of headroom given to both operands: 0 to 22 */
    int32_t lhs_multiplier; /* Q31, as microgen/requantize.h says; the same below */
    int32_t lhs_shift;      /* 0 or less: operands are scaled by at most 1 */
    int32_t rhs_multiplier;
    int32_t rhs_shift; /* 0 or less */
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_add_s8_params;

/* Adds lhs and rhs into output [shape[0]][shape[1]][shape[2]][shape[3]], each requantized from its
 * own scale with double rounding.
 *
 * Output may be the very buffer of an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
void mg_add_s8(const mg_add_s8_params *p, const int8_t *lhs, const int8_t *rhs, int8_t *output);

/* The left operand's stored value, on the scale that operands are added on. */
MG_INLINE int32_t mg_add_s8_left(const mg_add_s8_params *p, int8_t lhs)
{
    return mg_requantize(mg_shift_left(lhs + p->lhs_offset, p->left_shift), p->lhs_multiplier,
                         p->lhs_shift);
}

/* The same of the right operand. */
MG_INLINE int32_t mg_add_s8_right(const mg_add_s8_params *p, int8_t rhs)
{
    return mg_requantize(mg_shift_left(rhs + p->rhs_offset, p->left_shift), p->rhs_multiplier,
                         p->rhs_shift);
}

/* A sum on that scale, as the output stores it. */
MG_INLINE int8_t mg_add_s8_stored(const mg_add_s8_params *p, int32_t sum)
{
    return mg_offset_and_clamp(mg_requantize(sum, p->output_multiplier, p->output_shift),
                               p->output_offset, p->activation_min, p->activation_max);
}

/* The sum of two stored values, as the output stores it. */
MG_INLINE int8_t mg_add_s8_element(const mg_add_s8_params *p, int8_t lhs, int8_t rhs)
{
    return mg_add_s8_stored(p, mg_add_s8_left(p, lhs) + mg_add_s8_right(p, rhs));
}

MG_INLINE void mg_add_s8_body(const mg_add_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                              int8_t *output)
{
    MG_BROADCAST(mg_add_s8_element, p, lhs, rhs, output);
}

#ifdef __cplusplus
}
#endif

#endif
