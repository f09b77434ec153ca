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

enum {
    MG_PLANES = 4
};

/* A pointer that the compiler knows nothing about. Otherwise it keeps four pointers in a loop that
 * stores to four planes, and moves what has no register left to the stack. */
#ifdef __GNUC__
#define MG_OPAQUE(pointer) __asm__("" : "+r"(pointer))
#else
#define MG_OPAQUE(pointer) (void)(pointer)
#endif

/* What is copied: `lines` lines with a run of `length` halves of words each. These are values of
 * the input, with a zero point before them if `has_zero`, and one after them if `length` is odd. */
typedef struct {
    int32_t pitch;     /* words from one plane of a line to the next */
    int32_t begin;     /* words from the first plane to the run of its first line with values */
    int32_t lines;     /* with values; there may be none */
    int32_t length;    /* more than has_zero */
    int32_t has_zero;  /* 0 or 1 */
    int32_t step;      /* bytes from one value to the next */
    int32_t line_step; /* bytes from one line to the next */
    uint32_t zero;     /* two zero points */
} mg_planes_copy;

/* Makes `count` words zero points. */
MG_INLINE void mg_planes_clear(uint32_t *planes, int32_t count, uint32_t zero)
{
    for (int32_t i = 0; i < count; i++) {
        planes[i] = zero;
    }
}

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

/* Copies a run of values of four channels. */
MG_INLINE void mg_planes_run(const mg_planes_copy *c, const int8_t *from, uint32_t *to)
{
    const int32_t step = c->step;
    const int32_t pitch = c->pitch;
    uint32_t even = c->zero;
    uint32_t odd = c->zero;
    uint32_t next_even = c->zero;
    uint32_t next_odd = c->zero;

    if (c->has_zero == 0) {
        const uint32_t bytes = mg_load_4_s8(from);
        even = mg_sxtb16(bytes);
        odd = mg_sxtb16_odd(bytes);
        from += step;
    }
    for (int32_t left = c->length; left > 2; left -= 2) {
        uint32_t bytes = mg_load_4_s8(from);
        mg_planes_put(to, pitch, even, odd, mg_sxtb16(bytes), mg_sxtb16_odd(bytes));
        bytes = mg_load_4_s8(from + step);
        even = mg_sxtb16(bytes);
        odd = mg_sxtb16_odd(bytes);
        from += 2 * step;
        to++;
    }
    if (c->length % 2 == 0) {
        const uint32_t bytes = mg_load_4_s8(from);
        next_even = mg_sxtb16(bytes);
        next_odd = mg_sxtb16_odd(bytes);
    }
    mg_planes_put(to, pitch, even, odd, next_even, next_odd);
}

/* Copies four channels. `from` is the first value. It is out of line, because operators share
 * it. */
static __attribute__((noinline, unused)) void mg_planes_fill(const mg_planes_copy *copy,
                                                             const int8_t *from, uint32_t *planes)
{
    const mg_planes_copy c = *copy; /* which no store changes */
    uint32_t *to = &planes[c.begin];

    for (int32_t line = 0; line < c.lines; line++) {
        mg_planes_run(&c, from, to);
        from += c.line_step;
        to += MG_PLANES * c.pitch;
    }
}

/* The same for one channel, for inputs that have fewer than four. */
static __attribute__((noinline, unused)) void
mg_planes_fill_one(const mg_planes_copy *c, const int8_t *from, uint32_t *plane)
{
    int16_t *to = (int16_t *)(void *)&plane[c->begin];

    for (int32_t line = 0; line < c->lines; line++) {
        for (int32_t i = c->has_zero; i < c->length; i++) {
            to[i] = from[(i - c->has_zero) * c->step];
        }
        from += c->line_step;
        to += 2 * MG_PLANES * c->pitch;
    }
}

#endif
