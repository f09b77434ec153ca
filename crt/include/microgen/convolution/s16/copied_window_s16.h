/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the windows of int16 images, with zeros for the padding, in the order of the weights.
 */
#ifndef MICROGEN_COPIED_WINDOW_S16_H
#define MICROGEN_COPIED_WINDOW_S16_H

#include <string.h>

#include "microgen/blocks/mve.h"
#include "microgen/convolution/conv2d_window.h"

/* A pixel of the output. */
typedef struct {
    int32_t n;
    int32_t y;
    int32_t x;
} mg_place;

/* Groups of four weights of a filter, the last one perhaps not full. */
MG_INLINE int32_t mg_words_of_filter(const mg_conv2d_shape *s)
{
    return (s->kernel_height * s->kernel_width * s->filter_channels + 3) / 4;
}

/* Sets what follows the values of `count` windows, each with room for `room` values, to 0. */
MG_INLINE void mg_end_windows_s16(const mg_conv2d_shape *s, int16_t *windows, int32_t count,
                                  int32_t room)
{
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;

    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = size; k < room; k++) {
            windows[i * room + k] = 0;
        }
    }
}

/* Sets `count` values to 0. */
MG_INLINE void mg_clear_s16(int16_t *values, int32_t count)
{
#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__)
    /* In assembly, because GCC 12 does not form tail-predicated loops from intrinsics. */
    __asm__ volatile("vmov.i32 q0, #0\n\t"
                     "wlstp.16 lr, %[count], 2f\n"
                     "1:\n\t"
                     "vstrh.16 q0, [%[values]], #16\n\t"
                     "letp lr, 1b\n"
                     "2:"
                     : [values] "+r"(values)
                     : [count] "r"(count)
                     : "lr", "q0", "memory");
#else
    memset(values, 0, (uint32_t)count * sizeof(int16_t));
#endif
}

/* Copies `count` values. */
MG_INLINE void mg_copy_s16(int16_t *to, const int16_t *from, int32_t count)
{
#if defined(__ARM_FEATURE_MVE)
    (void)mg_mve_copy((int8_t *)to, (const int8_t *)from, 2 * count);
#else
    /* A call of memcpy takes longer than most runs. */
    int32_t left = count;

    for (; left >= 4; left -= 4) {
        memcpy(to, from, 4 * sizeof(int16_t));
        to += 4;
        from += 4;
    }
    for (; left > 0; left--) {
        *to++ = *from++;
    }
#endif
}

/* Moves on to the next pixel. */
MG_INLINE void mg_next_place(const mg_conv2d_shape *s, mg_place *place)
{
    place->x++;
    if (place->x == s->output_width) {
        place->x = 0;
        place->y++;
    }
    if (place->y == s->output_height) {
        place->y = 0;
        place->n++;
    }
}

/* Copies the window of the pixel at `place`, in one group, and moves on to the next pixel. */
MG_INLINE void mg_copy_window_s16(const mg_conv2d_shape *s, mg_place *place, const int16_t *input,
                                  int16_t *to)
{
    const mg_window window = mg_conv2d_window_at(s, place->n, place->y, place->x);
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int32_t copied = window.rows * window.runs * window.length;

    if (copied < size) {
        mg_clear_s16(to, size);
    }
    for (int32_t row = 0; row < window.rows; row++) {
        for (int32_t run = 0; run < window.runs; run++) {
            mg_copy_s16(
                &to[window.weight + row * window.next_weight_row + run * window.next_weight_run],
                &input[window.value + row * window.next_row + run * window.next_run],
                window.length);
        }
    }
    mg_next_place(s, place);
}

#endif
