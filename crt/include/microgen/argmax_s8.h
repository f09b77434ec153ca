/* Positions of the greatest or least int8 values along one axis. */
#ifndef MICROGEN_ARGMAX_S8_H
#define MICROGEN_ARGMAX_S8_H

#include <stdint.h>

#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t outer_size; /* elements of the axes before, multiplied */
    int32_t axis_size;  /* values that are compared: at least 1 */
    int32_t inner_size; /* elements of the axes behind, multiplied */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_argmax_s8_params;

/* Writes the position of the extreme along the middle axis of
 * input [outer_size][axis_size][inner_size] into output [outer_size][inner_size]: of equal values
 * the first. Output must not overlap the input. */
void mg_argmax_s8(const mg_argmax_s8_params *p, const int8_t *input, int32_t *output);

MG_INLINE int32_t mg_argmax_s8_of(const mg_argmax_s8_params *p, const int8_t *first)
{
    int32_t best = 0;

    for (int32_t i = 1; i < p->axis_size; i++) {
        const int8_t value = first[i * p->inner_size];
        const int8_t record = first[best * p->inner_size];
        if ((p->is_minimum != 0) ? (value < record) : (value > record)) {
            best = i;
        }
    }
    return best;
}

MG_INLINE void mg_argmax_s8_body(const mg_argmax_s8_params *p, const int8_t *input, int32_t *output)
{
    for (int32_t outer = 0; outer < p->outer_size; outer++) {
        for (int32_t inner = 0; inner < p->inner_size; inner++) {
            output[outer * p->inner_size + inner] =
                mg_argmax_s8_of(p, &input[outer * p->axis_size * p->inner_size + inner]);
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
