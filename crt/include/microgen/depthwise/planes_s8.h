/* SPDX-License-Identifier: Apache-2.0 */
/* Four channels of an int8 tensor as four planes of int16, with zero points around them. So windows
 * need no border, and a word has two values of one channel that are neighbours.
 *
 * The axis along which values are neighbours is called fast, the other one slow; which of height
 * and width is the fast one is the kernel's choice. A line has all values of one place of the slow
 * axis. In memory, the four planes of a line follow each other, and then comes the next line. */
#ifndef MICROGEN_PLANES_S8_H
#define MICROGEN_PLANES_S8_H

#include "microgen/blocks/dsp.h"

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

/* What is copied: `lines` lines with a run of values each. The first value of a run is the second
 * half of a word if has_zero, and its last one the first half of a word if has_rest; the other
 * halves of these words are zero points already. */
typedef struct {
    int32_t pitch;     /* words from one plane of a line to the next */
    int32_t begin;     /* words from the first plane to the run of its first line with values */
    int32_t lines;     /* with values; there may be none */
    int32_t pairs;     /* of values, between those two */
    int32_t has_zero;  /* 0 or 1 */
    int32_t has_rest;  /* 0 or 1 */
    int32_t step;      /* bytes from one value to the next */
    int32_t line_step; /* bytes from one line to the next */
} mg_planes_copy;

/* Makes `count` words zero points. */
MG_INLINE void mg_planes_clear(uint32_t *planes, int32_t count, uint32_t zero)
{
    for (int32_t i = 0; i < count; i++) {
        planes[i] = zero;
    }
}

/* One half of a word of each plane, from the bytes of four channels. */
MG_INLINE void mg_planes_put_half(uint32_t *to, int32_t pitch, int32_t half, uint32_t bytes)
{
    int16_t *halves = (int16_t *)(void *)to + half;

    halves[0] = (int8_t)(uint8_t)bytes;
    halves[2 * pitch] = (int8_t)(uint8_t)(bytes >> 8);
    halves[4 * pitch] = (int8_t)(uint8_t)(bytes >> 16);
    halves[6 * pitch] = (int8_t)(uint8_t)(bytes >> 24);
}

/* One word of each plane, from the bytes of two values of four channels. */
MG_INLINE void mg_planes_put(uint32_t *to, int32_t pitch, uint32_t bytes, uint32_t next)
{
    const uint32_t even = mg_sxtb16(bytes);
    const uint32_t odd = mg_sxtb16_odd(bytes);
    const uint32_t next_even = mg_sxtb16(next);
    const uint32_t next_odd = mg_sxtb16_odd(next);
    uint32_t *second = to + pitch;

    MG_OPAQUE(second);
    to[0] = mg_low_halves(even, next_even);
    second[0] = mg_low_halves(odd, next_odd);
    to[2 * pitch] = mg_high_halves(even, next_even);
    second[2 * pitch] = mg_high_halves(odd, next_odd);
}

/* Copies four channels. `from` is the first value. It is out of line, because operators share
 * it. */
static __attribute__((noinline, unused)) void mg_planes_fill(const mg_planes_copy *c,
                                                             const int8_t *from, uint32_t *planes)
{
    const int32_t pitch = c->pitch;
    const int32_t step = c->step;
    uint32_t *line = &planes[c->begin];

    for (int32_t left = c->lines; left > 0; left--) {
        const int8_t *value = from;
        uint32_t *to = line;
        if (c->has_zero != 0) {
            mg_planes_put_half(to, pitch, 1, mg_load_4_s8(value));
            value += step;
            to++;
        }
        for (int32_t pairs = c->pairs; pairs > 0; pairs--) {
            mg_planes_put(to, pitch, mg_load_4_s8(value), mg_load_4_s8(value + step));
            value += 2 * step;
            to++;
        }
        if (c->has_rest != 0) {
            mg_planes_put_half(to, pitch, 0, mg_load_4_s8(value));
        }
        from += c->line_step;
        line += MG_PLANES * pitch;
    }
}

/* The same for one channel, for inputs that have fewer than four. */
static __attribute__((noinline, unused)) void
mg_planes_fill_one(const mg_planes_copy *c, const int8_t *from, uint32_t *plane)
{
    const int32_t values = c->has_zero + 2 * c->pairs + c->has_rest;
    int16_t *to = (int16_t *)(void *)&plane[c->begin] + c->has_zero;

    for (int32_t left = c->lines; left > 0; left--) {
        for (int32_t i = 0; i < values; i++) {
            to[i] = from[i * c->step];
        }
        from += c->line_step;
        to += 2 * MG_PLANES * c->pitch;
    }
}

#endif
