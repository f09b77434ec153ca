/* SPDX-License-Identifier: Apache-2.0 */
/* Ensembles of complete decision trees, whose nodes need no table of children. */
#ifndef MICROGEN_TREE_ENSEMBLE_F32_LEVELS_H
#define MICROGEN_TREE_ENSEMBLE_F32_LEVELS_H

#include "microgen/trees/tree_codes_f32.h"

typedef struct {
    MG_TREE_CODES
    int32_t levels;      /* of inner nodes of each tree */
    int32_t split_bytes; /* of an element of split: 1 or 2 */
} mg_tree_ensemble_f32_levels_params;

/* The same as mg_tree_ensemble_f32 for trees that have all nodes of their levels. Tree t has the
 * root trees + t, and node n the children 2 n and 2 n + 1; limit and split
 * [trees (2^levels - 1)] have the nodes from the root of tree 0 on, so that the nodes of a level
 * follow those of the level above, in the order of trees. A step leads to the second child of a
 * node if its limit is greater than the key of feature used[split], and otherwise to the first one.
 * code [trees 2^levels] has the codes of leaves; row and value are tables for them. The time
 * depends on p only. scratch must have 4 bytes for each used feature, and 4 for each target that
 * gets votes, or 4 for each tree if there are rows of values, at a multiple of 4. Output must not
 * overlap input. */
MG_EXTERN void mg_tree_ensemble_f32_levels(const mg_tree_ensemble_f32_levels_params *p,
                                           const float *input, const uint16_t *used,
                                           const uint32_t *limit, const void *split,
                                           const void *code, const void *row, const float *value,
                                           float *output, uint8_t *scratch);

/* Where element 0 of a table would be whose elements begin with number `first`. The address of a
 * node is then found without a subtraction, and no pointer counts trees. */
MG_INLINE const void *mg_tree_from(const void *table, uint32_t first, int32_t bytes)
{
    return (const void *)((uintptr_t)table - (uintptr_t)first * (uintptr_t)bytes);
}

/* Hides a number from the compiler, which would count loops by the wide sums below. */
#if defined(__GNUC__)
#define MG_TREE_OPAQUE(number) __asm__("" : "+r"(number))
#else
#define MG_TREE_OPAQUE(number) (void)(number)
#endif

/* The node below a node n, whose children are 2 n and 2 n + 1. The second is taken if
 * limit + inverse has a carry. */
MG_INLINE uint32_t mg_tree_below(uint32_t node, uint32_t limit, uint32_t inverse)
{
#if defined(__thumb__) && !defined(__thumb2__)
    return node + node + (uint32_t)((uint32_t)(limit + inverse) < limit);
#else
    /* Two instructions of a wide sum. */
    const uint64_t high = (uint64_t)node << 32;

    return (uint32_t)(((high | limit) + (high | inverse)) >> 32);
#endif
}

MG_INLINE uint32_t mg_tree_level(const mg_tree_ensemble_f32_levels_params *p,
                                 const uint32_t *inverse, const uint32_t *limit, const void *split,
                                 uint32_t node)
{
    const uint32_t own = mg_tree_entry(split, node, p->split_bytes);

    return mg_tree_below(node, limit[node], inverse[own]);
}

/* The node below all levels of the tree with this root. Loops that run once at most are none if
 * levels are known. */
MG_INLINE uint32_t mg_tree_leaf_below(const mg_tree_ensemble_f32_levels_params *p,
                                      const uint32_t *inverse, const uint32_t *limit,
                                      const void *split, uint32_t root)
{
    uint32_t node = root;

    MG_TREE_OPAQUE(node);
    for (int32_t left = p->levels / 4; left > 0; left--) {
        node = mg_tree_level(p, inverse, limit, split, node);
        node = mg_tree_level(p, inverse, limit, split, node);
        node = mg_tree_level(p, inverse, limit, split, node);
        node = mg_tree_level(p, inverse, limit, split, node);
    }
    if (p->levels % 4 > 1) {
        node = mg_tree_level(p, inverse, limit, split, node);
        node = mg_tree_level(p, inverse, limit, split, node);
    }
    if (p->levels % 2 > 0) {
        node = mg_tree_level(p, inverse, limit, split, node);
    }
    return node;
}

/* Takes the leaves of trees `first` to `last` - 1. Returns the total of the only target. */
MG_INLINE float mg_tree_levels_total(const mg_tree_ensemble_f32_levels_params *p,
                                     const mg_tree_codes *c, const uint32_t *inverse,
                                     const uint32_t *limit, const void *split, const void *code,
                                     uint32_t first, uint32_t last)
{
    const uint32_t trees = (uint32_t)p->trees;
    const uint32_t *own_limit = (const uint32_t *)mg_tree_from(limit, trees, 4);
    const void *own_split = mg_tree_from(split, trees, p->split_bytes);
    const void *own_code = mg_tree_from(code, trees << p->levels, p->code_bytes);
    float total = mg_tree_start(p->aggregate);

    for (uint32_t t = first; t < last; t++) {
        const uint32_t leaf = mg_tree_leaf_below(p, inverse, own_limit, own_split, trees + t);
        total = mg_tree_take(c, (int32_t)t, mg_tree_entry(own_code, leaf, p->code_bytes), total);
    }
    return total;
}

MG_INLINE void mg_tree_ensemble_f32_levels_body(const mg_tree_ensemble_f32_levels_params *p,
                                                const float *input, const uint16_t *used,
                                                const uint32_t *limit, const void *split,
                                                const void *code, const void *row,
                                                const float *value, float *output, uint8_t *scratch)
{
    uint32_t *inverse = (uint32_t *)(void *)scratch;
    const int32_t splits = p->above + p->below;
    const int32_t groups = (p->code_form == MG_CODE_GROUP) ? p->targets : 1;

    for (int32_t r = 0; r < p->rows; r++) {
        const mg_tree_codes codes = {p->trees, p->targets, p->aggregate, p->code_form,
                                     row,      value,      output,       &inverse[splits]};
        uint32_t first = 0;
        mg_tree_keys(input, used, 0, p->above, MG_NAN_ABOVE, 1, inverse);
        mg_tree_keys(input, used, p->above, splits, MG_NAN_BELOW, 1, inverse);
        mg_tree_begin_codes(&codes);
        for (int32_t k = 0; k < groups; k++) {
            const uint32_t count = (groups > 1) ? ((const uint16_t *)row)[k] : (uint32_t)p->trees;
            const float total =
                mg_tree_levels_total(p, &codes, inverse, limit, split, code, first, first + count);
            mg_tree_end_codes(&codes, k, total);
            first += count;
        }
        input += p->features;
        output += p->targets;
    }
}

#ifdef MG_TREE_ENSEMBLE_F32_LEVELS_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_tree_ensemble_f32_levels,
               (p, input, used, limit, split, code, row, value, output, scratch),
               const mg_tree_ensemble_f32_levels_params *p, const float *input,
               const uint16_t *used, const uint32_t *limit, const void *split, const void *code,
               const void *row, const float *value, float *output, uint8_t *scratch)
#endif

#endif
