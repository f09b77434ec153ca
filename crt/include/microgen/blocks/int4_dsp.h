/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int8 values and weights of 4 bits with the packed 16-bit arithmetic of Arm cores, and
 * the same in plain C. */
#ifndef MICROGEN_INT4_DSP_H
#define MICROGEN_INT4_DSP_H

#include <string.h>

#include "microgen/blocks/dsp.h"

#ifdef __ARM_FEATURE_DSP

/* The value, which the compiler keeps in a register instead of in each instruction. */
MG_INLINE uint32_t mg_in_register(uint32_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* Keeps the compiler from moving loads across this point, because it would run out of registers. */
MG_INLINE void mg_dsp_keep_order(void)
{
    __asm__ volatile("" ::: "memory");
}

#else

MG_INLINE uint32_t mg_in_register(uint32_t value)
{
    return value;
}

MG_INLINE void mg_dsp_keep_order(void)
{
}

#endif

/* Eight values as pairs of int16, in the order in which mg_times_8_s4 unpacks weights. */
typedef struct {
    uint32_t values_0_4;
    uint32_t values_1_5;
    uint32_t values_2_6;
    uint32_t values_3_7;
} mg_eight_values;

MG_INLINE mg_eight_values mg_eight_values_at(const int8_t *values, uint32_t offsets)
{
    const uint32_t first = mg_load_4_s8(values);
    const uint32_t second = mg_load_4_s8(&values[4]);
    const uint32_t values_0_2 = mg_sxtab16(offsets, first);
    const uint32_t values_1_3 = mg_sxtab16_odd(offsets, first);
    const uint32_t values_4_6 = mg_sxtab16(offsets, second);
    const uint32_t values_5_7 = mg_sxtab16_odd(offsets, second);
    const mg_eight_values eight = {
        mg_low_halves(values_0_2, values_4_6), mg_low_halves(values_1_3, values_5_7),
        mg_high_halves(values_0_2, values_4_6), mg_high_halves(values_1_3, values_5_7)};
    return eight;
}

/* sum + the products of eight values with the eight weights of four bytes, to each of which 8 is
 * added: 0 to 15 need no sign. */
MG_INLINE int32_t mg_times_8_s4(int32_t sum, const mg_eight_values *eight, const uint8_t *weight,
                                uint32_t pairs)
{
    uint32_t bytes = 0;

    mg_dsp_keep_order();
    memcpy(&bytes, weight, sizeof(bytes));
    bytes ^= 0x88888888U;
    sum = mg_smlad(eight->values_0_4, bytes & pairs, sum);
    sum = mg_smlad(eight->values_1_5, (bytes >> 4) & pairs, sum);
    sum = mg_smlad(eight->values_2_6, (bytes >> 8) & pairs, sum);
    return mg_smlad(eight->values_3_7, (bytes >> 12) & pairs, sum);
}

#endif
