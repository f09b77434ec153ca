/* Greatest or least int8 values over any axes. */
#ifndef MICROGEN_REDUCE_MAX_S8_H
#define MICROGEN_REDUCE_MAX_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[6];   /* as microgen/reduction.h says */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_reduce_max_s8_params;

/* Writes the extremes of input [shape] over its reduced axes into output [kept axes]. Output must
 * not overlap the input. */
void mg_reduce_max_s8(const mg_reduce_max_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE int8_t mg_reduce_max_s8_better(const mg_reduce_max_s8_params *p, int8_t best,
                                         int8_t value)
{
    return ((p->is_minimum != 0) ? (value < best) : (value > best)) ? value : best;
}

MG_INLINE int8_t mg_reduce_max_s8_as_is(const mg_reduce_max_s8_params *p, int8_t best)
{
    (void)p;
    return best;
}

MG_INLINE void mg_reduce_max_s8_body(const mg_reduce_max_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    MG_REDUCE(int8_t, (p->is_minimum != 0) ? INT8_MAX : INT8_MIN, mg_reduce_max_s8_better,
              mg_reduce_max_s8_as_is, p, input, output);
}

#ifdef __cplusplus
}
#endif

#endif
