/* Mirror padding of int8 tensors of up to four dimensions. */
#ifndef MICROGEN_MIRROR_PAD_S8_H
#define MICROGEN_MIRROR_PAD_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t input_shape[4];
    int32_t before[4];       /* elements of padding before the input on each axis */
    int32_t output_shape[4]; /* at least before + input_shape on each axis */
    int32_t edge;            /* 1: the element at the edge is repeated; 0: it is the mirror */
} mg_mirror_pad_s8_params;

/* Copies input [input_shape] into output [output_shape] at `before`, and mirrors it into the rest.
 * On each side of an axis there are at most input_shape + edge - 1 elements of padding. Output must
 * not overlap the input. */
void mg_mirror_pad_s8(const mg_mirror_pad_s8_params *p, const int8_t *input, int8_t *output);

/* The input's index on an axis that the output's `index` shows. */
MG_INLINE int32_t mg_mirror_pad_s8_source(const mg_mirror_pad_s8_params *p, int32_t axis,
                                          int32_t index)
{
    const int32_t place = index - p->before[axis];
    const int32_t last = p->input_shape[axis] - 1;

    if (place < 0) {
        return -place - p->edge;
    }
    return (place > last) ? 2 * last - place + p->edge : place;
}

MG_INLINE void mg_mirror_pad_s8_body(const mg_mirror_pad_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    const int32_t *in = p->input_shape;
    const int32_t *out = p->output_shape;

    for (int32_t n = 0; n < out[0]; n++) {
        const int32_t from_n = mg_mirror_pad_s8_source(p, 0, n);
        for (int32_t y = 0; y < out[1]; y++) {
            const int32_t from_y = mg_mirror_pad_s8_source(p, 1, y);
            for (int32_t x = 0; x < out[2]; x++) {
                const int32_t from_x = mg_mirror_pad_s8_source(p, 2, x);
                const int8_t *row = &input[mg_nhwc(from_n, from_y, from_x, in[1], in[2], in[3])];
                for (int32_t c = 0; c < out[3]; c++) {
                    *output = row[mg_mirror_pad_s8_source(p, 3, c)];
                    output++;
                }
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
