/* SPDX-License-Identifier: Apache-2.0 */
/* Results of decision trees whose leaves have codes. */
#ifndef MICROGEN_TREE_CODES_F32_H
#define MICROGEN_TREE_CODES_F32_H

#include "microgen/trees/tree_parts_f32.h"

/* What the code of a leaf is. */
#define MG_CODE_BITS 0   /* the bits of the value of the only target */
#define MG_CODE_VALUE 1  /* the index of the only target's value in value */
#define MG_CODE_TARGET 2 /* the index of a value, whose target is row[tree], uint16 */
#define MG_CODE_ROW 3    /* a row [targets] in row, uint8, of indices in value */
#define MG_CODE_WINDOW 4 /* the same, [1 + targets]: w, and indices in value from 256 w on */
#define MG_CODE_VOTE 5   /* a target. n leaves of it make value[n]: [trees + 1] */
#define MG_CODE_GROUP 6  /* as MG_CODE_VALUE, of the next row[k] trees for target k, uint16 */

/* What parameters begin with: also MG_CODE_*, and the bytes of an element of code: 1, 2 or 4. */
#define MG_TREE_CODES                                                                              \
    MG_TREE_SIZES                                                                                  \
    int32_t code_form;                                                                             \
    int32_t code_bytes;

typedef struct {
    int32_t trees;
    int32_t targets;
    int32_t aggregate; /* MG_TREE_* */
    int32_t form;      /* MG_CODE_* */
    const void *row;
    const float *value;
    float *output;
    uint32_t *reached; /* [trees]: where the rows begin that trees reach; or votes [targets] */
} mg_tree_codes;

/* Prepares the results of a row of input. */
MG_INLINE void mg_tree_begin_codes(const mg_tree_codes *c)
{
    if (c->form == MG_CODE_VOTE) {
        for (int32_t k = 0; k < c->targets; k++) {
            c->reached[k] = 0;
        }
    } else if (c->form == MG_CODE_TARGET) {
        for (int32_t k = 0; k < c->targets; k++) {
            c->output[k] = mg_tree_start(c->aggregate);
        }
    }
}

/* Takes the code of the leaf that tree t reaches. Returns the total of the only target. */
MG_INLINE float mg_tree_take(const mg_tree_codes *c, int32_t t, uint32_t code, float total)
{
    float next = total;

    if (c->form < MG_CODE_TARGET || c->form == MG_CODE_GROUP) {
        const float value = (c->form == MG_CODE_BITS) ? mg_f32_of_bits(code) : c->value[code];
        next = mg_tree_combined(c->aggregate, total, value);
    } else if (c->form == MG_CODE_TARGET) {
        float *own = &c->output[((const uint16_t *)c->row)[t]];
        *own = mg_tree_combined(c->aggregate, *own, c->value[code]);
    } else if (c->form == MG_CODE_VOTE) {
        c->reached[code]++;
    } else {
        c->reached[t] = code * (uint32_t)(c->targets + c->form - MG_CODE_ROW);
    }
    return next;
}

/* A total of rows with a value. Totals of sums begin with 0 and are never -0, so a value of 0
 * changes nothing; an addition in software takes longer than to see that. */
MG_INLINE float mg_tree_added(int32_t aggregate, float total, float value)
{
    float next = total;

#if (defined(__arm__) && !(defined(__ARM_FP) && ((__ARM_FP & 4) != 0))) ||                         \
    (defined(__riscv) && !defined(__riscv_flen))
    if (aggregate != MG_TREE_SUM || mg_bits_of_f32(value) != 0U) {
        next = mg_tree_combined(aggregate, total, value);
    }
#else
    next = mg_tree_combined(aggregate, total, value);
#endif
    return next;
}

/* Writes `count` results, 1 to 5, from target k on. */
MG_INLINE void mg_tree_targets(const mg_tree_codes *c, int32_t k, int32_t count)
{
    const int32_t window = (c->form == MG_CODE_WINDOW) ? 1 : 0;
    const float start = mg_tree_start(c->aggregate);
    float t0 = start;
    float t1 = start;
    float t2 = start;
    float t3 = start;
    float t4 = start;

    for (int32_t t = 0; t < c->trees; t++) {
        const uint8_t *row = &((const uint8_t *)c->row)[c->reached[t]];
        const uint8_t *index = &row[k + window];
        const float *value = &c->value[256 * window * row[0]];
        t0 = mg_tree_added(c->aggregate, t0, value[index[0]]);
        if (count > 1) {
            t1 = mg_tree_added(c->aggregate, t1, value[index[1]]);
        }
        if (count > 2) {
            t2 = mg_tree_added(c->aggregate, t2, value[index[2]]);
        }
        if (count > 3) {
            t3 = mg_tree_added(c->aggregate, t3, value[index[3]]);
        }
        if (count > 4) {
            t4 = mg_tree_added(c->aggregate, t4, value[index[4]]);
        }
    }
    c->output[k] = t0;
    if (count > 1) {
        c->output[k + 1] = t1;
    }
    if (count > 2) {
        c->output[k + 2] = t2;
    }
    if (count > 3) {
        c->output[k + 3] = t3;
    }
    if (count > 4) {
        c->output[k + 4] = t4;
    }
}

/* Writes the results of a row of input, or of target `group`. */
MG_INLINE void mg_tree_end_codes(const mg_tree_codes *c, int32_t group, float total)
{
    int32_t k = 0;

    if (c->form < MG_CODE_TARGET || c->form == MG_CODE_GROUP) {
        c->output[group] = total;
    } else if (c->form == MG_CODE_VOTE) {
        for (; k < c->targets; k++) {
            c->output[k] = c->value[c->reached[k]];
        }
    } else if (c->form == MG_CODE_ROW || c->form == MG_CODE_WINDOW) {
        for (; k + 5 <= c->targets; k += 5) {
            mg_tree_targets(c, k, 5);
        }
        switch (c->targets - k) {
        case 4:
            mg_tree_targets(c, k, 4);
            break;
        case 3:
            mg_tree_targets(c, k, 3);
            break;
        case 2:
            mg_tree_targets(c, k, 2);
            break;
        case 1:
            mg_tree_targets(c, k, 1);
            break;
        default: /* all targets are written */
            break;
        }
    }
}

#endif
