/* Elementwise minimum of int8 tensors with broadcasting. */
#ifndef MICROGEN_MINIMUM_S8_H
#define MICROGEN_MINIMUM_S8_H

#include <stdint.h>

#include "microgen/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[4];      /* of the output */
    int32_t lhs_stride[4]; /* elements from one index to the next; 0: broadcast */
    int32_t rhs_stride[4]; /* the same */
} mg_minimum_s8_params;

/* The minimum of lhs and rhs into output [shape[0]][shape[1]][shape[2]][shape[3]]. Stored values
 * are compared, so all three tensors should have one quantization.
 *
 * Output may be the very buffer of an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
void mg_minimum_s8(const mg_minimum_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);

/* The lesser of two stored values. */
MG_INLINE int8_t mg_minimum_s8_element(const mg_minimum_s8_params *p, int8_t lhs, int8_t rhs)
{
    (void)p;
    return (lhs < rhs) ? lhs : rhs;
}

MG_INLINE void mg_minimum_s8_body(const mg_minimum_s8_params *p, const int8_t *lhs,
                                  const int8_t *rhs, int8_t *output)
{
    MG_BROADCAST(mg_minimum_s8_element, p, lhs, rhs, output);
}

#ifdef __cplusplus
}
#endif

#endif
