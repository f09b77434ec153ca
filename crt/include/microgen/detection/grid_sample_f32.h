/* SPDX-License-Identifier: Apache-2.0 */
/* Samples float32 images or volumes at computed coordinates. */
#ifndef MICROGEN_GRID_SAMPLE_F32_H
#define MICROGEN_GRID_SAMPLE_F32_H

#include "microgen/inline.h"

#define MG_SAMPLE_NEAREST 0
#define MG_SAMPLE_LINEAR 1
#define MG_SAMPLE_CUBIC 2

#define MG_OUTSIDE_ZEROS 0
#define MG_OUTSIDE_BORDER 1
#define MG_OUTSIDE_REFLECTION 2

#define MG_SAMPLE_FAR 4194304.0F /* coordinates beyond it are moved to it */

typedef struct {
    int32_t batches;
    int32_t axes;     /* spatial axes, 1 to 3: the last ones of `shape` */
    int32_t shape[3]; /* their sizes; the others are 1 */
    int32_t channels;
    int32_t points;         /* of the grid */
    int32_t mode;           /* MG_SAMPLE_* */
    int32_t padding;        /* MG_OUTSIDE_* */
    int32_t aligns_corners; /* 1: -1 and 1 are the centres of the outer elements; 0: their edges */
} mg_grid_sample_f32_params;

/* Samples input [batches][shape][channels] at grid [batches][points][axes], whose coordinates are
 * those of the last axis first, into output [batches][points][channels]. Output must not overlap
 * an input. */
MG_EXTERN void mg_grid_sample_f32(const mg_grid_sample_f32_params *p, const float *input,
                                  const float *grid, float *output);

/* The elements that make a sample along one axis: their indices, -1 outside, and weights. */
typedef struct {
    int32_t count;
    int32_t index[4];
    float weight[4];
} mg_sample_side;

/* The greatest whole number that is not greater; |x| is at most MG_SAMPLE_FAR. */
MG_INLINE int32_t mg_sample_floor(float x)
{
    const int32_t whole = (int32_t)x;
    return ((float)whole > x) ? whole - 1 : whole;
}

/* The nearest whole number, the even one of two. */
MG_INLINE float mg_sample_round(float x)
{
    const int32_t whole = mg_sample_floor(x);
    const float rest = x - (float)whole;
    const int is_up = rest > 0.5F || (rest == 0.5F && whole % 2 != 0);
    return (float)(is_up ? whole + 1 : whole);
}

MG_INLINE float mg_sample_clamp(float x, float low, float high)
{
    return (x < low) ? low : ((x > high) ? high : x);
}

/* The coordinate, reflected at both ends until it is inside. */
MG_INLINE float mg_sample_reflect(float x, float low, float high)
{
    const float length = high - low;
    const float over = (x < low) ? low - x : x - high;
    int32_t times;
    float rest;

    if (x >= low && x <= high) {
        return x;
    }
    if (length <= 0.0F) {
        return low;
    }
    times = (int32_t)(over / length);
    rest = over - (float)times * length;
    if (x < low) {
        return (times % 2 == 0) ? low + rest : high - rest;
    }
    return (times % 2 == 0) ? high - rest : low + rest;
}

/* The coordinate of an axis with `size` elements: 0 is the centre of the first one. */
MG_INLINE float mg_sample_coordinate(const mg_grid_sample_f32_params *p, float given, int32_t size)
{
    const float x = (p->aligns_corners != 0) ? (given + 1.0F) / 2.0F * (float)(size - 1)
                                             : ((given + 1.0F) * (float)size - 1.0F) / 2.0F;
    return (x > -MG_SAMPLE_FAR) ? ((x < MG_SAMPLE_FAR) ? x : MG_SAMPLE_FAR) : -MG_SAMPLE_FAR;
}

/* The index of the element at a whole coordinate; -1 outside. */
MG_INLINE int32_t mg_sample_element(const mg_grid_sample_f32_params *p, float x, int32_t size,
                                    float low, float high)
{
    const float last = (float)(size - 1);

    if (p->padding == MG_OUTSIDE_BORDER) {
        x = mg_sample_clamp(x, 0.0F, last);
    } else if (p->padding == MG_OUTSIDE_REFLECTION) {
        x = mg_sample_clamp((float)(int32_t)mg_sample_reflect(x, low, high), 0.0F, last);
    }
    return (x >= 0.0F && x <= last) ? (int32_t)x : -1;
}

/* The cubic weight of an element at most 1 away, and of one 1 to 2 away. */
MG_INLINE float mg_sample_near(float x)
{
    return (1.25F * x - 2.25F) * x * x + 1.0F;
}

MG_INLINE float mg_sample_further(float x)
{
    return ((-0.75F * x + 3.75F) * x - 6.0F) * x + 3.0F;
}

/* Sets the number of elements and their weights for a distance from the first one, or, if the mode
 * is cubic, from the second one. */
MG_INLINE void mg_sample_weights(const mg_grid_sample_f32_params *p, float x, mg_sample_side *side)
{
    if (p->mode == MG_SAMPLE_NEAREST) {
        side->count = 1;
        side->weight[0] = 1.0F;
    } else if (p->mode == MG_SAMPLE_LINEAR) {
        side->count = 2;
        side->weight[0] = 1.0F - x;
        side->weight[1] = x;
    } else {
        side->count = 4;
        side->weight[0] = mg_sample_further(x + 1.0F);
        side->weight[1] = mg_sample_near(x);
        side->weight[2] = mg_sample_near(1.0F - x);
        side->weight[3] = mg_sample_further(2.0F - x);
    }
}

MG_INLINE void mg_sample_side_of(const mg_grid_sample_f32_params *p, float given, int32_t size,
                                 mg_sample_side *side)
{
    const float low = (p->aligns_corners != 0) ? 0.0F : -0.5F;
    const float high = (p->aligns_corners != 0) ? (float)(size - 1) : (float)size - 0.5F;
    float x = mg_sample_coordinate(p, given, size);
    int32_t first;

    if (p->mode == MG_SAMPLE_NEAREST) {
        x = mg_sample_round(x);
    }
    if (p->padding == MG_OUTSIDE_BORDER && p->mode != MG_SAMPLE_CUBIC && (x < low || x > high)) {
        x = mg_sample_clamp(x, 0.0F, (float)(size - 1));
    } else if (p->padding == MG_OUTSIDE_REFLECTION) {
        x = mg_sample_reflect(x, low, high);
    }
    first = mg_sample_floor(x);
    mg_sample_weights(p, x - (float)first, side);
    first -= (p->mode == MG_SAMPLE_CUBIC) ? 1 : 0;
    for (int32_t n = 0; n < side->count; n++) {
        side->index[n] = mg_sample_element(p, (float)(first + n), size, low, high);
    }
}

/* Adds one element, times its weight, to the sample. */
MG_INLINE void mg_sample_add(const float *values, float weight, int32_t channels, float *output)
{
    for (int32_t c = 0; c < channels; c++) {
        output[c] += weight * values[c];
    }
}

/* Computes the sample of one point from the elements along the three axes. */
MG_INLINE void mg_sample_point(const mg_grid_sample_f32_params *p, const float *input,
                               const mg_sample_side side[3], float *output)
{
    for (int32_t c = 0; c < p->channels; c++) {
        output[c] = 0.0F;
    }
    for (int32_t i = 0; i < side[0].count; i++) {
        for (int32_t j = 0; j < side[1].count; j++) {
            const float outer = side[0].weight[i] * side[1].weight[j];
            for (int32_t k = 0; k < side[2].count; k++) {
                const int32_t z = side[0].index[i];
                const int32_t y = side[1].index[j];
                const int32_t x = side[2].index[k];
                if (z >= 0 && y >= 0 && x >= 0) {
                    const int32_t place = (z * p->shape[1] + y) * p->shape[2] + x;
                    mg_sample_add(&input[place * p->channels], outer * side[2].weight[k],
                                  p->channels, output);
                }
            }
        }
    }
}

MG_INLINE void mg_grid_sample_f32_body(const mg_grid_sample_f32_params *p, const float *input,
                                       const float *grid, float *output)
{
    const int32_t image = p->shape[0] * p->shape[1] * p->shape[2] * p->channels;
    mg_sample_side side[3];

    for (int32_t axis = 0; axis < 3; axis++) {
        side[axis].count = 1;
        side[axis].index[0] = 0;
        side[axis].weight[0] = 1.0F;
    }
    for (int32_t batch = 0; batch < p->batches; batch++) {
        for (int32_t point = 0; point < p->points; point++) {
            for (int32_t n = 0; n < p->axes; n++) {
                mg_sample_side_of(p, grid[n], p->shape[2 - n], &side[2 - n]);
            }
            mg_sample_point(p, input, side, output);
            grid += p->axes;
            output += p->channels;
        }
        input += image;
    }
}

#ifdef MG_GRID_SAMPLE_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_grid_sample_f32, (p, input, grid, output), const mg_grid_sample_f32_params *p,
               const float *input, const float *grid, float *output)
#endif

#endif
