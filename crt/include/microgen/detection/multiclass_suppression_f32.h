/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses boxes that do not overlap better ones, with several classes or for each class. */
#ifndef MICROGEN_MULTICLASS_SUPPRESSION_F32_H
#define MICROGEN_MULTICLASS_SUPPRESSION_F32_H

#include "microgen/detection/non_max_suppression_f32.h"

typedef struct {
    int32_t boxes;
    int32_t classes;
    int32_t most;      /* the most boxes, or the most rows with per_class */
    int32_t each;      /* rows for each box */
    int32_t per_class; /* the most boxes of each class; 0: each box is chosen by its best class */
    float least_score; /* boxes with a lower score are not chosen */
    float overlap;     /* the most intersection over union of two chosen boxes */
} mg_multiclass_suppression_f32_params;

/* Chooses from boxes [boxes][4], each ymin, xmin, ymax, xmax, with scores [boxes][classes].
 *
 * A row of output [most * each][7] has the corners, a class and its score, and the number of chosen
 * boxes, or of rows with per_class. Without per_class each box has `each` rows, the best class
 * first. With it the first `most` rows have the best boxes of all classes. Other rows are 0, except
 * for that number. scratch must have `boxes` bytes. No two buffers may overlap. */
MG_EXTERN void mg_multiclass_suppression_f32(const mg_multiclass_suppression_f32_params *p,
                                             const float *boxes, const float *scores, float *output,
                                             uint8_t *scratch);

MG_INLINE void mg_copy_row(float *to, const float *from)
{
    for (int32_t i = 0; i < 6; i++) {
        to[i] = from[i];
    }
}

/* Puts a row into a heap of `count` rows, the least score on top, whose row at `top` is gone:
 * lesser rows move up until the bottom is reached, from where the new one rises. */
MG_INLINE void mg_sink_row(float *heap, int32_t top, int32_t count, const float *row)
{
    int32_t hole = top;

    while (2 * hole + 1 < count) {
        int32_t child = 2 * hole + 2;
        if (child == count || heap[child * 7 + 5] > heap[(child - 1) * 7 + 5]) {
            child--;
        }
        mg_copy_row(&heap[hole * 7], &heap[child * 7]);
        hole = child;
    }
    while (hole > top && heap[(hole - 1) / 2 * 7 + 5] > row[5]) {
        mg_copy_row(&heap[hole * 7], &heap[(hole - 1) / 2 * 7]);
        hole = (hole - 1) / 2;
    }
    mg_copy_row(&heap[hole * 7], row);
}

/* Makes a heap of rows in any order. */
MG_INLINE void mg_heap_of_rows(float *rows, int32_t count)
{
    float row[6];

    for (int32_t top = count / 2 - 1; top >= 0; top--) {
        mg_copy_row(row, &rows[top * 7]);
        mg_sink_row(rows, top, count, row);
    }
}

/* Sorts the rows of a heap, the best first. */
MG_INLINE void mg_sort_rows(float *heap, int32_t count)
{
    float row[6];

    for (int32_t last = count - 1; last > 0; last--) {
        mg_copy_row(row, &heap[last * 7]);
        mg_copy_row(&heap[last * 7], heap);
        mg_sink_row(heap, 0, last, row);
    }
}

/* A row: the corners of a box, a class and its score. */
MG_INLINE void mg_kept_row(const mg_multiclass_suppression_f32_params *p, const float *boxes,
                           const float *scores, int32_t box, int32_t c, float *row)
{
    for (int32_t i = 0; i < 4; i++) {
        row[i] = boxes[box * 4 + i];
    }
    row[4] = (float)c;
    row[5] = scores[box * p->classes + c];
}

/* Puts the best classes of a box into its rows, the best first. */
MG_INLINE void mg_best_classes(const mg_multiclass_suppression_f32_params *p, const float *boxes,
                               const float *scores, int32_t box, float *rows)
{
    const int32_t most = (p->each < p->classes) ? p->each : p->classes;
    float row[6];

    for (int32_t c = 0; c < p->classes; c++) {
        mg_kept_row(p, boxes, scores, box, c, row);
        if (c < most) {
            mg_copy_row(&rows[c * 7], row);
        }
        if (c == most - 1) {
            mg_heap_of_rows(rows, most);
        }
        if (c >= most && row[5] > rows[5]) {
            mg_sink_row(rows, 0, most, row);
        }
    }
    mg_sort_rows(rows, most);
}

/* Inserts a row into `count` sorted rows, of which at most `most` are kept, after those of the same
 * score. Returns their number. */
MG_INLINE int32_t mg_insert_row(float *rows, int32_t count, int32_t most, const float *row)
{
    int32_t place = (count < most) ? count : most - 1;

    if (count == most && rows[place * 7 + 5] >= row[5]) {
        return count;
    }
    while (place > 0 && rows[(place - 1) * 7 + 5] < row[5]) {
        mg_copy_row(&rows[place * 7], &rows[(place - 1) * 7]);
        place--;
    }
    mg_copy_row(&rows[place * 7], row);
    return (count < most) ? count + 1 : most;
}

/* The best box of those whose byte in `gone` is 0, by the greatest of `count` scores from class
 * `first` on; -1 if none has the least score. */
MG_INLINE int32_t mg_best_box(const mg_multiclass_suppression_f32_params *p, const float *scores,
                              int32_t first, int32_t count, const uint8_t *gone)
{
    float best = p->least_score;
    int32_t found = -1;

    for (int32_t box = 0; box < p->boxes; box++) {
        for (int32_t c = first; c < first + count && gone[box] == 0; c++) {
            const float score = scores[box * p->classes + c];
            if (score > best || (found < 0 && score >= best)) {
                best = score;
                found = box;
            }
        }
    }
    return found;
}

/* Marks a chosen box, and those that overlap it. */
MG_INLINE void mg_suppress_boxes(const mg_multiclass_suppression_f32_params *p, const float *boxes,
                                 int32_t chosen, uint8_t *gone)
{
    gone[chosen] = 1;
    for (int32_t box = 0; box < p->boxes; box++) {
        if (gone[box] == 0 && mg_box_overlap(&boxes[chosen * 4], &boxes[box * 4]) > p->overlap) {
            gone[box] = 1;
        }
    }
}

MG_INLINE void mg_clear_bytes(uint8_t *bytes, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        bytes[i] = 0;
    }
}

/* The rows of boxes that are chosen by their best classes. */
MG_INLINE int32_t mg_rows_of_boxes(const mg_multiclass_suppression_f32_params *p,
                                   const float *boxes, const float *scores, float *output,
                                   uint8_t *gone)
{
    mg_clear_bytes(gone, p->boxes);
    for (int32_t count = 0; count < p->most; count++) {
        const int32_t box = mg_best_box(p, scores, 0, p->classes, gone);
        if (box < 0) {
            return count;
        }
        mg_best_classes(p, boxes, scores, box, &output[count * p->each * 7]);
        mg_suppress_boxes(p, boxes, box, gone);
    }
    return p->most;
}

/* Inserts the rows of boxes that are chosen for a class into `count` rows. Returns their number. */
MG_INLINE int32_t mg_rows_of_class(const mg_multiclass_suppression_f32_params *p,
                                   const float *boxes, const float *scores, int32_t c,
                                   int32_t count, float *output, uint8_t *gone)
{
    mg_clear_bytes(gone, p->boxes);
    for (int32_t chosen = 0; chosen < p->per_class; chosen++) {
        const int32_t box = mg_best_box(p, scores, c, 1, gone);
        float row[6];
        if (box < 0) {
            return count;
        }
        mg_kept_row(p, boxes, scores, box, c, row);
        count = mg_insert_row(output, count, p->most, row);
        mg_suppress_boxes(p, boxes, box, gone);
    }
    return count;
}

MG_INLINE void mg_multiclass_suppression_f32_body(const mg_multiclass_suppression_f32_params *p,
                                                  const float *boxes, const float *scores,
                                                  float *output, uint8_t *scratch)
{
    int32_t count = 0;

    for (int32_t i = 0; i < p->most * p->each * 7; i++) {
        output[i] = 0.0F;
    }
    if (p->per_class == 0) {
        count = mg_rows_of_boxes(p, boxes, scores, output, scratch);
    }
    for (int32_t c = 0; p->per_class > 0 && c < p->classes; c++) {
        count = mg_rows_of_class(p, boxes, scores, c, count, output, scratch);
    }
    for (int32_t row = 0; row < p->most * p->each; row++) {
        output[row * 7 + 6] = (float)count;
    }
}

#ifdef MG_MULTICLASS_SUPPRESSION_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_multiclass_suppression_f32, (p, boxes, scores, output, scratch),
               const mg_multiclass_suppression_f32_params *p, const float *boxes,
               const float *scores, float *output, uint8_t *scratch)
#endif

#endif
