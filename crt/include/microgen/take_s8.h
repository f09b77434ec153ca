/* Parts of an axis of an int8 tensor, by index. */
#ifndef MICROGEN_TAKE_S8_H
#define MICROGEN_TAKE_S8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t outer_size; /* product of the sizes before the axis */
    int32_t axis_size;
    int32_t inner_size; /* product of the sizes behind the axis */
    int32_t count;      /* indices */
} mg_take_s8_params;

/* Copies input [outer_size][axis_size][inner_size] at indices [count], each from 0 to
 * axis_size - 1, to output [outer_size][count][inner_size]. Output must not overlap the input. */
void mg_take_s8(const mg_take_s8_params *p, const int8_t *input, const int32_t *indices,
                int8_t *output);

MG_INLINE void mg_take_s8_body(const mg_take_s8_params *p, const int8_t *input,
                               const int32_t *indices, int8_t *output)
{
    for (int32_t n = 0; n < p->outer_size; n++) {
        for (int32_t i = 0; i < p->count; i++) {
            (void)memcpy(output, &input[(n * p->axis_size + indices[i]) * p->inner_size],
                         (size_t)p->inner_size);
            output += p->inner_size;
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
