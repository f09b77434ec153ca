/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the boxes with the best scores that do not overlap better ones. */
#ifndef MICROGEN_NON_MAX_SUPPRESSION_F32_H
#define MICROGEN_NON_MAX_SUPPRESSION_F32_H

#include "microgen/inline.h"

typedef struct {
    int32_t boxes;
    int32_t most;      /* the most boxes that are chosen */
    float least_score; /* boxes with a lower score are not chosen */
    float overlap;     /* the most intersection over union of two chosen boxes */
} mg_non_max_suppression_f32_params;

/* Chooses from boxes [boxes][4], each ymin, xmin, ymax, xmax, with scores [boxes] and classes
 * [boxes]. Of equal scores the first one is the best. A row of output [most][7] has the corners,
 * the class and the score of a chosen box, and the number of all chosen boxes. Other rows are 0,
 * except for that number. No two buffers may overlap. */
MG_EXTERN void mg_non_max_suppression_f32(const mg_non_max_suppression_f32_params *p,
                                          const float *boxes, const float *scores,
                                          const int32_t *classes, float *output);

MG_INLINE float mg_box_side(const float *a, const float *b, int32_t low)
{
    const float from = (a[low] > b[low]) ? a[low] : b[low];
    const float to = (a[low + 2] < b[low + 2]) ? a[low + 2] : b[low + 2];
    return (to - from > 0.0F) ? to - from : 0.0F;
}

/* The intersection of two boxes over their union; 0 if one is empty. */
MG_INLINE float mg_box_overlap(const float *a, const float *b)
{
    const float area_a = (a[2] - a[0]) * (a[3] - a[1]);
    const float area_b = (b[2] - b[0]) * (b[3] - b[1]);
    const float both = mg_box_side(a, b, 0) * mg_box_side(a, b, 1);
    return (area_a <= 0.0F || area_b <= 0.0F) ? 0.0F : both / (area_a + area_b - both);
}

/* The best box after box `last` in the order of scores, or the first one if last is -1. -1 if no
 * box is left. */
MG_INLINE int32_t mg_next_box(const mg_non_max_suppression_f32_params *p, const float *scores,
                              int32_t last)
{
    int32_t best = -1;

    for (int32_t i = 0; i < p->boxes; i++) {
        const int is_after =
            last < 0 || scores[i] < scores[last] || (scores[i] == scores[last] && i > last);
        if (scores[i] >= p->least_score && is_after && (best < 0 || scores[i] > scores[best])) {
            best = i;
        }
    }
    return best;
}

/* Whether a box overlaps one of those in the first `count` rows of the output. */
MG_INLINE int mg_is_suppressed(const mg_non_max_suppression_f32_params *p, const float *output,
                               int32_t count, const float *box)
{
    for (int32_t row = 0; row < count; row++) {
        if (mg_box_overlap(&output[row * 7], box) > p->overlap) {
            return 1;
        }
    }
    return 0;
}

MG_INLINE void mg_non_max_suppression_f32_body(const mg_non_max_suppression_f32_params *p,
                                               const float *boxes, const float *scores,
                                               const int32_t *classes, float *output)
{
    int32_t count = 0;
    int32_t box = mg_next_box(p, scores, -1);

    for (int32_t i = 0; i < p->most * 7; i++) {
        output[i] = 0.0F;
    }
    while (box >= 0 && count < p->most) {
        if (mg_is_suppressed(p, output, count, &boxes[box * 4]) == 0) {
            for (int32_t i = 0; i < 4; i++) {
                output[count * 7 + i] = boxes[box * 4 + i];
            }
            output[count * 7 + 4] = (float)classes[box];
            output[count * 7 + 5] = scores[box];
            count++;
        }
        box = mg_next_box(p, scores, box);
    }
    for (int32_t row = 0; row < p->most; row++) {
        output[row * 7 + 6] = (float)count;
    }
}

#ifdef MG_NON_MAX_SUPPRESSION_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_non_max_suppression_f32, (p, boxes, scores, classes, output),
               const mg_non_max_suppression_f32_params *p, const float *boxes, const float *scores,
               const int32_t *classes, float *output)
#endif

#endif
