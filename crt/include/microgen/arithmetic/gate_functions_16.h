/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of fixed_point_16.h for many values, for cores with the Arm DSP extension: the same
 * values, bit for bit.
 *
 * A product of 16-bit numbers that is rounded to its high half is one SMMULR of operands that are
 * shifted to the left by 17 together. exp of a rest in [-1/4, 0) comes from a table, and the
 * factors of exp of the multiple of 1/4 that is left from another:
 *
 *     exponential[j], int16 [1024]    exp(-(j + 1) / 4096) as fixed_point_16.h computes it
 *     factor[m + 1], int32 [33][5]    for a multiple m of 1/4 up to 31, what its bits scale with
 *
 * The first row of `factor` is for -1, the multiple of the argument 0: it makes of the last entry
 * of `exponential` an exponential whose functions are those of 0. Both tables are made by
 * microgen/kernels/recurrent/gate_functions.py, and a test compares the functions with those of
 * fixed_point_16.h for all arguments. */
#ifndef MICROGEN_GATE_FUNCTIONS_16_H
#define MICROGEN_GATE_FUNCTIONS_16_H

#include "microgen/arithmetic/fixed_point_16.h"
#include "microgen/blocks/dsp.h"

enum {
    MG_GATE_RESTS = 1024,  /* in the table of exponentials */
    MG_GATE_FACTORS = 5,   /* in a row of the table of factors */
    MG_GATE_MULTIPLES = 32 /* rows of it for multiples that are not negative */
};

typedef struct {
    const int16_t *exponential;
    const int32_t *factor;
} mg_gate_tables;

/* sum - a * b / 2^32, rounded to nearest, ties upwards. */
#ifdef __ARM_FEATURE_DSP
MG_INLINE int32_t mg_smmlsr(int32_t sum, int32_t a, int32_t b)
{
    int32_t result;
    __asm__("smmlsr %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

MG_INSTRUCTION_1(mg_as_s16, int32_t, "ssat %0, #16, %1")
MG_INSTRUCTION_1(mg_twice_as_s16, int32_t, "ssat %0, #16, %1, lsl #1")
#else
MG_INLINE int32_t mg_smmlsr(int32_t sum, int32_t a, int32_t b)
{
    const int64_t half = (int64_t)1 << 31;
    return sum + mg_high_word(half - (int64_t)a * b);
}

MG_INLINE int32_t mg_as_s16(int32_t x)
{
    return mg_saturate_16(x);
}

MG_INLINE int32_t mg_twice_as_s16(int32_t x)
{
    return mg_saturate_16(2 * x);
}
#endif

/* An exponential times the factors of a multiple. Those from 1/2 on stand for factors less 1, those
 * of the last three bits with half the shift. */
MG_INLINE int32_t mg_gate_scaled(int32_t x, const int32_t *factor)
{
    x = mg_smmlar(x, x, factor[0]);
    x = mg_smmlar(x, x, factor[1]);
    x = mg_smmlar(x, mg_shift_left(x, 1), factor[2]);
    x = mg_smmlar(x, mg_shift_left(x, 1), factor[3]);
    return mg_smmlar(x, mg_shift_left(x, 1), factor[4]);
}

/* exp(-(below + 1) / 4096) as Q0.15. `factor` is the row of the multiple 0. */
MG_INLINE int32_t mg_gate_exponential(const int16_t *exponential, const int32_t *factor,
                                      int32_t below)
{
    const int32_t start = exponential[below & (MG_GATE_RESTS - 1)];
    return mg_gate_scaled(start, &factor[MG_GATE_FACTORS * mg_shift_right(below, 10)]);
}

/* The same for a multiple of 32 or more, which is one of 8. */
MG_INLINE int32_t mg_gate_exponential_far(const int16_t *exponential, const int32_t *factor,
                                          int32_t below)
{
    const int32_t most = MG_GATE_RESTS * MG_GATE_MULTIPLES;
    const int32_t exp_minus_8 = 11 * ((int32_t)1 << 17);

    if (below >= 2 * most) {
        return 0;
    }
    return mg_smmulr(mg_gate_exponential(exponential, factor, below - most), exp_minus_8);
}

/* A step of Newton's method, from twice an estimate of 1 / half. */
MG_INLINE int32_t mg_gate_newton(int32_t half, int32_t twice)
{
    const int32_t error = mg_smmlsr((int32_t)1 << 13, half, twice);
    return twice + mg_shift_left(mg_smmulr(twice, mg_shift_left(error, 16)), 3);
}

/* 4 / (1 + x) as Q2.13, twice what mg_twice_the_inverse_16 computes. */
MG_INLINE int32_t mg_gate_inverse(int32_t x)
{
    /* Half of 1 + x as Q0.31. */
    const int32_t half = mg_shift_left(x & ~1, 15) + ((int32_t)1 << 30);
    const int32_t twice = mg_shift_left(mg_smmlar(23130, half, -2 * 15420), 1);
    const int32_t above =
        half + 1; /* so that ties of errors are rounded as fixed_point_16.h does */
    return mg_gate_newton(above, mg_gate_newton(above, mg_gate_newton(above, twice)));
}

/* The logistic function of `count` values Q3.12, one or more, as Q0.15. */
MG_INLINE void mg_gate_logistic(const mg_gate_tables *t, int16_t *values, int32_t count)
{
    int16_t *const end = values + count;
    const int16_t *const exponential = t->exponential;
    const int32_t *const factor = &t->factor[MG_GATE_FACTORS];

    do {
        const int32_t x = *values;
        const int32_t sign = mg_shift_right(x, 31);
        const int32_t below = (x ^ sign) + ~sign; /* |x| - 1 */
        const int32_t inverse = mg_gate_inverse(mg_gate_exponential(exponential, factor, below));
        *values = (int16_t)(mg_as_s16(inverse) ^ (int32_t)((uint32_t)sign >> 17));
        values++;
    } while (values != end);
}

/* tanh of `count` values with 2 to 6 integer bits, one or more, as Q0.15. */
MG_INLINE void mg_gate_tanh(const mg_gate_tables *t, int16_t *values, int32_t count,
                            int32_t integer_bits)
{
    int16_t *const end = values + count;
    const int16_t *const exponential = t->exponential;
    const int32_t *const factor = &t->factor[MG_GATE_FACTORS];
    const int32_t left = integer_bits - 2; /* for 2 * x as Q3.12 */

    do {
        const int32_t x = *values;
        const int32_t sign = mg_shift_right(x, 31);
        const int32_t below = mg_shift_left((x ^ sign) - sign, left) - 1;
        const int32_t power = (below < MG_GATE_RESTS * MG_GATE_MULTIPLES)
                                  ? mg_gate_exponential(exponential, factor, below)
                                  : mg_gate_exponential_far(exponential, factor, below);
        const int32_t rest = mg_gate_inverse(power) - ((int32_t)1 << 14);
        *values = (int16_t)((mg_twice_as_s16(rest) ^ sign) - sign);
        values++;
    } while (values != end);
}

#endif
