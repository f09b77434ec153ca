/* Greatest or least int32 values over any axes. */
#ifndef MICROGEN_REDUCE_MAX_S32_H
#define MICROGEN_REDUCE_MAX_S32_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[6];   /* as microgen/reduction.h says */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_reduce_max_s32_params;

/* Writes the extremes of input [shape] over its reduced axes into output [kept axes]. Output must
 * not overlap the input. */
void mg_reduce_max_s32(const mg_reduce_max_s32_params *p, const int32_t *input, int32_t *output);

MG_INLINE int32_t mg_reduce_max_s32_better(const mg_reduce_max_s32_params *p, int32_t best,
                                           int32_t value)
{
    return ((p->is_minimum != 0) ? (value < best) : (value > best)) ? value : best;
}

MG_INLINE int32_t mg_reduce_max_s32_as_is(const mg_reduce_max_s32_params *p, int32_t best)
{
    (void)p;
    return best;
}

MG_INLINE void mg_reduce_max_s32_body(const mg_reduce_max_s32_params *p, const int32_t *input,
                                      int32_t *output)
{
    MG_REDUCE(int32_t, (p->is_minimum != 0) ? INT32_MAX : INT32_MIN, mg_reduce_max_s32_better,
              mg_reduce_max_s32_as_is, p, input, output);
}

#ifdef __cplusplus
}
#endif

#endif
