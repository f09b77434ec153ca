/* SPDX-License-Identifier: Apache-2.0 */
/* Ensembles of decision trees that compare ranks, which take fewer bytes than limits. */
#ifndef MICROGEN_TREE_ENSEMBLE_F32_RANKS_H
#define MICROGEN_TREE_ENSEMBLE_F32_RANKS_H

#include "microgen/trees/tree_codes_f32.h"

typedef struct {
    MG_TREE_CODES
    MG_TREE_NODES
} mg_tree_ensemble_f32_ranks_params;

/* The same as mg_tree_ensemble_f32 for trees that have many equal limits. The limits of feature
 * used[s], in ascending order and each one once, are limit[first[s]] to limit[first[s + 1] - 1]; at
 * least one. code [nodes] has the position of a node's limit among them, or the code of a leaf; row
 * and value are tables for these codes. The time depends on p, first and tree only. scratch must
 * have 4 bytes for each used feature and 4 more, and 4 for each target that gets votes, or 4 for
 * each tree if there are rows of values, at a multiple of 4. Output must not overlap input. */
MG_EXTERN void mg_tree_ensemble_f32_ranks(const mg_tree_ensemble_f32_ranks_params *p,
                                          const float *input, const uint16_t *used,
                                          const void *split, const void *child, const void *tree,
                                          const uint16_t *first, const uint32_t *limit,
                                          const void *code, const void *row, const float *value,
                                          float *output, uint8_t *scratch);

/* The number of limits that are less than a key. The steps depend on the number of limits only. */
MG_INLINE uint32_t mg_tree_rank(const uint32_t *limit, uint32_t limits, uint32_t key)
{
    const uint32_t *least = limit;

    for (uint32_t left = limits; left > 1U;) {
        const uint32_t half = left / 2U;
        const uint32_t *middle = &least[half];
        least = (middle[-1] < key) ? middle : least;
        left -= half;
    }
    return (uint32_t)(least - limit) - mg_tree_less(*least, key);
}

/* Writes the ranks of a row. */
MG_INLINE void mg_tree_ranks(const mg_tree_ensemble_f32_ranks_params *p, const float *input,
                             const uint16_t *used, const uint16_t *first, const uint32_t *limit,
                             uint32_t *rank)
{
    for (int32_t s = 0; s < p->above + p->below; s++) {
        const uint32_t offset = (s < p->above) ? MG_NAN_ABOVE : MG_NAN_BELOW;
        const uint32_t key = mg_tree_known(input[used[s]], offset, 0);
        rank[s] = mg_tree_rank(&limit[first[s]], (uint32_t)first[s + 1] - first[s], key);
    }
}

/* The node after a step. */
MG_INLINE uint32_t mg_tree_rank_step(const mg_tree_ensemble_f32_ranks_params *p,
                                     const uint32_t *known, const void *code, const void *split,
                                     const void *child, uint32_t node)
{
    const uint32_t rank = known[mg_tree_entry(split, node, p->split_bytes)];
    const uint32_t least = mg_tree_less(mg_tree_entry(code, node, p->code_bytes), rank);

    return mg_tree_entry(child, node, p->child_bytes) + least;
}

MG_INLINE void mg_tree_ensemble_f32_ranks_body(const mg_tree_ensemble_f32_ranks_params *p,
                                               const float *input, const uint16_t *used,
                                               const void *split, const void *child,
                                               const void *tree, const uint16_t *first,
                                               const uint32_t *limit, const void *code,
                                               const void *row, const float *value, float *output,
                                               uint8_t *scratch)
{
    uint32_t *known = (uint32_t *)(void *)scratch;

    for (int32_t r = 0; r < p->rows; r++) {
        const mg_tree_codes codes = {
            p->trees, p->targets, p->aggregate, p->code_form,
            row,      value,      output,       &known[p->above + p->below + 1]};
        float total = mg_tree_start(p->aggregate);
        known[0] = 0;
        mg_tree_ranks(p, input, used, first, limit, &known[1]);
        mg_tree_begin_codes(&codes);
        for (int32_t t = 0; t < p->trees; t++) {
            uint32_t node = mg_tree_entry(tree, 2U * (uint32_t)t, p->tree_bytes);
            for (uint32_t n = mg_tree_entry(tree, 2U * (uint32_t)t + 1U, p->tree_bytes); n > 0U;
                 n--) {
                node = mg_tree_rank_step(p, known, code, split, child, node);
                node = mg_tree_rank_step(p, known, code, split, child, node);
            }
            total = mg_tree_take(&codes, t, mg_tree_entry(code, node, p->code_bytes), total);
        }
        mg_tree_end_codes(&codes, 0, total);
        input += p->features;
        output += p->targets;
    }
}

#ifdef MG_TREE_ENSEMBLE_F32_RANKS_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_tree_ensemble_f32_ranks,
               (p, input, used, split, child, tree, first, limit, code, row, value, output,
                scratch),
               const mg_tree_ensemble_f32_ranks_params *p, const float *input, const uint16_t *used,
               const void *split, const void *child, const void *tree, const uint16_t *first,
               const uint32_t *limit, const void *code, const void *row, const float *value,
               float *output, uint8_t *scratch)
#endif

#endif
