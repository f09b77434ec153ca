/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses, for each class, the boxes with the best scores that do not overlap better ones. */
#ifndef MICROGEN_ALL_CLASS_SUPPRESSION_F32_H
#define MICROGEN_ALL_CLASS_SUPPRESSION_F32_H

#include "microgen/inline.h"

typedef struct {
    int32_t batches;
    int32_t classes;
    int32_t boxes;
    int32_t most;       /* the most boxes of a class that are chosen */
    int32_t is_centred; /* 1: a box is its centre x, y, width, height; 0: corners y, x, y, x */
    int32_t has_least;  /* 1: only boxes whose score is greater than least_score are chosen */
    float least_score;
    float overlap; /* the most intersection over union of two chosen boxes */
} mg_all_class_suppression_f32_params;

/* Chooses from boxes [batches][boxes][4] with scores [batches][classes][boxes]. Of equal scores the
 * first one is the best; boxes whose score is NaN are not chosen. A row of output
 * [batches * classes * most][3] has the batch, the class and the box; the rows after those of all
 * chosen boxes are -1. No two buffers may overlap. */
MG_EXTERN void mg_all_class_suppression_f32(const mg_all_class_suppression_f32_params *p,
                                            const float *boxes, const float *scores,
                                            int64_t *output);

/* The lowest and the highest value of a box on one of its two axes. */
MG_INLINE void mg_box_range(const mg_all_class_suppression_f32_params *p, const float *box,
                            int32_t axis, float range[2])
{
    const float first = box[axis];
    const float second = box[axis + 2];

    if (p->is_centred != 0) {
        range[0] = first - second / 2.0F;
        range[1] = first + second / 2.0F;
    } else {
        range[0] = (second < first) ? second : first;
        range[1] = (second < first) ? first : second;
    }
}

/* The intersection of two boxes over their union; -1 without one. */
MG_INLINE float mg_box_ratio(const mg_all_class_suppression_f32_params *p, const float *a,
                             const float *b)
{
    float both = 1.0F;
    float area_a = 1.0F;
    float area_b = 1.0F;
    float all;

    for (int32_t axis = 0; axis < 2; axis++) {
        float own[2];
        float other[2];
        float side;
        mg_box_range(p, a, axis, own);
        mg_box_range(p, b, axis, other);
        side =
            ((own[1] < other[1]) ? own[1] : other[1]) - ((own[0] > other[0]) ? own[0] : other[0]);
        if (!(side > 0.0F)) {
            return -1.0F;
        }
        both *= side;
        area_a *= own[1] - own[0];
        area_b *= other[1] - other[0];
    }
    all = area_a + area_b - both;
    if (!(both > 0.0F && area_a > 0.0F && area_b > 0.0F && all > 0.0F)) {
        return -1.0F;
    }
    return both / all;
}

/* The best box after box `last` in the order of scores, or the first one if last is -1. -1 if no
 * box is left. */
MG_INLINE int32_t mg_best_of_class(const mg_all_class_suppression_f32_params *p,
                                   const float *scores, int32_t last)
{
    int32_t best = -1;

    for (int32_t i = 0; i < p->boxes; i++) {
        const float score = scores[i];
        const int is_high = (p->has_least != 0) ? (score > p->least_score) : (score == score);
        const int is_after =
            last < 0 || score < scores[last] || (score == scores[last] && i > last);
        if (is_high && is_after && (best < 0 || score > scores[best])) {
            best = i;
        }
    }
    return best;
}

/* Whether a box overlaps one of those in `count` rows. */
MG_INLINE int mg_is_overlapping(const mg_all_class_suppression_f32_params *p, const float *boxes,
                                const int64_t *rows, int32_t count, int32_t box)
{
    for (int32_t row = 0; row < count; row++) {
        const int32_t other = (int32_t)rows[row * 3 + 2];
        if (mg_box_ratio(p, &boxes[other * 4], &boxes[box * 4]) > p->overlap) {
            return 1;
        }
    }
    return 0;
}

/* Writes the rows of a class, and returns their number. */
MG_INLINE int32_t mg_class_suppression(const mg_all_class_suppression_f32_params *p,
                                       const float *boxes, const float *scores, int32_t batch,
                                       int32_t klass, int64_t *rows)
{
    int32_t count = 0;
    int32_t box = mg_best_of_class(p, scores, -1);

    while (box >= 0 && count < p->most) {
        if (mg_is_overlapping(p, boxes, rows, count, box) == 0) {
            rows[count * 3] = batch;
            rows[count * 3 + 1] = klass;
            rows[count * 3 + 2] = box;
            count++;
        }
        box = mg_best_of_class(p, scores, box);
    }
    return count;
}

MG_INLINE void mg_all_class_suppression_f32_body(const mg_all_class_suppression_f32_params *p,
                                                 const float *boxes, const float *scores,
                                                 int64_t *output)
{
    const int32_t size = p->batches * p->classes * p->most * 3;
    int32_t used = 0;

    for (int32_t batch = 0; batch < p->batches; batch++) {
        for (int32_t klass = 0; klass < p->classes; klass++) {
            used += 3 * mg_class_suppression(p, &boxes[batch * p->boxes * 4],
                                             &scores[(batch * p->classes + klass) * p->boxes],
                                             batch, klass, &output[used]);
        }
    }
    for (int32_t i = used; i < size; i++) {
        output[i] = -1;
    }
}

#ifdef MG_ALL_CLASS_SUPPRESSION_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_all_class_suppression_f32, (p, boxes, scores, output),
               const mg_all_class_suppression_f32_params *p, const float *boxes,
               const float *scores, int64_t *output)
#endif

#endif
