/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and products of float32 in rows, four elements at a time, for cores with an
 * FPU: results are clamped only if there is an activation, or if one of the four is not finite. */
#ifndef MICROGEN_ARITHMETIC_F32_ROWS_H
#define MICROGEN_ARITHMETIC_F32_ROWS_H

#include <float.h>
#include <string.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_math.h"
#include "microgen/elementwise/broadcast.h"

typedef struct {
    MG_PAIR_ROWS
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_arithmetic_f32_rows_params;

/* x, or 0 if it is less. x is no NaN. */
MG_INLINE float mg_positive_f32(float x)
{
    const uint32_t bits = mg_bits_of_f32(x);
    return mg_f32_of_bits((bits >= MG_F32_SIGN) ? 0U : bits);
}

/* Clamps and stores four results. */
MG_INLINE void mg_arithmetic_f32_store(const mg_arithmetic_f32_rows_params *p, float a, float b,
                                       float c, float d, float *output)
{
    const float least = p->activation_min;
    const float most = p->activation_max;
    /* finite only if each of them is */
    const int is_finite = mg_f32_abs((a + b) + (c + d)) <= FLT_MAX;

    if (is_finite && least <= -FLT_MAX && most >= FLT_MAX) {
        output[0] = a;
        output[1] = b;
        output[2] = c;
        output[3] = d;
    } else if (is_finite && least == 0.0F && most >= FLT_MAX) {
        output[0] = mg_positive_f32(a);
        output[1] = mg_positive_f32(b);
        output[2] = mg_positive_f32(c);
        output[3] = mg_positive_f32(d);
    } else {
        output[0] = mg_clamp_f32(a, least, most);
        output[1] = mg_clamp_f32(b, least, most);
        output[2] = mg_clamp_f32(c, least, most);
        output[3] = mg_clamp_f32(d, least, most);
    }
}

/* Computes output [rows][size], each element of which is combined(left, right). Four elements are
 * read before they are written. */
#define MG_ARITHMETIC_F32_ROWS(combined, p, lhs, rhs, output)                                      \
    do {                                                                                           \
        float *to_ = (output);                                                                     \
        for (int32_t row_ = 0; row_ < (p)->rows; row_++) {                                         \
            const float *l_ = &(lhs)[row_ * (p)->lhs_row];                                         \
            const float *r_ = &(rhs)[row_ * (p)->rhs_row];                                         \
            const int32_t ls_ = (p)->lhs_step;                                                     \
            const int32_t rs_ = (p)->rhs_step;                                                     \
            for (int32_t i_ = (p)->size / 4; i_ > 0; i_--) {                                       \
                mg_arithmetic_f32_store((p), combined(l_[0], r_[0]), combined(l_[ls_], r_[rs_]),   \
                                        combined(l_[2 * ls_], r_[2 * rs_]),                        \
                                        combined(l_[3 * ls_], r_[3 * rs_]), to_);                  \
                l_ += 4 * ls_;                                                                     \
                r_ += 4 * rs_;                                                                     \
                to_ += 4;                                                                          \
            }                                                                                      \
            for (int32_t i_ = (p)->size % 4; i_ > 0; i_--) {                                       \
                *to_++ =                                                                           \
                    mg_clamp_f32(combined(*l_, *r_), (p)->activation_min, (p)->activation_max);    \
                l_ += ls_;                                                                         \
                r_ += rs_;                                                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol` and defines its body. It computes the same as the kernel without
 * _rows. Output may be the same buffer as an operand that is not broadcast; otherwise it must not
 * overlap an operand. */
#define MG_ARITHMETIC_F32_KERNEL(symbol, combined)                                                 \
    typedef mg_arithmetic_f32_rows_params symbol##_params;                                         \
    MG_DECLARE_BINARY(symbol, float, float);                                                       \
    MG_INLINE void symbol##_body(const symbol##_params *p, const float *lhs, const float *rhs,     \
                                 float *output)                                                    \
    {                                                                                              \
        MG_ARITHMETIC_F32_ROWS(combined, p, lhs, rhs, output);                                     \
    }

#define MG_SUM_OF(left, right) ((left) + (right))
#define MG_DIFFERENCE_OF(left, right) ((left) - (right))
#define MG_PRODUCT_OF(left, right) ((left) * (right))

MG_ARITHMETIC_F32_KERNEL(mg_add_f32_rows, MG_SUM_OF)
MG_ARITHMETIC_F32_KERNEL(mg_subtract_f32_rows, MG_DIFFERENCE_OF)
MG_ARITHMETIC_F32_KERNEL(mg_multiply_f32_rows, MG_PRODUCT_OF)

#ifdef MG_ARITHMETIC_F32_ROWS_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_add_f32_rows, float, float)
MG_DEFINE_BINARY(mg_subtract_f32_rows, float, float)
MG_DEFINE_BINARY(mg_multiply_f32_rows, float, float)
#endif

#endif
