/* Constant padding of int8 tensors of up to four dimensions. */
#ifndef MICROGEN_PAD_S8_H
#define MICROGEN_PAD_S8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"
#include "microgen/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t input_shape[4];
    int32_t before[4];       /* elements of padding before the input on each axis, at least 0 */
    int32_t output_shape[4]; /* at least before + input_shape on each axis */
    int32_t value;           /* what the padding stores: -128 to 127 */
} mg_pad_s8_params;

/* Copies input [input_shape] into output [output_shape] at `before`, and fills the rest with
 * `value`. Output must not overlap the input. */
void mg_pad_s8(const mg_pad_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE void mg_pad_s8_body(const mg_pad_s8_params *p, const int8_t *input, int8_t *output)
{
    const int32_t *in = p->input_shape;
    const int32_t *out = p->output_shape;

    (void)memset(output, (int)p->value, (size_t)(out[0] * out[1] * out[2] * out[3]));
    for (int32_t n = 0; n < in[0]; n++) {
        for (int32_t y = 0; y < in[1]; y++) {
            for (int32_t x = 0; x < in[2]; x++) {
                (void)memcpy(&output[mg_nhwc(n + p->before[0], y + p->before[1], x + p->before[2],
                                             out[1], out[2], out[3]) +
                                     p->before[3]],
                             &input[mg_nhwc(n, y, x, in[1], in[2], in[3])], (size_t)in[3]);
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
