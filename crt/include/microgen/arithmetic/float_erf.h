/* SPDX-License-Identifier: Apache-2.0 */
/* The error function of float32. What float_math.h says about its functions holds for these, too.
 */
#ifndef MICROGEN_FLOAT_ERF_H
#define MICROGEN_FLOAT_ERF_H

#include "microgen/arithmetic/float_math.h"

/* erf(x) within 1.32 ULP. */
MG_INLINE float mg_f32_erf(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);
    float result = 1.0F;

    if (mg_bits_of_f32(a) < 0x3F75C28FU) { /* 0.96 */
        const float z = x * x;
        const float p =
            0.128379166F +
            z * (-0.376126319F +
                 z * (0.11283651F +
                      z * (-0.0268570222F +
                           z * (0.00519537227F + z * (-0.000808097015F + z * 8.11903737e-05F)))));
        return x + x * p;
    }
    if (mg_bits_of_f32(a) > MG_F32_INFINITY) {
        return x;
    }
    if (mg_bits_of_f32(a) < 0x407CCCCDU) { /* 3.95: 1 is the nearest float from there on */
        /* minus the logarithm of 1 - erf(a) */
        const float p =
            0.000262530753F +
            a * (1.12740302F +
                 a * (0.637635589F +
                      a * (0.103538319F +
                           a * (-0.0220393948F + a * (0.00299664563F + a * -0.000191233456F)))));
        result = 1.0F - mg_f32_exp(-p);
    }
    return mg_f32_of_bits(mg_bits_of_f32(result) | sign);
}

#endif
