/* SPDX-License-Identifier: Apache-2.0 */
/* Any function of one int16 value, by a table. */
#ifndef MICROGEN_LOOKUP_S16_H
#define MICROGEN_LOOKUP_S16_H

#include "microgen/tables/interpolate_s16.h"

typedef struct {
    int32_t size; /* elements */
} mg_lookup_s16_params;

/* Computes output [size] from input [size] by interpolation in table [513];
 * microgen/tables/interpolate_s16.h says how.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EXTERN void mg_lookup_s16(const mg_lookup_s16_params *p, const int16_t *input,
                             const int16_t *table, int16_t *output);

MG_INLINE void mg_lookup_s16_body(const mg_lookup_s16_params *p, const int16_t *input,
                                  const int16_t *table, int16_t *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        output[i] = mg_interpolate_s16(table, input[i]);
    }
}

#ifdef MG_LOOKUP_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_lookup_s16, (p, input, table, output), const mg_lookup_s16_params *p,
               const int16_t *input, const int16_t *table, int16_t *output)
#endif

#endif
