/* Copies the elements of an int8 tensor that lie at regular steps: slices and transpositions. */
#ifndef MICROGEN_STRIDED_COPY_S8_H
#define MICROGEN_STRIDED_COPY_S8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[6];  /* of the output, each at least 1 */
    int32_t stride[6]; /* elements of the input from one index of the output to the next */
    int32_t offset;    /* of the output's first element in the input */
} mg_strided_copy_s8_params;

/* Output element [i]...[n] is input[offset + i * stride[0] + ... + n * stride[5]], for all of
 * output [shape[0]]...[shape[5]]. Output must not overlap the input. */
void mg_strided_copy_s8(const mg_strided_copy_s8_params *p, const int8_t *input, int8_t *output);

/* One row, the last axis. */
MG_INLINE void mg_strided_copy_s8_row(const mg_strided_copy_s8_params *p, const int8_t *input,
                                      int32_t start, int8_t *output)
{
    if (p->stride[5] == 1) {
        (void)memcpy(output, &input[start], (size_t)p->shape[5]);
        return;
    }
    for (int32_t n = 0; n < p->shape[5]; n++) {
        output[n] = input[start + n * p->stride[5]];
    }
}

MG_INLINE void mg_strided_copy_s8_body(const mg_strided_copy_s8_params *p, const int8_t *input,
                                       int8_t *output)
{
    const int32_t *shape = p->shape;
    const int32_t *stride = p->stride;

    for (int32_t i = 0; i < shape[0]; i++) {
        for (int32_t j = 0; j < shape[1]; j++) {
            for (int32_t k = 0; k < shape[2]; k++) {
                for (int32_t l = 0; l < shape[3]; l++) {
                    const int32_t outer =
                        p->offset + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3];
                    for (int32_t m = 0; m < shape[4]; m++) {
                        mg_strided_copy_s8_row(p, input, outer + m * stride[4], output);
                        output += shape[5];
                    }
                }
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
