/* SPDX-License-Identifier: Apache-2.0 */
/* Ensembles of decision trees: tables that are walked in a fixed number of steps. */
#ifndef MICROGEN_TREE_ENSEMBLE_F32_H
#define MICROGEN_TREE_ENSEMBLE_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/inline.h"

#define MG_TREE_SUM 0
#define MG_TREE_MIN 1
#define MG_TREE_MAX 2

/* What a leaf's key is. */
#define MG_LEAF_VALUE 0  /* the bits of the value of the only target */
#define MG_LEAF_TARGET 1 /* the bits of a value, whose target is leaf[tree] */
#define MG_LEAF_ROW 2    /* the number of a row [targets] of floats in leaf */
#define MG_LEAF_ROW_U8 3 /* the number of a row [targets] of indices in leaf, of value */
#define MG_LEAF_ROW_U16 4
#define MG_LEAF_VOTE 5 /* a target. n leaves of it make leaf[n]: [trees + 1] of floats */

typedef struct {
    int32_t rows;
    int32_t features;
    int32_t above; /* of the used features: those for which NaN is greater than every number */
    int32_t below; /* the used features after them, for which NaN is less */
    int32_t trees;
    int32_t targets;
    int32_t aggregate;   /* MG_TREE_* */
    int32_t leaf_form;   /* MG_LEAF_* */
    int32_t split_bytes; /* of an element of split: 1 or 2 */
    int32_t child_bytes; /* of an element of child: 1, 2 or 4 */
    int32_t tree_bytes;  /* of an element of tree: 2 or 4 */
} mg_tree_ensemble_f32_params;

/* Writes the sum, minimum or maximum over all trees of the leaves that a row of input
 * [rows][features] reaches to output [rows][targets]. The keys of a row's floats are compared,
 * uint32 numbers in the order of floats, 0 for split 0, and of feature used[s] for split s + 1.
 * A step from node n leads to child[n], or to the node before that one if key[n] is less than the
 * key of split[n]. The child of a leaf is the leaf, and its split is 0. tree [trees][2] has the
 * root of each tree, and how often two steps are taken from it. The time depends on p and on tree
 * only. Tables without elements of the leaf_form may be NULL. scratch must have 4 bytes for each
 * used feature and 4 more, and 4 for each target that gets votes, at a multiple of 4. Output must
 * not overlap input. */
MG_EXTERN void mg_tree_ensemble_f32(const mg_tree_ensemble_f32_params *p, const float *input,
                                    const uint16_t *used, const uint32_t *key, const void *split,
                                    const void *child, const void *tree, const void *leaf,
                                    const float *value, float *output, uint8_t *scratch);

/* An element of 1, 2 or 4 bytes. */
MG_INLINE uint32_t mg_tree_entry(const void *table, uint32_t index, int32_t bytes)
{
    uint32_t entry;

    if (bytes == 1) {
        entry = ((const uint8_t *)table)[index];
    } else if (bytes == 2) {
        entry = ((const uint16_t *)table)[index];
    } else {
        entry = ((const uint32_t *)table)[index];
    }
    return entry;
}

/* A number in the order of floats. NaN is moved past infinity by an offset of -0x7fffff, or before
 * -infinity by one of 0x7fffff. */
MG_INLINE uint32_t mg_tree_key(float x, uint32_t offset)
{
    const uint32_t bits = mg_bits_of_f32(x);

    return (bits ^ ((0U - (bits >> 31)) | 0x80000000U)) + offset;
}

/* Writes the keys of a row to known. */
MG_INLINE void mg_tree_keys(const mg_tree_ensemble_f32_params *p, const float *row,
                            const uint16_t *used, uint32_t *known)
{
    const int32_t splits = p->above + p->below;

    known[0] = 0;
    for (int32_t s = 0; s < p->above; s++) {
        known[s + 1] = mg_tree_key(row[used[s]], 0U - 0x007fffffU);
    }
    for (int32_t s = p->above; s < splits; s++) {
        known[s + 1] = mg_tree_key(row[used[s]], 0x007fffffU);
    }
}

/* -1, modulo 2^32, if key is less than x, otherwise 0. */
MG_INLINE uint32_t mg_tree_less(uint32_t key, uint32_t x)
{
    /* Compilers subtract the borrow of a wide difference without a branch. Thumb-1 has too few
     * registers for that, and subtracts the result of a comparison. */
#if defined(__thumb__) && !defined(__thumb2__)
    return 0U - (uint32_t)(key < x);
#else
    return (uint32_t)(((uint64_t)key - x) >> 32);
#endif
}

/* The node after a step. */
MG_INLINE uint32_t mg_tree_step(const mg_tree_ensemble_f32_params *p, const uint32_t *known,
                                const uint32_t *key, const void *split, const void *child,
                                uint32_t node)
{
    const uint32_t x = known[mg_tree_entry(split, node, p->split_bytes)];

    return mg_tree_entry(child, node, p->child_bytes) + mg_tree_less(key[node], x);
}

MG_INLINE void mg_tree_combine(const mg_tree_ensemble_f32_params *p, float *total, float value)
{
    if (p->aggregate == MG_TREE_SUM) {
        *total += value;
    } else if (p->aggregate == MG_TREE_MIN) {
        *total = (value < *total) ? value : *total;
    } else {
        *total = (value > *total) ? value : *total;
    }
}

/* Adds element k of a leaf's row. */
MG_INLINE void mg_tree_element(const mg_tree_ensemble_f32_params *p, const void *leaf,
                               const float *value, uint32_t first, int32_t k, float *output)
{
    const uint32_t index = first + (uint32_t)k;

    if (p->leaf_form == MG_LEAF_ROW) {
        mg_tree_combine(p, &output[k], ((const float *)leaf)[index]);
    } else {
        const int32_t bytes = p->leaf_form - MG_LEAF_ROW;
        mg_tree_combine(p, &output[k], value[mg_tree_entry(leaf, index, bytes)]);
    }
}

/* Adds a leaf's row, three elements at a time. */
MG_INLINE void mg_tree_row(const mg_tree_ensemble_f32_params *p, const void *leaf,
                           const float *value, uint32_t first, float *output)
{
    const int32_t rest = p->targets % 3;
    const int32_t whole = p->targets - rest;

    for (int32_t k = 0; k < whole; k += 3) {
        mg_tree_element(p, leaf, value, first, k, output);
        mg_tree_element(p, leaf, value, first, k + 1, output);
        mg_tree_element(p, leaf, value, first, k + 2, output);
    }
    if (rest > 0) {
        mg_tree_element(p, leaf, value, first, whole, output);
    }
    if (rest > 1) {
        mg_tree_element(p, leaf, value, first, whole + 1, output);
    }
}

/* Adds the leaf of tree `t` whose key this is to the results of a row. */
MG_INLINE void mg_tree_leaf(const mg_tree_ensemble_f32_params *p, uint32_t key, int32_t t,
                            const void *leaf, const float *value, float *output)
{
    if (p->leaf_form == MG_LEAF_VALUE) {
        mg_tree_combine(p, output, mg_f32_of_bits(key));
    } else if (p->leaf_form == MG_LEAF_TARGET) {
        mg_tree_combine(p, &output[((const uint16_t *)leaf)[t]], mg_f32_of_bits(key));
    } else {
        mg_tree_row(p, leaf, value, key * (uint32_t)p->targets, output);
    }
}

/* The value with which the results begin. */
MG_INLINE float mg_tree_start(const mg_tree_ensemble_f32_params *p)
{
    const float infinity = mg_f32_of_bits(0x7f800000U);
    float start = 0.0F;

    if (p->aggregate != MG_TREE_SUM) {
        start = (p->aggregate == MG_TREE_MIN) ? infinity : -infinity;
    }
    return start;
}

/* Sets the votes of a row to 0, or its results to their start. */
MG_INLINE void mg_tree_begin(const mg_tree_ensemble_f32_params *p, uint32_t *votes, float *output)
{
    for (int32_t k = 0; k < p->targets; k++) {
        if (p->leaf_form == MG_LEAF_VOTE) {
            votes[k] = 0;
        } else {
            output[k] = mg_tree_start(p);
        }
    }
}

MG_INLINE void mg_tree_ensemble_f32_body(const mg_tree_ensemble_f32_params *p, const float *input,
                                         const uint16_t *used, const uint32_t *key,
                                         const void *split, const void *child, const void *tree,
                                         const void *leaf, const float *value, float *output,
                                         uint8_t *scratch)
{
    uint32_t *known = (uint32_t *)(void *)scratch;
    uint32_t *votes = &known[p->above + p->below + 1];

    for (int32_t row = 0; row < p->rows; row++) {
        mg_tree_keys(p, &input[row * p->features], used, known);
        mg_tree_begin(p, votes, output);
        for (int32_t t = 0; t < p->trees; t++) {
            uint32_t node = mg_tree_entry(tree, 2U * (uint32_t)t, p->tree_bytes);
            for (uint32_t n = mg_tree_entry(tree, 2U * (uint32_t)t + 1U, p->tree_bytes); n > 0U;
                 n--) {
                node = mg_tree_step(p, known, key, split, child, node);
                node = mg_tree_step(p, known, key, split, child, node);
            }
            if (p->leaf_form == MG_LEAF_VOTE) {
                votes[key[node]]++;
            } else {
                mg_tree_leaf(p, key[node], t, leaf, value, output);
            }
        }
        for (int32_t k = 0; p->leaf_form == MG_LEAF_VOTE && k < p->targets; k++) {
            output[k] = ((const float *)leaf)[votes[k]];
        }
        output += p->targets;
    }
}

#ifdef MG_TREE_ENSEMBLE_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_tree_ensemble_f32,
               (p, input, used, key, split, child, tree, leaf, value, output, scratch),
               const mg_tree_ensemble_f32_params *p, const float *input, const uint16_t *used,
               const uint32_t *key, const void *split, const void *child, const void *tree,
               const void *leaf, const float *value, float *output, uint8_t *scratch)
#endif

#endif
