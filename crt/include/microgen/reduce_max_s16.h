/* Greatest or least int16 values over any axes. */
#ifndef MICROGEN_REDUCE_MAX_S16_H
#define MICROGEN_REDUCE_MAX_S16_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[6];   /* as microgen/reduction.h says */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_reduce_max_s16_params;

/* Writes the extremes of input [shape] over its reduced axes into output [kept axes]. Output must
 * not overlap the input. */
void mg_reduce_max_s16(const mg_reduce_max_s16_params *p, const int16_t *input, int16_t *output);

MG_INLINE int16_t mg_reduce_max_s16_better(const mg_reduce_max_s16_params *p, int16_t best,
                                           int16_t value)
{
    return ((p->is_minimum != 0) ? (value < best) : (value > best)) ? value : best;
}

MG_INLINE int16_t mg_reduce_max_s16_as_is(const mg_reduce_max_s16_params *p, int16_t best)
{
    (void)p;
    return best;
}

MG_INLINE void mg_reduce_max_s16_body(const mg_reduce_max_s16_params *p, const int16_t *input,
                                      int16_t *output)
{
    MG_REDUCE(int16_t, (p->is_minimum != 0) ? INT16_MAX : INT16_MIN, mg_reduce_max_s16_better,
              mg_reduce_max_s16_as_is, p, input, output);
}

#ifdef __cplusplus
}
#endif

#endif
