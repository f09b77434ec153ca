/* SPDX-License-Identifier: Apache-2.0 */
/* The sigmoid function by a table, for tanh and sigmoid of int16. The Python twin is
 * microgen/graph/ops/unary/sigmoid.py, which computes the same values, bit for bit. */
#ifndef MICROGEN_SIGMOID_TABLE_S16_H
#define MICROGEN_SIGMOID_TABLE_S16_H

#include "microgen/requantization/requantize.h"

/* The argument of a stored value in steps of 1 / (3 * 2^12): x * multiplier / 2^shift, rounded to
 * nearest. multiplier must be below 2^16 and shift at most 31; the product plus half a unit must
 * fit int32. */
MG_INLINE int32_t mg_sigmoid_argument(int16_t x, int32_t multiplier, int32_t shift)
{
    const int32_t half = (shift > 0) ? mg_shift_left(1, shift - 1) : 0;
    return mg_shift_right(x * multiplier + half, shift);
}

/* sigmoid(i / 24) as Q0.16. Each entry is corrected by half the interpolation error in the middle
 * of its step, and the last entry is the value of saturated arguments. Printed from
 * microgen/graph/ops/tables/tables.py. */
MG_INLINE uint32_t mg_sigmoid_entry(uint32_t i)
{
    static const uint16_t table[256] = {
        32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794,
        41432, 42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443,
        48964, 49475, 49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374,
        54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544,
        58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279,
        61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990,
        63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968, 64030,
        64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652,
        64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019,
        65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234,
        65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360,
        65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425, 65429, 65433,
        65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476,
        65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
        65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516,
        65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524,
        65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529,
        65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532,
        65532, 65532, 65532, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534,
        65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65535,
    };
    return table[i];
}

/* The interpolated table value times 2^bits at `steps` >= 0; neighbouring entries are 2^bits steps
 * apart. Past the end of the table it is `most`. */
MG_INLINE int32_t mg_sigmoid_interpolated(int32_t steps, int32_t bits, int32_t most)
{
    const uint32_t index = (uint32_t)steps >> bits;
    const uint32_t rest = (uint32_t)steps & (((uint32_t)1 << bits) - 1U);

    if (index >= 255U) {
        return most;
    }
    const uint32_t entry = mg_sigmoid_entry(index);
    return (int32_t)((entry << bits) + rest * (mg_sigmoid_entry(index + 1U) - entry));
}

#endif
