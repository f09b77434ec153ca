/* The library of the vector unit, simulated: it computes four floats at a time.
 *
 * Tensors have n elements each, aligned to 4 bytes; `out` may be an input. Each function returns 0,
 * or VECUNIT_BAD_LENGTH if n is negative or not a multiple of VECUNIT_LANES. */
#ifndef VECUNIT_H
#define VECUNIT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VECUNIT_LANES 4
#define VECUNIT_BAD_LENGTH 1

/* a + b */
int32_t vecunit_add(const float *a, const float *b, float *out, int32_t n);

/* a * b */
int32_t vecunit_multiply(const float *a, const float *b, float *out, int32_t n);

/* a * b + c, with the product rounded */
int32_t vecunit_multiply_add(const float *a, const float *b, const float *c, float *out, int32_t n);

/* a, or 0 if that is less */
int32_t vecunit_relu(const float *a, float *out, int32_t n);

#ifdef __cplusplus
}
#endif

#endif
