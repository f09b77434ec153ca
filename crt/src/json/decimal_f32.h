/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in decimal, as C++ streams print them, read as float32 in integers only. */
#ifndef MICROGEN_DECIMAL_F32_H
#define MICROGEN_DECIMAL_F32_H

#include "json/json_text.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The float that is nearest to a text like "6", "-1.25", "1e-05" or "inf". Digits after the 19th
 * are ignored. No shorter text is known to be rounded wrong, but the result may be wrong if the
 * text is within 2^-28 ULP of halfway between two floats. False for any other text, for "nan", and
 * for numbers above the largest float. */
bool mg_decimal_float(const mg_text *text, float *value);

#ifdef __cplusplus
}
#endif

#endif
