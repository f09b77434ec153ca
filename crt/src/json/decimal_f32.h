/* SPDX-License-Identifier: Apache-2.0 */
/* Reads decimal numbers, in the form that C++ streams print, as float32, with integer arithmetic
 * only. */
#ifndef MICROGEN_DECIMAL_F32_H
#define MICROGEN_DECIMAL_F32_H

#include "json/json_text.h"

#include <stdbool.h>

/* Stores the float nearest to a text such as "6", "-1.25", "1e-05" or "inf". Digits after the 19th
 * are ignored. The result may be rounded in the wrong direction if the number is within 2^-28 ULP
 * of halfway between two floats; no such text of up to 19 digits is known. Returns false for any
 * other text, for "nan", and for numbers above the largest float. */
MG_EXTERN bool mg_decimal_float(const mg_text *text, float *value);

#endif
