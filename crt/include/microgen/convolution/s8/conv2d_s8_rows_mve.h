/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, for MVE.
 *
 * Pixels of a row are computed from a strip, which has the bytes of their windows' lines column by
 * column: [columns][kernel_height][input_channels]. So each window is contiguous, although windows
 * overlap. If output rows are no multiple of a tile, and short, the strips of several rows follow
 * each other. Filters are [kernel_width][kernel_height][input_channels], see mve_tiles.h. */
#ifndef MICROGEN_CONV2D_S8_ROWS_MVE_H
#define MICROGEN_CONV2D_S8_ROWS_MVE_H

#include "microgen/blocks/mve_tiles.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_rows_mve_params;

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_STRIP 8 /* pixels of a row: a multiple of MG_MVE_PIXELS */

/* What the lines of a strip have in common. */
typedef struct {
    int32_t channels; /* bytes of a column */
    int32_t step;     /* from column to column of a strip */
    int32_t left;     /* columns before the input, */
    int32_t inside;   /* in it, */
    int32_t right;    /* and after it */
    int32_t zero;     /* the input's zero point */
    /* Where each byte of a vector of inputs goes, or NULL if it has one column or a part of it. */
    const uint8_t *places;
    int32_t together; /* columns that a vector has */
    int32_t lines;    /* of a window */
    int32_t pitch;    /* bytes of the input from one to the next */
    int32_t height;   /* rows of the input from one to the next, */
    int32_t rows;     /* and all of the input's */
} mg_mve_strip;

/* Finds the places of a vector's bytes. Returns NULL if it has less than two columns, or if one of
 * the places is too far away. */
MG_INLINE const uint8_t *mg_mve_strip_places(int32_t channels, int32_t step,
                                             uint8_t places[MG_MVE_BYTES])
{
    int32_t column = 0;
    int32_t channel = 0;

    if (2 * channels > MG_MVE_BYTES ||
        MG_MVE_BYTES / channels * step > (int32_t)UINT8_MAX - channels) {
        return NULL;
    }
    for (int32_t i = 0; i < MG_MVE_BYTES; i++) {
        places[i] = (uint8_t)(column * step + channel);
        channel++;
        if (channel == channels) {
            channel = 0;
            column++;
        }
    }
    return places;
}

/* Copies the columns inside of the input, several with each vector. In assembly, because GCC 12
 * moves predicates to other registers and back. */
MG_INLINE void mg_mve_strip_scatter(const mg_mve_strip *s, const int8_t *from, int8_t *to)
{
    const uint8x16_t places = vldrbq_u8(s->places);
    const int32_t columns = s->together;
    const int32_t vectors = s->inside / columns;

    __asm__ volatile(
        "vctp.8 %[whole]\n\t"
        "wls lr, %[vectors], 2f\n"
        "1:\n\t"
        "vpstt\n\t"
        "vldrbt.u8 q0, [%[from]]\n\t"
        "vstrbt.8 q0, [%[to], %q[places]]\n\t"
        "add %[from], %[from], %[whole]\n\t"
        "add %[to], %[to], %[step]\n\t"
        "le lr, 1b\n"
        "2:\n\t"
        "vctp.8 %[rest]\n\t"
        "vpstt\n\t"
        "vldrbt.u8 q0, [%[from]]\n\t"
        "vstrbt.8 q0, [%[to], %q[places]]"
        : [from] "+r"(from), [to] "+r"(to)
        : [places] "w"(places), [vectors] "r"(vectors), [whole] "r"(columns * s->channels),
          [step] "r"(columns * s->step), [rest] "r"((s->inside - vectors * columns) * s->channels)
        : "lr", "q0", "cc", "memory");
}

/* Copies them, a part of a column with each vector. */
MG_INLINE void mg_mve_strip_copy(const mg_mve_strip *s, const int8_t *line, int8_t *to)
{
    for (int32_t done = 0; done < s->channels; done += MG_MVE_BYTES) {
        const int8_t *from = line + done;
        int8_t *at = to + done;
        __asm__ volatile("vctp.8 %[left]\n\t"
                         "dls lr, %[columns]\n"
                         "1:\n\t"
                         "vpstt\n\t"
                         "vldrbt.u8 q0, [%[from]]\n\t"
                         "vstrbt.8 q0, [%[at]]\n\t"
                         "add %[from], %[from], %[channels]\n\t"
                         "add %[at], %[at], %[step]\n\t"
                         "le lr, 1b"
                         : [from] "+r"(from), [at] "+r"(at)
                         : [left] "r"(s->channels - done), [columns] "r"(s->inside),
                           [channels] "r"(s->channels), [step] "r"(s->step)
                         : "lr", "q0", "cc", "memory");
    }
}

/* Fills `columns` columns of a line with zero points. Out of line, because most lines have none. */
static __attribute__((noinline, unused)) void mg_mve_strip_fill(const mg_mve_strip *s,
                                                                int32_t columns, int8_t *to)
{
    const int8x16_t zeros = vdupq_n_s8((int8_t)s->zero);

    for (int32_t done = 0; done < s->channels; done += MG_MVE_BYTES) {
        int8_t *at = to + done;
        __asm__ volatile("vctp.8 %[left]\n\t"
                         "dls lr, %[columns]\n"
                         "1:\n\t"
                         "vpst\n\t"
                         "vstrbt.8 %q[zeros], [%[at]]\n\t"
                         "add %[at], %[at], %[step]\n\t"
                         "le lr, 1b"
                         : [at] "+r"(at)
                         : [zeros] "w"(zeros), [left] "r"(s->channels - done),
                           [columns] "r"(columns), [step] "r"(s->step)
                         : "lr", "cc", "memory");
    }
}

/* Copies a line of the input. */
MG_INLINE void mg_mve_strip_line(const mg_mve_strip *s, const int8_t *line, int8_t *to)
{
    int8_t *inside = to + s->left * s->step;

    if (s->left > 0) {
        mg_mve_strip_fill(s, s->left, to);
    }
    if (s->step == s->channels) { /* a window has one line */
        (void)mg_mve_copy(inside, line, s->inside * s->channels);
    } else if (s->places != NULL) {
        mg_mve_strip_scatter(s, line, inside);
    } else {
        mg_mve_strip_copy(s, line, inside);
    }
    if (s->right > 0) {
        mg_mve_strip_fill(s, s->right, inside + s->inside * s->step);
    }
}

/* Copies the lines of windows from row `y` of the image on, whose columns begin at `place`, or
 * fills those that the image does not have. Out of line for all layers. */
static __attribute__((noinline, unused)) void
mg_mve_strip_lines(const mg_mve_strip *s, const int8_t *image, int32_t place, int32_t y, int8_t *to)
{
    for (int32_t left = s->lines; left > 0; left--) {
        if (y >= 0 && y < s->rows && s->inside > 0) {
            mg_mve_strip_line(s, &image[place], to);
        } else {
            mg_mve_strip_fill(s, s->left + s->inside + s->right, to);
        }
        place += s->pitch;
        y += s->height;
        to += s->channels;
    }
}

/* The strip of `count` output pixels from column x on. */
MG_INLINE mg_mve_strip mg_conv2d_s8_rows_mve_strip(const mg_conv2d_s8_params *p, int32_t x,
                                                   int32_t count, const uint8_t *places)
{
    const int32_t first = x * p->stride_width - p->pad_left;
    const int32_t columns = (count - 1) * p->stride_width + p->kernel_width;
    const mg_taps taps = mg_taps_inside(first, columns, 1, p->input_width);
    mg_mve_strip strip = {p->input_channels,
                          p->kernel_height * p->input_channels,
                          columns,
                          0,
                          0,
                          -p->input_offset,
                          places,
                          MG_MVE_BYTES / p->input_channels,
                          p->kernel_height,
                          p->dilation_height * p->input_width * p->input_channels,
                          p->dilation_height,
                          p->input_height};

    if (taps.begin < taps.end) {
        strip.left = taps.begin;
        strip.inside = taps.end - taps.begin;
        strip.right = columns - taps.end;
    }
    return strip;
}

/* Fills a strip of windows of output row `row`. The first window begins at input column x. */
MG_INLINE void mg_conv2d_s8_rows_mve_fill(const mg_conv2d_s8_params *p, const mg_mve_strip *strip,
                                          const int8_t *image, int32_t row, int32_t x, int8_t *to)
{
    const int32_t first = (x < 0) ? 0 : x;
    const int32_t y = row * p->stride_height - p->pad_top;

    mg_mve_strip_lines(strip, image, (y * p->input_width + first) * p->input_channels, y, to);
}

/* Rows of outputs whose strips are computed together. */
MG_INLINE int32_t mg_conv2d_s8_rows_mve_lines(const mg_conv2d_s8_params *p)
{
    const int is_uneven = p->output_width < MG_MVE_STRIP && p->output_width % MG_MVE_PIXELS != 0;
    return is_uneven ? MG_MVE_PIXELS : 1;
}

/* Computes some rows of outputs from `row` on, in strips of `most` pixels. */
MG_INLINE void mg_conv2d_s8_rows_mve_rows(const mg_conv2d_s8_params *p, mg_mve_tiles *tiles,
                                          const int8_t *image, int32_t row, int32_t lines,
                                          const uint8_t *places, int8_t *strips, int32_t most,
                                          int requantization)
{
    const int32_t column = p->kernel_height * p->input_channels;
    const int32_t step = column * p->stride_width;
    const int is_again = (lines == 1) ? 1 : 0;

    for (int32_t x = 0; x < p->output_width; x += most) {
        const int32_t left = p->output_width - x;
        const int32_t count = (left < most) ? left : most;
        const mg_mve_strip strip = mg_conv2d_s8_rows_mve_strip(p, x, count, places);
        const int32_t size = ((count - 1) * p->stride_width + p->kernel_width) * column;
        const mg_mve_places pixels = {column * p->kernel_width, step, count, size - count * step};
        for (int32_t i = 0; i < lines; i++) {
            mg_conv2d_s8_rows_mve_fill(p, &strip, image, row + i, x * p->stride_width - p->pad_left,
                                       strips + i * size);
        }
        mg_mve_tiles_run_with(tiles, &pixels, strips, lines * count, is_again, requantization);
    }
}

/* mg_conv2d_s8_rows_mve_body in strips of `most` pixels: a multiple of four, or a row's. */
MG_INLINE void mg_conv2d_s8_rows_mve_strips(const mg_conv2d_s8_params *p, const int8_t *input,
                                            const int8_t *weight, const int32_t *bias,
                                            const int32_t *multiplier, const int8_t *shift,
                                            void *output, uint8_t *scratch, int32_t most,
                                            int requantization)
{
    const mg_mve_rows rows = MG_MVE_ROWS_OF(p, weight, bias, multiplier, shift);
    const int32_t size = p->input_height * p->input_width * p->input_channels;
    const int32_t lines = mg_conv2d_s8_rows_mve_lines(p);
    const int32_t depth = p->kernel_height * p->kernel_width * p->input_channels;
    uint8_t places[MG_MVE_BYTES];
    const uint8_t *found =
        mg_mve_strip_places(p->input_channels, p->kernel_height * p->input_channels, places);
    int8_t *strips = (int8_t *)scratch + mg_mve_lead(depth);
    mg_mve_tiles tiles;
    mg_mve_few few;

    mg_mve_tiles_begin_with(&tiles, &few, &rows, depth, (int8_t *)output, requantization);
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t row = 0; row < p->output_height; row += lines) {
            const int32_t left = p->output_height - row;
            const int32_t count = (left < lines) ? left : lines;
            mg_conv2d_s8_rows_mve_rows(p, &tiles, input + n * size, row, count, found, strips, most,
                                       requantization);
        }
    }
}

/* Computes the same as mg_conv2d_s8_body with the same arguments, but with weights in the order
 * above, and with the input's zero point in the bias. `requantization` is MG_ROUND_TWICE_NARROW,
 * MG_ROUND_UPWARD_NARROW or MG_ROUND_FLOAT_FPU. scratch has the bytes of a strip, which is of eight
 * pixels, or of a whole row if that has fewer, or those of four strips of rows of fewer pixels that
 * are no multiple of four; and what a window's first vector reads before it. */
MG_INLINE void mg_conv2d_s8_rows_mve_body(const mg_conv2d_s8_params *p, const int8_t *input,
                                          const int8_t *weight, const int32_t *bias,
                                          const int32_t *multiplier, const int8_t *shift,
                                          void *output, uint8_t *scratch, int requantization)
{
    mg_conv2d_s8_rows_mve_strips(p, input, weight, bias, multiplier, shift, output, scratch,
                                 MG_MVE_STRIP, requantization);
}

#define MG_CONV2D_S8_ROWS_MVE_KERNEL(name, ...)                                                    \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s8_rows_mve, int8_t, __VA_ARGS__)

#else

#define MG_CONV2D_S8_ROWS_MVE_KERNEL(name, ...) MG_CONV2D_S8_ROWS_MVE_PROTOTYPE(name);

#endif

#define MG_CONV2D_S8_ROWS_MVE_PROTOTYPE(name)                                                      \
    MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s8_rows_mve, int8_t)

/* 2-D convolution with a 1x1 kernel, int8, for MVE: rows of pixels, where they are. */
typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_rows_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Computes the same as mg_conv2d_s8_body with the same arguments, for a 1x1 kernel, one group, no
 * padding. If the input's channels are no whole vectors, there are at least MG_MVE_LEAST of them,
 * and four pixels or more. Weights are in the order of mve_tiles.h. The bias contains the input's
 * zero point. `requantization` is MG_ROUND_TWICE_NARROW, MG_ROUND_UPWARD_NARROW or
 * MG_ROUND_FLOAT_FPU. */
MG_INLINE void mg_conv2d_1x1_s8_rows_mve_body(const mg_conv2d_s8_params *p, const int8_t *input,
                                              const int8_t *weight, const int32_t *bias,
                                              const int32_t *multiplier, const int8_t *shift,
                                              void *output, int requantization)
{
    const mg_mve_rows rows = MG_MVE_ROWS_OF(p, weight, bias, multiplier, shift);
    const int32_t step = p->input_channels * p->stride_width;
    const mg_mve_places pixels = {p->input_channels, step, p->output_width,
                                  p->stride_height * p->input_width * p->input_channels -
                                      p->output_width * step};
    const int32_t count = p->output_height * p->output_width;
    mg_mve_tiles tiles;
    mg_mve_few few;

    if (p->batches == 1 && p->output_channels >= MG_MVE_FILTERS &&
        requantization != MG_ROUND_FLOAT_FPU) {
        mg_mve_tiles_all(&rows, &pixels, input, count, (int8_t *)output, requantization);
        return;
    }
    mg_mve_tiles_begin_with(&tiles, &few, &rows, p->input_channels, (int8_t *)output,
                            requantization);
    for (int32_t n = 0; n < p->batches; n++) {
        mg_mve_tiles_run_with(&tiles, &pixels, input, count, 0, requantization);
        input += p->input_height * p->input_width * p->input_channels;
    }
}

#define MG_CONV2D_1X1_S8_ROWS_MVE_KERNEL(name, ...)                                                \
    MG_KERNEL(name, mg_conv2d_1x1_s8_rows_mve, int8_t, __VA_ARGS__)

#else

#define MG_CONV2D_1X1_S8_ROWS_MVE_KERNEL(name, ...) MG_CONV2D_1X1_S8_ROWS_MVE_PROTOTYPE(name);

#endif

#define MG_CONV2D_1X1_S8_ROWS_MVE_PROTOTYPE(name)                                                  \
    MG_PROTOTYPE(name, mg_conv2d_1x1_s8_rows_mve, int8_t)

/* conv2d_s8_rows_mve.h without scratch memory: its strips are on the stack. */
typedef mg_conv2d_s8_params mg_conv2d_s8_rows_stack_mve_params;

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_STRIP_STACK 512 /* bytes */

/* The pixels of a strip: as many as there is room for. */
MG_INLINE int32_t mg_conv2d_s8_rows_stack_mve_pixels(const mg_conv2d_s8_params *p)
{
    const int32_t column = p->kernel_height * p->input_channels;
    const int32_t columns = (MG_MVE_STRIP_STACK - mg_mve_lead(column * p->kernel_width)) / column;
    const int32_t pixels = (columns - p->kernel_width) / p->stride_width + 1;

    return (pixels < p->output_width) ? pixels / MG_MVE_PIXELS * MG_MVE_PIXELS : p->output_width;
}

/* As mg_conv2d_s8_rows_mve_body, for layers whose strips of eight pixels have at most
 * MG_MVE_STRIP_STACK bytes. */
MG_INLINE void mg_conv2d_s8_rows_stack_mve_body(const mg_conv2d_s8_params *p, const int8_t *input,
                                                const int8_t *weight, const int32_t *bias,
                                                const int32_t *multiplier, const int8_t *shift,
                                                void *output, int requantization)
{
    uint8_t strip[MG_MVE_STRIP_STACK];

    mg_conv2d_s8_rows_mve_strips(p, input, weight, bias, multiplier, shift, output, strip,
                                 mg_conv2d_s8_rows_stack_mve_pixels(p), requantization);
}

#define MG_CONV2D_S8_ROWS_STACK_MVE_KERNEL(name, ...)                                              \
    MG_KERNEL(name, mg_conv2d_s8_rows_stack_mve, int8_t, __VA_ARGS__)

#else

#define MG_CONV2D_S8_ROWS_STACK_MVE_KERNEL(name, ...) MG_CONV2D_S8_ROWS_STACK_MVE_PROTOTYPE(name);

#endif

#define MG_CONV2D_S8_ROWS_STACK_MVE_PROTOTYPE(name)                                                \
    MG_PROTOTYPE(name, mg_conv2d_s8_rows_stack_mve, int8_t)

#endif
