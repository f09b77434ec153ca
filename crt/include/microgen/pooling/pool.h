/* SPDX-License-Identifier: Apache-2.0 */
/* Loops and parameters of the pooling kernels. */
#ifndef MICROGEN_POOL_H
#define MICROGEN_POOL_H

#include "microgen/window.h"

/* The first parameters of all kernels. */
#define MG_POOL_FIELDS                                                                             \
    MG_IMAGE_SIZES(channels)                                                                       \
    int32_t pool_height;                                                                           \
    int32_t pool_width;                                                                            \
    int32_t stride_height; /* 1 to 32767 */                                                        \
    int32_t stride_width;                                                                          \
    int32_t pad_top;  /* less than pool_height, so that no window is empty */                      \
    int32_t pad_left; /* less than pool_width */

/* The parameters of integer kernels of any type. */
typedef struct {
    MG_POOL_FIELDS
    int32_t activation_min; /* within the type */
    int32_t activation_max; /* the same; activation_min or more */
} mg_pool_params;

typedef struct {
    MG_POOL_FIELDS
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_pool_f32_params;

/* Pools input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels]. For each window of each channel:
 *     state = first;
 *     state = step(state, value) for each value inside the input, row by row;
 *     output = result(p, state, number of values)
 * p points to parameters as above, and `type` is the type of the state.
 *
 * This is a macro so that step and result work for any types and are inlined at every optimisation
 * level. */
#define MG_POOL(type, first, step, result, p, input, output)                                       \
    do {                                                                                           \
        for (int32_t n_ = 0; n_ < (p)->batches; n_++) {                                            \
            for (int32_t y_ = 0; y_ < (p)->output_height; y_++) {                                  \
                for (int32_t x_ = 0; x_ < (p)->output_width; x_++) {                               \
                    const int32_t pixel_ =                                                         \
                        mg_nhwc(n_, y_, x_, (p)->output_height, (p)->output_width, (p)->channels); \
                    for (int32_t c_ = 0; c_ < (p)->channels; c_++) {                               \
                        const int32_t top_ = y_ * (p)->stride_height - (p)->pad_top;               \
                        const int32_t left_ = x_ * (p)->stride_width - (p)->pad_left;              \
                        const mg_taps rows_ =                                                      \
                            mg_taps_inside(top_, (p)->pool_height, 1, (p)->input_height);          \
                        const mg_taps columns_ =                                                   \
                            mg_taps_inside(left_, (p)->pool_width, 1, (p)->input_width);           \
                        type state_ = (first);                                                     \
                        for (int32_t ky_ = rows_.begin; ky_ < rows_.end; ky_++) {                  \
                            for (int32_t kx_ = columns_.begin; kx_ < columns_.end; kx_++) {        \
                                state_ = step(state_,                                              \
                                              (input)[mg_nhwc(n_, top_ + ky_, left_ + kx_,         \
                                                              (p)->input_height, (p)->input_width, \
                                                              (p)->channels) +                     \
                                                      c_]);                                        \
                            }                                                                      \
                        }                                                                          \
                        (output)[pixel_ + c_] =                                                    \
                            result((p), state_,                                                    \
                                   (rows_.end - rows_.begin) * (columns_.end - columns_.begin));   \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol` for elements of `element`, and defines its body by MG_POOL with the
 * functions `symbol`_step and `symbol`_result. */
#define MG_POOLING(symbol, element, type, first)                                                   \
    MG_DECLARE_UNARY(symbol, element, element);                                                    \
    MG_INLINE void symbol##_body(const symbol##_params *p, const element *input, element *output)  \
    {                                                                                              \
        MG_POOL(type, first, symbol##_step, symbol##_result, p, input, output);                    \
    }

/* Defines the step of a kernel whose states, of `type`, are sums. */
#define MG_POOL_SUM_STEP(symbol, type, element)                                                    \
    MG_INLINE type symbol##_step(type sum, element value)                                          \
    {                                                                                              \
        return sum + (type)value;                                                                  \
    }

/* A value clamped to the activation's range. */
MG_INLINE int32_t mg_pool_clamped(const mg_pool_params *p, int32_t value)
{
    int32_t stored = value;
    if (stored < p->activation_min) {
        stored = p->activation_min;
    }
    if (stored > p->activation_max) {
        stored = p->activation_max;
    }
    return stored;
}

/* The mean of `count` values, ties away from zero, clamped. */
MG_INLINE int32_t mg_pool_mean(const mg_pool_params *p, int32_t sum, int32_t count)
{
    return mg_pool_clamped(p, ((sum > 0) ? (sum + count / 2) : (sum - count / 2)) / count);
}

/* Declares the kernel `symbol` and defines its body: the maximum of each window, which is `least`
 * if the window has no larger value. The stored value is the expression `clamped` of p and
 * `largest`, which has the type `type`. */
#define MG_MAX_POOLING(symbol, element, type, least, clamped)                                      \
    MG_INLINE type symbol##_step(type largest, element value)                                      \
    {                                                                                              \
        return (value > largest) ? value : largest;                                                \
    }                                                                                              \
    MG_INLINE element symbol##_result(const symbol##_params *p, type largest, int32_t count)       \
    {                                                                                              \
        (void)count;                                                                               \
        return (element)(clamped);                                                                 \
    }                                                                                              \
    MG_POOLING(symbol, element, type, least)

/* Defines the part of a window that is inside the input, whose first value has that type, and the
 * function that finds the one of pixel [y][x] of the image at `input`. */
#define MG_POOL_WINDOW(name, params, type)                                                         \
    typedef struct {                                                                               \
        const type *first;                                                                         \
        int32_t height;                                                                            \
        int32_t width;                                                                             \
    } name;                                                                                        \
                                                                                                   \
    MG_INLINE name name##_at(const params *p, const type *input, int32_t y, int32_t x)             \
    {                                                                                              \
        const int32_t top = y * p->stride_height - p->pad_top;                                     \
        const int32_t left = x * p->stride_width - p->pad_left;                                    \
        const mg_taps rows = mg_taps_inside(top, p->pool_height, 1, p->input_height);              \
        const mg_taps columns = mg_taps_inside(left, p->pool_width, 1, p->input_width);            \
        const int32_t pixel = (top + rows.begin) * p->input_width + left + columns.begin;          \
        const name window = {&input[pixel * p->channels], rows.end - rows.begin,                   \
                             columns.end - columns.begin};                                         \
        return window;                                                                             \
    }

#endif
