/* SPDX-License-Identifier: Apache-2.0 */
/* mg_pool_mean_s8 with packed 16-bit arithmetic: eight or four channels at a time. */
#ifndef MICROGEN_POOL_MEAN_S8_DSP_H
#define MICROGEN_POOL_MEAN_S8_DSP_H

#include "microgen/blocks/dsp.h"
#include "microgen/pooling/pool_mean_s8.h"

typedef mg_pool_mean_s8_params mg_pool_mean_s8_dsp_params;

/* Computes what mg_pool_mean_s8 does. Values may be at any address. */
MG_EXTERN void mg_pool_mean_s8_dsp(const mg_pool_mean_s8_dsp_params *p, const int8_t *input,
                                   const int32_t *coefficient, int8_t *output);

/* The stored means of four channels. `even` has the sums of the first and the third, `odd` those
 * of the second and the fourth. */
MG_INLINE void mg_pool_mean_s8_dsp_store(const mg_pool_mean_s8_params *p,
                                         const int32_t coefficient[2], uint32_t even, uint32_t odd,
                                         int8_t *output)
{
    output[0] = mg_pool_mean_s8_stored(p, coefficient, mg_low_s16(even));
    output[1] = mg_pool_mean_s8_stored(p, coefficient, mg_low_s16(odd));
    output[2] = mg_pool_mean_s8_stored(p, coefficient, mg_high_s16(even));
    output[3] = mg_pool_mean_s8_stored(p, coefficient, mg_high_s16(odd));
}

MG_INLINE void mg_pool_mean_s8_dsp_eight(const mg_pool_mean_s8_params *p, const int8_t *window,
                                         const int32_t coefficient[2], int8_t *output)
{
    uint32_t even = 0;
    uint32_t odd = 0;
    uint32_t next_even = 0;
    uint32_t next_odd = 0;

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            const uint32_t word = mg_load_4_s8(tap);
            const uint32_t next = mg_load_4_s8(tap + 4);
            even = mg_sxtab16(even, word);
            odd = mg_sxtab16_odd(odd, word);
            next_even = mg_sxtab16(next_even, next);
            next_odd = mg_sxtab16_odd(next_odd, next);
            tap += p->channels;
        }
    }
    mg_pool_mean_s8_dsp_store(p, coefficient, even, odd, output);
    mg_pool_mean_s8_dsp_store(p, coefficient, next_even, next_odd, output + 4);
}

MG_INLINE void mg_pool_mean_s8_dsp_four(const mg_pool_mean_s8_params *p, const int8_t *window,
                                        const int32_t coefficient[2], int8_t *output)
{
    uint32_t even = 0;
    uint32_t odd = 0;

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            const uint32_t word = mg_load_4_s8(tap);
            even = mg_sxtab16(even, word);
            odd = mg_sxtab16_odd(odd, word);
            tap += p->channels;
        }
    }
    mg_pool_mean_s8_dsp_store(p, coefficient, even, odd, output);
}

MG_INLINE void mg_pool_mean_s8_dsp_pixel(const mg_pool_mean_s8_params *p, const int8_t *window,
                                         const int32_t coefficient[2], int8_t *output)
{
    int32_t c = 0;

    for (; c < (p->channels & ~7); c += 8) {
        mg_pool_mean_s8_dsp_eight(p, &window[c], coefficient, &output[c]);
    }
    if ((p->channels & 4) != 0) {
        mg_pool_mean_s8_dsp_four(p, &window[c], coefficient, &output[c]);
        c += 4;
    }
    for (; c < p->channels; c++) {
        output[c] = mg_pool_mean_s8_channel(p, &window[c], coefficient);
    }
}

MG_INLINE void mg_pool_mean_s8_dsp_body(const mg_pool_mean_s8_dsp_params *p, const int8_t *input,
                                        const int32_t *coefficient, int8_t *output)
{
    MG_POOL_MEAN_S8(mg_pool_mean_s8_dsp_pixel, p, input, coefficient, output);
}

#ifdef MG_POOL_MEAN_S8_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_pool_mean_s8_dsp, (p, input, coefficient, output),
               const mg_pool_mean_s8_dsp_params *p, const int8_t *input, const int32_t *coefficient,
               int8_t *output)
#endif

#endif
