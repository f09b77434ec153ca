/* SPDX-License-Identifier: Apache-2.0 */
/* Four channels of an int8 tensor as four planes of int16, with zero points around them. So windows
 * need no border, and a word has two values of one channel that are neighbours.
 *
 * The axis along which values are neighbours is called fast, the other one slow; which of height
 * and width is the fast one is the kernel's choice. A line has all values of one place of the slow
 * axis. In memory, the four planes of a line follow each other, and then comes the next line. */
#ifndef MICROGEN_PLANES_S8_H
#define MICROGEN_PLANES_S8_H

#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/inline.h"

enum { MG_PLANES = 4 };

/* A pointer that the compiler knows nothing about. Otherwise it keeps four pointers in a loop that
 * stores to four planes, and moves what has no register left to the stack. */
#ifdef __GNUC__
#define MG_OPAQUE(pointer) __asm__("" : "+r"(pointer))
#else
#define MG_OPAQUE(pointer) (void)(pointer)
#endif

/* What is copied. A plane of a line begins with `head` words of zero points. Then comes a run of
 * `length` halves of words: the input's values, with one more zero point before them if
 * `has_zero`. The rest, up to `words`, are zero points. */
typedef struct {
    int32_t pitch;     /* words from one plane of a line to the next, at least `words` */
    int32_t words;     /* that are written */
    int32_t head;      /* at most `words` */
    int32_t length;    /* 0 if there are no values, but then head is `words` */
    int32_t has_zero;  /* 0 or 1 */
    int32_t lines;     /* in total */
    int32_t above;     /* lines of zero points before the first one with values */
    int32_t inside;    /* lines with values */
    int32_t step;      /* bytes from one value to the next */
    int32_t line_step; /* bytes from one line to the next */
    uint32_t zero;     /* two zero points */
} mg_planes_copy;

/* One word of each plane. `even` has values of the first and the third channel, `odd` of the
 * second and the fourth. */
MG_INLINE void mg_planes_put(uint32_t *to, int32_t pitch, uint32_t even, uint32_t odd,
                             uint32_t next_even, uint32_t next_odd)
{
    uint32_t *second = to + pitch;

    MG_OPAQUE(second);
    to[0] = mg_low_halves(even, next_even);
    second[0] = mg_low_halves(odd, next_odd);
    to[2 * pitch] = mg_high_halves(even, next_even);
    second[2 * pitch] = mg_high_halves(odd, next_odd);
}

MG_INLINE uint32_t *mg_planes_zeros(const mg_planes_copy *c, uint32_t *to, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        mg_planes_put(to, c->pitch, c->zero, c->zero, c->zero, c->zero);
        to++;
    }
    return to;
}

/* The next values of `channels` channels, 1 to 4. Four are loaded at once. */
MG_INLINE uint32_t mg_planes_load(const int8_t *from, int32_t channels)
{
    uint32_t word = 0;

    if (channels == MG_PLANES) {
        return mg_load_4_s8(from);
    }
    for (int32_t k = 0; k < channels; k++) {
        word |= (uint32_t)(uint8_t)from[k] << (8 * k);
    }
    return word;
}

/* Copies the run of values of a line, which has one at least. */
MG_INLINE uint32_t *mg_planes_run(const mg_planes_copy *c, const int8_t *from, uint32_t *to,
                                  int32_t channels)
{
    uint32_t even = c->zero;
    uint32_t odd = c->zero;
    uint32_t next_even = c->zero;
    uint32_t next_odd = c->zero;

    if (c->has_zero == 0) {
        const uint32_t bytes = mg_planes_load(from, channels);
        even = mg_sxtb16(bytes);
        odd = mg_sxtb16_odd(bytes);
        from += c->step;
    }
    for (int32_t left = c->length; left > 2; left -= 2) {
        const uint32_t bytes = mg_planes_load(from, channels);
        const uint32_t more = mg_planes_load(from + c->step, channels);
        mg_planes_put(to, c->pitch, even, odd, mg_sxtb16(bytes), mg_sxtb16_odd(bytes));
        even = mg_sxtb16(more);
        odd = mg_sxtb16_odd(more);
        from += 2 * c->step;
        to++;
    }
    if (c->length % 2 == 0) {
        const uint32_t bytes = mg_planes_load(from, channels);
        next_even = mg_sxtb16(bytes);
        next_odd = mg_sxtb16_odd(bytes);
    }
    mg_planes_put(to, c->pitch, even, odd, next_even, next_odd);
    return to + 1;
}

/* Copies `channels` channels. `from` is their first value. `copy` is a copy of the caller's, so the
 * compiler knows that no store changes it. */
MG_INLINE void mg_planes_fill(mg_planes_copy copy, const int8_t *from, uint32_t *planes,
                              int32_t channels)
{
    const mg_planes_copy *c = &copy;

    for (int32_t line = 0; line < c->lines; line++) {
        uint32_t *end = &planes[c->words];
        uint32_t *to = planes;
        if ((line >= c->above) && (line < c->above + c->inside) && (c->length > 0)) {
            to = mg_planes_run(c, from, mg_planes_zeros(c, to, c->head), channels);
            from += c->line_step;
        }
        (void)mg_planes_zeros(c, to, (int32_t)(end - to));
        planes += MG_PLANES * c->pitch;
    }
}

/* Out of line, because operators share them. */
static __attribute__((noinline, unused)) void
mg_planes_fill_4(const mg_planes_copy *c, const int8_t *from, uint32_t *planes)
{
    mg_planes_fill(*c, from, planes, MG_PLANES);
}

static __attribute__((noinline, unused)) void
mg_planes_fill_few(const mg_planes_copy *c, const int8_t *from, uint32_t *planes, int32_t channels)
{
    mg_planes_fill(*c, from, planes, channels);
}

#endif
