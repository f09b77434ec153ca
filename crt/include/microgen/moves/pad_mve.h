/* SPDX-License-Identifier: Apache-2.0 */
/* mg_pad with MVE: sixteen bytes at a time, at any address. */
#ifndef MICROGEN_PAD_MVE_H
#define MICROGEN_PAD_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/moves/pad.h"

typedef mg_pad_params mg_pad_mve_params;

/* Computes what mg_pad does. All bytes of the padding's value must be equal. */
MG_DECLARE_UNARY(mg_pad_mve, void, void);

#if defined(__ARM_FEATURE_MVE)

/* Copies bytes to others, which they do not overlap, whatever the size of an element. */
MG_INLINE void mg_mve_move(void *to, const void *from, int32_t bytes, int32_t element_bytes)
{
    uint8_t *const t = (uint8_t *)to;
    const uint8_t *const f = (const uint8_t *)from;
    int32_t n = 0;

    (void)element_bytes;
    for (; n < (bytes & ~(MG_MVE_BYTES - 1)); n += MG_MVE_BYTES) {
        vstrbq_u8(&t[n], vldrbq_u8(&f[n]));
    }
    if (n < bytes) {
        const mve_pred16_t active = vctp8q((uint32_t)(bytes - n));
        vstrbq_p_u8(&t[n], vldrbq_z_u8(&f[n], active), active);
    }
}

MG_INLINE void mg_mve_set(uint8_t *to, int32_t value, int32_t bytes)
{
    const uint8x16_t values = vdupq_n_u8((uint8_t)value);
    int32_t n = 0;

    for (; n < (bytes & ~(MG_MVE_BYTES - 1)); n += MG_MVE_BYTES) {
        vstrbq_u8(&to[n], values);
    }
    if (n < bytes) {
        vstrbq_p_u8(&to[n], values, vctp8q((uint32_t)(bytes - n)));
    }
}

MG_INLINE void mg_pad_mve_body(const mg_pad_mve_params *p, const void *input, void *output)
{
    mg_mve_set((uint8_t *)output, p->value, p->size * p->element_bytes);
    MG_PAD_ROWS(mg_mve_move, p, input, output);
}

#endif

#ifdef MG_PAD_MVE_IMPLEMENTATION /* the out-of-line forms */
#if defined(__ARM_FEATURE_MVE)
MG_DEFINE_UNARY(mg_pad_mve, void, void)
#endif
#endif

#endif
