/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of decision trees have in common: keys of floats, and the values of leaves. */
#ifndef MICROGEN_TREE_PARTS_F32_H
#define MICROGEN_TREE_PARTS_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/inline.h"

/* What the parameters of kernels begin with. used has `above` features for which NaN is greater
 * than every number, then `below` ones for which it is less. aggregate is MG_TREE_*. */
#define MG_TREE_SIZES                                                                              \
    int32_t rows;                                                                                  \
    int32_t features;                                                                              \
    int32_t above;                                                                                 \
    int32_t below;                                                                                 \
    int32_t trees;                                                                                 \
    int32_t targets;                                                                               \
    int32_t aggregate;

/* The bytes of elements of the tables of nodes that are walked from child to child. */
#define MG_TREE_NODES                                                                              \
    int32_t split_bytes; /* 1 or 2 */                                                              \
    int32_t child_bytes; /* 1, 2 or 4 */                                                           \
    int32_t tree_bytes;  /* 2 or 4 */

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

/* What is added to keys so that NaN is greater than infinity, or less than -infinity. */
#define MG_NAN_ABOVE (0U - 0x007fffffU)
#define MG_NAN_BELOW 0x007fffffU

/* The key of a float: a number in the order of floats, plus MG_NAN_*; or ~key if is_inverse. */
MG_INLINE uint32_t mg_tree_known(float x, uint32_t offset, int is_inverse)
{
    const uint32_t bits = mg_bits_of_f32(x);
    const uint32_t flipped = bits ^ ((0U - (bits >> 31)) >> 1);

    /* (flipped ^ 0x80000000) + offset, modulo 2^32. */
    return (is_inverse != 0) ? (0x7fffffffU - offset) - flipped : flipped + (0x80000000U + offset);
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

/* Writes the keys of features used[first] to used[last - 1], or ~key if is_inverse. */
MG_INLINE void mg_tree_keys(const float *row, const uint16_t *used, int32_t first, int32_t last,
                            uint32_t offset, int is_inverse, uint32_t *known)
{
    int32_t s = first;

    /* Thumb-1 has too few registers for several keys at a time. */
#if !defined(__thumb__) || defined(__thumb2__)
    for (; s + 4 <= last; s += 4) {
        known[s] = mg_tree_known(row[used[s]], offset, is_inverse);
        known[s + 1] = mg_tree_known(row[used[s + 1]], offset, is_inverse);
        known[s + 2] = mg_tree_known(row[used[s + 2]], offset, is_inverse);
        known[s + 3] = mg_tree_known(row[used[s + 3]], offset, is_inverse);
    }
#endif
    for (; s < last; s++) {
        known[s] = mg_tree_known(row[used[s]], offset, is_inverse);
    }
}

MG_INLINE float mg_tree_combined(int32_t aggregate, float total, float value)
{
    float combined;

    if (aggregate == MG_TREE_SUM) {
        combined = total + value;
    } else if (aggregate == MG_TREE_MIN) {
        combined = (value < total) ? value : total;
    } else {
        combined = (value > total) ? value : total;
    }
    return combined;
}

/* The value with which the results begin. */
MG_INLINE float mg_tree_start(int32_t aggregate)
{
    const float infinity = mg_f32_of_bits(0x7f800000U);
    float start = 0.0F;

    if (aggregate != MG_TREE_SUM) {
        start = (aggregate == MG_TREE_MIN) ? infinity : -infinity;
    }
    return start;
}

#endif
