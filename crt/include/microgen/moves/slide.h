/* SPDX-License-Identifier: Apache-2.0 */
/* Moves a window on by some rows: drops the oldest and appends the new ones. */
#ifndef MICROGEN_SLIDE_H
#define MICROGEN_SLIDE_H

#include <stddef.h>
#include <string.h>

#include "microgen/element.h"

typedef struct {
    int32_t kept_size; /* bytes of the rows that remain */
    int32_t new_size;  /* bytes of the new rows, as many as are dropped */
} mg_slide_params;

/* Writes the last kept_size bytes of window [kept_size + new_size] to the start of output, which
 * has the same size, followed by rows [new_size]. The output may be the window; no other two of
 * them may overlap. */
MG_EXTERN void mg_slide(const mg_slide_params *p, const void *window, const void *rows,
                        void *output);

/* Copies `bytes` from `from` to `to`, which may overlap if `to` is the lower address. Each word is
 * read before it is written, and later ones are at higher addresses. */
MG_INLINE void mg_move_down(void *to, const void *from, int32_t bytes)
{
    uint8_t *t = (uint8_t *)to;
    const uint8_t *f = (const uint8_t *)from;
    int32_t n = 0;

    if ((((uintptr_t)to | (uintptr_t)from) & 3U) == 0U) {
        for (; n + 4 <= bytes; n += 4) {
            uint32_t word;
            (void)memcpy(&word, MG_ALIGNED(f + n, 4), 4);
            (void)memcpy(MG_ALIGNED(t + n, 4), &word, 4);
        }
    }
    for (; n < bytes; n++) {
        t[n] = f[n];
    }
}

MG_INLINE void mg_slide_body(const mg_slide_params *p, const void *window, const void *rows,
                             void *output)
{
    mg_move_down(output, (const uint8_t *)window + p->new_size, p->kept_size);
    (void)memcpy((uint8_t *)output + p->kept_size, rows, (size_t)p->new_size);
}

#ifdef MG_SLIDE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_slide, (p, window, rows, output), const mg_slide_params *p, const void *window,
               const void *rows, void *output)
#endif

#endif
