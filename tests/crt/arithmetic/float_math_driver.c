/* Prints "name ulp bits" for every function named in argv[2...]: its largest error, and the bits of
 * the argument with that error. It tries every argv[1]th bit pattern, and all patterns near the
 * places where methods change.
 *
 * The reference is libm's double result. A wrong NaN, infinity or sign of zero is an infinite
 * error. For exact functions, every result other than the correctly rounded one is an infinite
 * error. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microgen/arithmetic/float_angles.h"
#include "microgen/arithmetic/float_erf.h"
#include "microgen/arithmetic/float_hyperbolic.h"
#include "microgen/arithmetic/float_inverse_angles.h"
#include "microgen/arithmetic/float_math.h"
#include "microgen/arithmetic/float_power.h"

#define NEAR 300 /* patterns on each side of a boundary */

/* Outside of these magnitudes, functions that saturate are constant, or equal to their argument
 * when rounded to a float. Patterns there are OUTSIDE times as far apart. */
#define SMALLEST 0x30000000U /* 2^-31 */
#define LARGEST 0x43000000U  /* 128 */
#define OUTSIDE 61U

typedef struct {
    const char *name;
    double (*found)(float x);
    double (*wanted)(double x);
    enum {
        BOUNDED,
        EXACT,
        INTEGER
    } kind;
    int saturates;
} function;

static double reciprocal_root(double x)
{
    return 1.0 / sqrt(x);
}

static double sigmoid(double x)
{
    return (x < 0.0) ? exp(x) / (1.0 + exp(x)) : 1.0 / (1.0 + exp(-x));
}

static double softplus(double x)
{
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

static double mish(double x)
{
    return x * tanh(softplus(x));
}

static double to_int32(double rounded)
{
    return isnan(rounded) ? 0.0 : fmin(fmax(rounded, INT32_MIN), INT32_MAX);
}

static double half_away(double x)
{
    return to_int32(round(x));
}

static double half_even(double x)
{
    return nearbyint(x);
}

/* An exponent for x, with which the power is about e^k, or a whole number: k is from -104 to 89. */
static float exponent_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const float k = (float)(int32_t)(bits % 194U) - 104.0F;
    const float exponent = (float)((double)k / log(fabs((double)x)));
    return (bits % 5U == 0U) ? (float)nearbyint((double)exponent) : exponent;
}

static double found_pow(float x)
{
    return (double)mg_f32_pow(x, exponent_of(x));
}

static double power(double x)
{
    return pow(x, (double)exponent_of((float)x));
}

#define FOUND(name)                                                                                \
    static double found_##name(float x)                                                            \
    {                                                                                              \
        return (double)mg_f32_##name(x);                                                           \
    }
FOUND(abs)
FOUND(round_half_away)
FOUND(round_half_even)
FOUND(floor)
FOUND(ceil)
FOUND(sqrt)
FOUND(sqrt_portable)
FOUND(rsqrt)
FOUND(exp)
FOUND(expm1)
FOUND(tanh)
FOUND(sigmoid)
FOUND(sin)
FOUND(cos)
FOUND(log)
FOUND(tan)
FOUND(asin)
FOUND(acos)
FOUND(atan)
FOUND(sinh)
FOUND(cosh)
FOUND(log1p)
FOUND(asinh)
FOUND(acosh)
FOUND(atanh)
FOUND(softplus)
FOUND(mish)
FOUND(erf)

static const function functions[] = {
    {"abs", found_abs, fabs, EXACT, 0},
    {"round_half_away", found_round_half_away, half_away, INTEGER, 0},
    {"round_half_even", found_round_half_even, half_even, EXACT, 0},
    {"floor", found_floor, floor, EXACT, 0},
    {"ceil", found_ceil, ceil, EXACT, 0},
    {"sqrt", found_sqrt, sqrt, EXACT, 0},
    {"sqrt_portable", found_sqrt_portable, sqrt, EXACT, 0},
    {"rsqrt", found_rsqrt, reciprocal_root, BOUNDED, 0},
    {"exp", found_exp, exp, BOUNDED, 1},
    {"expm1", found_expm1, expm1, BOUNDED, 1},
    {"tanh", found_tanh, tanh, BOUNDED, 1},
    {"sigmoid", found_sigmoid, sigmoid, BOUNDED, 1},
    {"sin", found_sin, sin, BOUNDED, 0},
    {"cos", found_cos, cos, BOUNDED, 0},
    {"log", found_log, log, BOUNDED, 0},
    {"pow", found_pow, power, BOUNDED, 0},
    {"tan", found_tan, tan, BOUNDED, 0},
    {"asin", found_asin, asin, BOUNDED, 0},
    {"acos", found_acos, acos, BOUNDED, 0},
    {"atan", found_atan, atan, BOUNDED, 0},
    {"sinh", found_sinh, sinh, BOUNDED, 0},
    {"cosh", found_cosh, cosh, BOUNDED, 0},
    {"log1p", found_log1p, log1p, BOUNDED, 0},
    {"asinh", found_asinh, asinh, BOUNDED, 0},
    {"acosh", found_acosh, acosh, BOUNDED, 0},
    {"atanh", found_atanh, atanh, BOUNDED, 0},
    {"softplus", found_softplus, softplus, BOUNDED, 0},
    {"mish", found_mish, mish, BOUNDED, 0},
    {"erf", found_erf, erf, BOUNDED, 0},
};

/* Where methods change or results become special. */
static const float boundaries[] = {
    0.0F,           1.0F,          2.0F,           0x1p-126F,     0x1p-31F, 128.0F,
    0x1p-25F,       0x1p-23F,      0.5F,           1.5F,          2.5F,     0.55F,
    0.3466F,        1.04F,         0x1.6a09e6p-1F, 0x1.6a09e6p0F, 9.01F,    16.6F,
    17.3F,          18.0F,         87.33F,         88.7228F,      89.0F,    103.972F,
    0x1.921fb6p-1F, 0x1.921fb6p0F, 0x1.921fb6p1F,  104.0F,        0x1p22F,  0x1p23F,
    0x1p24F,        0x1p31F,       INFINITY,       -1.0F,         0.96F,    3.95F,
    0.41421356F,    2.41421356F,   -0.29F,         0.41F,         0x1p20F,  20.0F,
    89.4159F,       90.0F,         0x1p30F,
};

static double ulp_of(double x)
{
    const double size = fmin(fmax(fabs(x), 0x1p-126), 0x1p127);
    uint64_t bits;
    double power;

    memcpy(&bits, &size, sizeof bits);
    bits &= (uint64_t)0x7FF << 52;
    memcpy(&power, &bits, sizeof power);
    return power * 0x1p-23;
}

static double error_of(double found, double wanted, float rounded)
{
    if (isnan(rounded)) {
        return isnan(found) ? 0.0 : HUGE_VAL;
    }
    if (isinf(wanted)) {
        return (found == wanted) ? 0.0 : HUGE_VAL; /* true infinities only, not overflow */
    }
    if (isnan(found) || !signbit(found) != !signbit(wanted)) {
        return HUGE_VAL;
    }
    const double finite = isinf(found) ? copysign(0x1p128, found) : found;
    if (isinf(rounded)) {
        /* true values may be far above; inf is right, and the largest float only within its ULP */
        return isinf(found) ? 0.0 : fabs(finite - wanted) / 0x1p104;
    }
    return fabs(finite - wanted) / ulp_of((double)rounded);
}

typedef struct {
    double error;
    uint32_t at;
} worst_case;

static void measure(const function *f, uint32_t bits, worst_case *worst)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    const double found = f->found(x);
    const double wanted = f->wanted((double)x);
    const float rounded = (float)wanted;
    double error = error_of(found, wanted, rounded);

    if (f->kind == INTEGER) {
        error = (found == wanted) ? 0.0 : HUGE_VAL;
    } else if (f->kind == EXACT && !isnan(rounded) && found != (double)rounded) {
        error = HUGE_VAL;
    }
    if (error > worst->error) {
        worst->error = error;
        worst->at = bits;
    }
}

static void measure_boundaries(const function *f, worst_case *worst)
{
    for (size_t i = 0; i < sizeof boundaries / sizeof boundaries[0]; i++) {
        uint32_t bits;
        memcpy(&bits, &boundaries[i], sizeof bits);
        for (int32_t near = -NEAR; near <= NEAR; near++) {
            const uint32_t pattern = bits + (uint32_t)near; /* negative NaNs are below 0 */
            measure(f, pattern, worst);
            measure(f, pattern ^ 0x80000000U, worst);
        }
    }
}

static void sweep(const function *f, uint64_t stride)
{
    worst_case worst = {0.0, 0};

    measure_boundaries(f, &worst);
    for (uint64_t bits = 0; bits <= UINT32_MAX;) {
        const uint32_t magnitude = (uint32_t)bits & 0x7FFFFFFFU;
        const int matters = magnitude >= SMALLEST && magnitude <= LARGEST;
        measure(f, (uint32_t)bits, &worst);
        bits += stride * ((f->saturates && !matters) ? OUTSIDE : 1U);
    }
    printf("%s %.4f %08x\n", f->name, worst.error, (unsigned)worst.at);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
            if (strcmp(argv[i], functions[k].name) == 0) {
                sweep(&functions[k], strtoull(argv[1], NULL, 10));
            }
        }
    }
    return 0;
}
