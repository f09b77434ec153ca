/* SPDX-License-Identifier: Apache-2.0 */
/* Ensembles of decision trees: tables that are walked in a fixed number of steps. */
#ifndef MICROGEN_TREE_ENSEMBLE_F32_H
#define MICROGEN_TREE_ENSEMBLE_F32_H

#include "microgen/trees/tree_parts_f32.h"

typedef struct {
    MG_TREE_SIZES
    int32_t leaf_form; /* MG_LEAF_* */
    MG_TREE_NODES
    int32_t is_lazy; /* 1: keys are computed at each step, not once for all steps */
} mg_tree_ensemble_f32_params;

/* Writes the sum, minimum or maximum over all trees of the leaves that a row of input
 * [rows][features] reaches to output [rows][targets]. The keys of a row's floats are compared,
 * uint32 numbers in the order of floats, 0 for split 0, and of feature used[s] for split s + 1.
 * A step from node n leads to child[n], or to the node before that one if key[n] is less than the
 * key of split[n]. The child of a leaf is the leaf, and its split is 0. tree [trees][2] has the
 * root of each tree, and how often two steps are taken from it. The time depends on p and on tree
 * only. Tables without elements of the leaf_form may be NULL. scratch must have 4 bytes, 4 for each
 * used feature unless is_lazy, and 4 for each target that gets votes, at a multiple of 4. With
 * is_lazy there must be a used feature. Output must not overlap input. */
MG_EXTERN void mg_tree_ensemble_f32(const mg_tree_ensemble_f32_params *p, const float *input,
                                    const uint16_t *used, const uint32_t *key, const void *split,
                                    const void *child, const void *tree, const void *leaf,
                                    const float *value, float *output, uint8_t *scratch);

/* The key of a split's feature, or 0 of split 0. Compilers make no branches of differences. */
MG_INLINE uint32_t mg_tree_asked(const mg_tree_ensemble_f32_params *p, const float *input,
                                 const uint16_t *used, uint32_t split)
{
    const uint32_t is_inner = (0U - split) >> 31;
    const uint32_t place = split - is_inner;
    uint32_t offset = (p->above > 0) ? MG_NAN_ABOVE : MG_NAN_BELOW;

    if (p->above > 0 && p->below > 0) {
        offset += (((uint32_t)p->above - 1U - place) >> 31) * (MG_NAN_BELOW - MG_NAN_ABOVE);
    }
    return mg_tree_known(input[used[place]], offset, 0) & (0U - is_inner);
}

/* The node after a step. */
MG_INLINE uint32_t mg_tree_step(const mg_tree_ensemble_f32_params *p, const float *input,
                                const uint16_t *used, const uint32_t *known, const uint32_t *key,
                                const void *split, const void *child, uint32_t node)
{
    const uint32_t own = mg_tree_entry(split, node, p->split_bytes);
    const uint32_t x = (p->is_lazy != 0) ? mg_tree_asked(p, input, used, own) : known[own];

    return mg_tree_entry(child, node, p->child_bytes) + mg_tree_less(key[node], x);
}

MG_INLINE void mg_tree_combine(const mg_tree_ensemble_f32_params *p, float *total, float value)
{
    *total = mg_tree_combined(p->aggregate, *total, value);
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

/* Sets the votes of a row to 0, or its results to their start. */
MG_INLINE void mg_tree_begin(const mg_tree_ensemble_f32_params *p, uint32_t *votes, float *output)
{
    for (int32_t k = 0; k < p->targets; k++) {
        if (p->leaf_form == MG_LEAF_VOTE) {
            votes[k] = 0;
        } else {
            output[k] = mg_tree_start(p->aggregate);
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
    const int32_t splits = (p->is_lazy != 0) ? 0 : p->above + p->below;
    uint32_t *votes = &known[splits + 1];

    for (int32_t row = 0; row < p->rows; row++) {
        known[0] = 0;
        if (p->is_lazy == 0) {
            mg_tree_keys(input, used, 0, p->above, MG_NAN_ABOVE, 0, &known[1]);
            mg_tree_keys(input, used, p->above, splits, MG_NAN_BELOW, 0, &known[1]);
        }
        mg_tree_begin(p, votes, output);
        for (int32_t t = 0; t < p->trees; t++) {
            uint32_t node = mg_tree_entry(tree, 2U * (uint32_t)t, p->tree_bytes);
            for (uint32_t n = mg_tree_entry(tree, 2U * (uint32_t)t + 1U, p->tree_bytes); n > 0U;
                 n--) {
                node = mg_tree_step(p, input, used, known, key, split, child, node);
                node = mg_tree_step(p, input, used, known, key, split, child, node);
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
        input += p->features;
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
