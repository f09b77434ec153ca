/* A simulation: loops over the unit's lanes replace writes to its registers. */
#include "vecunit.h"

static int32_t is_bad(int32_t n)
{
    return (n < 0) || (n % VECUNIT_LANES != 0);
}

int32_t vecunit_add(const float *a, const float *b, float *out, int32_t n)
{
    if (is_bad(n)) {
        return VECUNIT_BAD_LENGTH;
    }
    for (int32_t i = 0; i < n; i += VECUNIT_LANES) {
        for (int32_t lane = i; lane < i + VECUNIT_LANES; ++lane) {
            out[lane] = a[lane] + b[lane];
        }
    }
    return 0;
}

int32_t vecunit_multiply(const float *a, const float *b, float *out, int32_t n)
{
    if (is_bad(n)) {
        return VECUNIT_BAD_LENGTH;
    }
    for (int32_t i = 0; i < n; i += VECUNIT_LANES) {
        for (int32_t lane = i; lane < i + VECUNIT_LANES; ++lane) {
            out[lane] = a[lane] * b[lane];
        }
    }
    return 0;
}

int32_t vecunit_multiply_add(const float *a, const float *b, const float *c, float *out, int32_t n)
{
    if (is_bad(n)) {
        return VECUNIT_BAD_LENGTH;
    }
    for (int32_t i = 0; i < n; i += VECUNIT_LANES) {
        for (int32_t lane = i; lane < i + VECUNIT_LANES; ++lane) {
            const float product = a[lane] * b[lane];
            out[lane] = product + c[lane];
        }
    }
    return 0;
}

int32_t vecunit_relu(const float *a, float *out, int32_t n)
{
    if (is_bad(n)) {
        return VECUNIT_BAD_LENGTH;
    }
    for (int32_t i = 0; i < n; i += VECUNIT_LANES) {
        for (int32_t lane = i; lane < i + VECUNIT_LANES; ++lane) {
            out[lane] = (a[lane] < 0.0f) ? 0.0f : a[lane];
        }
    }
    return 0;
}
