/* SPDX-License-Identifier: Apache-2.0 */
/* mg_max_pool2d_s8 for several channels at a time: in plain C, with DSP instructions, with MVE. */
#ifndef MICROGEN_MAX_POOL2D_S8_BLOCKS_H
#define MICROGEN_MAX_POOL2D_S8_BLOCKS_H

#include <string.h>

#include "microgen/blocks/dsp.h"
#include "microgen/blocks/mve.h"
#include "microgen/pooling/max_pool2d.h"
#include "microgen/pooling/pool_windows_s8.h"
#include "microgen/pooling/splat_s8.h"

typedef mg_pool_params mg_max_pool2d_s8_portable_params;
typedef mg_pool_params mg_max_pool2d_s8_dsp_params;
typedef mg_pool_params mg_max_pool2d_s8_mve_params;

/* Each computes what mg_max_pool2d_s8 does. Values may be at any address. */
MG_DECLARE_UNARY(mg_max_pool2d_s8_portable, int8_t, int8_t);
MG_DECLARE_UNARY(mg_max_pool2d_s8_dsp, int8_t, int8_t);
MG_DECLARE_UNARY(mg_max_pool2d_s8_mve, int8_t, int8_t);

/* The maximum of channel c. */
MG_INLINE int8_t mg_max_pool2d_s8_channel(const mg_pool_params *p, const mg_pool_window *window,
                                          int32_t c)
{
    int32_t largest = INT8_MIN;

    for (int32_t y = 0; y < window->height; y++) {
        const int8_t *tap = &window->first[y * p->input_width * p->channels + c];
        for (int32_t x = 0; x < window->width; x++) {
            largest = (*tap > largest) ? *tap : largest;
            tap += p->channels;
        }
    }
    return (int8_t)mg_pool_clamped(p, largest);
}

/* The maxima of channels c to c + 3. */
MG_INLINE void mg_max_pool2d_s8_four(const mg_pool_params *p, const mg_pool_window *window,
                                     int32_t c, int8_t *output)
{
    int32_t first = INT8_MIN;
    int32_t second = INT8_MIN;
    int32_t third = INT8_MIN;
    int32_t fourth = INT8_MIN;

    for (int32_t y = 0; y < window->height; y++) {
        const int8_t *tap = &window->first[y * p->input_width * p->channels + c];
        for (int32_t x = 0; x < window->width; x++) {
            first = (tap[0] > first) ? tap[0] : first;
            second = (tap[1] > second) ? tap[1] : second;
            third = (tap[2] > third) ? tap[2] : third;
            fourth = (tap[3] > fourth) ? tap[3] : fourth;
            tap += p->channels;
        }
    }
    output[c] = (int8_t)mg_pool_clamped(p, first);
    output[c + 1] = (int8_t)mg_pool_clamped(p, second);
    output[c + 2] = (int8_t)mg_pool_clamped(p, third);
    output[c + 3] = (int8_t)mg_pool_clamped(p, fourth);
}

MG_INLINE void mg_max_pool2d_s8_portable_pixel(const mg_pool_params *p,
                                               const mg_pool_window *window, int8_t *output)
{
    int32_t c = 0;

    for (; c < (p->channels & ~3); c += 4) {
        mg_max_pool2d_s8_four(p, window, c, output);
    }
    for (; c < p->channels; c++) {
        output[c] = mg_max_pool2d_s8_channel(p, window, c);
    }
}

MG_INLINE void mg_max_pool2d_s8_portable_body(const mg_max_pool2d_s8_portable_params *p,
                                              const int8_t *input, int8_t *output)
{
    MG_POOL_WINDOWS(mg_max_pool2d_s8_portable_pixel, p, p, input, output);
}

/* The maxima of channels c to c + 3, in the bytes of a word. */
MG_INLINE void mg_max_pool2d_s8_dsp_four(const mg_pool_params *p, const mg_pool_window *window,
                                         int32_t c, int8_t *output)
{
    uint32_t largest = mg_splat_s8(p->activation_min);

    for (int32_t y = 0; y < window->height; y++) {
        const int8_t *tap = &window->first[y * p->input_width * p->channels + c];
        for (int32_t x = 0; x < window->width; x++) {
            largest = mg_max_4_s8(largest, mg_load_4_s8(tap));
            tap += p->channels;
        }
    }
    if (p->activation_max < INT8_MAX) {
        largest = mg_min_4_s8(largest, mg_splat_s8(p->activation_max));
    }
    memcpy(&output[c], &largest, sizeof(largest));
}

MG_INLINE void mg_max_pool2d_s8_dsp_pixel(const mg_pool_params *p, const mg_pool_window *window,
                                          int8_t *output)
{
    int32_t c = 0;

    for (; c < (p->channels & ~3); c += 4) {
        mg_max_pool2d_s8_dsp_four(p, window, c, output);
    }
    for (; c < p->channels; c++) {
        output[c] = mg_max_pool2d_s8_channel(p, window, c);
    }
}

MG_INLINE void mg_max_pool2d_s8_dsp_body(const mg_max_pool2d_s8_dsp_params *p, const int8_t *input,
                                         int8_t *output)
{
    MG_POOL_WINDOWS(mg_max_pool2d_s8_dsp_pixel, p, p, input, output);
}

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_max_pool2d_s8_mve_pixel(const mg_pool_params *p, const mg_pool_window *window,
                                          int8_t *output)
{
    for (int32_t c = 0; c < p->channels; c += MG_MVE_BYTES) {
        const mve_pred16_t active = vctp8q((uint32_t)(p->channels - c));
        int8x16_t largest = vdupq_n_s8((int8_t)p->activation_min);
        for (int32_t y = 0; y < window->height; y++) {
            const int8_t *tap = &window->first[y * p->input_width * p->channels + c];
            for (int32_t x = 0; x < window->width; x++) {
                largest = vmaxq_s8(largest, vldrbq_z_s8(tap, active));
                tap += p->channels;
            }
        }
        largest = vminq_s8(largest, vdupq_n_s8((int8_t)p->activation_max));
        vstrbq_p_s8(&output[c], largest, active);
    }
}

MG_INLINE void mg_max_pool2d_s8_mve_body(const mg_max_pool2d_s8_mve_params *p, const int8_t *input,
                                         int8_t *output)
{
    MG_POOL_WINDOWS(mg_max_pool2d_s8_mve_pixel, p, p, input, output);
}

#endif

#ifdef MG_MAX_POOL2D_S8_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_max_pool2d_s8_portable, int8_t, int8_t)

MG_DEFINE_UNARY(mg_max_pool2d_s8_dsp, int8_t, int8_t)

#if defined(__ARM_FEATURE_MVE)
MG_DEFINE_UNARY(mg_max_pool2d_s8_mve, int8_t, int8_t)
#endif
#endif

#endif
