/* SPDX-License-Identifier: Apache-2.0 */
/* A hybrid fully connected layer with the Arm DSP extension: two products at a time. */
#ifndef MICROGEN_DENSE_HYBRID_F32_DSP_H
#define MICROGEN_DENSE_HYBRID_F32_DSP_H

#include <string.h>

#include "microgen/blocks/dsp.h"
#include "microgen/dense/dense_hybrid_f32.h"

typedef mg_dense_hybrid_f32_params mg_dense_hybrid_f32_dsp_params;

/* The same as mg_dense_hybrid_f32, but scratch must have twice input_features bytes. */
MG_EXTERN void mg_dense_hybrid_f32_dsp(MG_ARGUMENTS_HYBRID(mg_dense_hybrid_f32_dsp));

/* A row of quantized values plus their offset. Each four are two words of int16: the first and the
 * third, then the second and the fourth. The values that fours leave over follow as they are. */
typedef struct {
    const uint8_t *fours;
    const int8_t *rest;
    int32_t whole; /* values in fours */
    int32_t size;
    int32_t offset;
} mg_hybrid_pairs;

/* Quantizes values [size] into scratch [2 * size]. */
MG_INLINE mg_hybrid mg_hybrid_pairs_of(const float *values, int32_t size, int32_t asymmetric,
                                       uint8_t *scratch, mg_hybrid_pairs *pairs)
{
    /* They are bytes in the second half first, so that each is read before it is overwritten. */
    int8_t *bytes = (int8_t *)&scratch[size];
    const mg_hybrid meaning = mg_quantize_hybrid(values, size, asymmetric, bytes);
    const uint32_t offset = mg_twice_s16(meaning.offset);
    const int32_t whole = size - size % 4;

    for (int32_t i = 0; i < whole; i += 4) {
        const uint32_t word = mg_load_4_s8(&bytes[i]);
        const uint32_t even = mg_sxtab16(offset, word);
        const uint32_t odd = mg_sxtab16_odd(offset, word);
        (void)memcpy(&scratch[2 * i], &even, sizeof(even));
        (void)memcpy(&scratch[2 * i + 4], &odd, sizeof(odd));
    }
    pairs->fours = scratch;
    pairs->rest = &bytes[whole];
    pairs->whole = whole;
    pairs->size = size;
    pairs->offset = meaning.offset;
    return meaning;
}

/* Adds the products of four values with four weights. */
MG_INLINE int32_t mg_hybrid_four(int32_t sum, uint32_t even, uint32_t odd, const int8_t *weight)
{
    const uint32_t word = mg_load_4_s8(weight);
    return mg_smlad(odd, mg_sxtb16_odd(word), mg_smlad(even, mg_sxtb16(word), sum));
}

/* The sums of a row's products with `count` rows of weights, 4 or 1, which are row->size apart. */
MG_INLINE mg_sums_hybrid mg_dot_pairs_hybrid(const mg_hybrid_pairs *row, const int8_t *weight,
                                             int count)
{
    const int32_t n = row->size;
    const int8_t *first = weight;
    const int8_t *second = &weight[(count > 1) ? n : 0];
    const int8_t *third = &weight[(count > 1) ? 2 * n : 0];
    const int8_t *fourth = &weight[(count > 1) ? 3 * n : 0];
    const uint8_t *end = &row->fours[2 * row->whole];
    mg_sums_hybrid sums = {0, 0, 0, 0};

    for (const uint8_t *four = row->fours; four != end; four += 8) {
        uint32_t even;
        uint32_t odd;
        (void)memcpy(&even, four, sizeof(even));
        (void)memcpy(&odd, &four[4], sizeof(odd));
        sums.a = mg_hybrid_four(sums.a, even, odd, first);
        first += 4;
        if (count > 1) {
            sums.b = mg_hybrid_four(sums.b, even, odd, second);
            sums.c = mg_hybrid_four(sums.c, even, odd, third);
            sums.d = mg_hybrid_four(sums.d, even, odd, fourth);
            second += 4;
            third += 4;
            fourth += 4;
        }
    }
    if (count > 1) {
        return mg_dot_4_hybrid(sums, row->rest, row->offset, first, n, n - row->whole);
    }
    sums.a = mg_dot_hybrid(sums.a, row->rest, row->offset, first, n - row->whole);
    return sums;
}

MG_INLINE void mg_dense_hybrid_f32_dsp_body(MG_ARGUMENTS_HYBRID(mg_dense_hybrid_f32_dsp))
{
    const mg_finish_hybrid finish = {bias, scale, p->per_channel, p->activation_min,
                                     p->activation_max};
    const int32_t n = p->input_features;
    const int32_t whole = p->output_features - p->output_features % 4;

    for (int32_t batch = 0; batch < p->batches; batch++) {
        mg_hybrid_pairs row;
        float *own = &output[batch * p->output_features];
        const float unit =
            mg_hybrid_pairs_of(&input[batch * n], n, p->asymmetric, scratch, &row).scale;

        for (int32_t o = 0; o < whole; o += 4) {
            const mg_sums_hybrid sums = mg_dot_pairs_hybrid(&row, &weight[o * n], 4);
            own[o] = mg_finished_hybrid(&finish, o, unit, sums.a);
            own[o + 1] = mg_finished_hybrid(&finish, o + 1, unit, sums.b);
            own[o + 2] = mg_finished_hybrid(&finish, o + 2, unit, sums.c);
            own[o + 3] = mg_finished_hybrid(&finish, o + 3, unit, sums.d);
        }
        for (int32_t o = whole; o < p->output_features; o++) {
            const mg_sums_hybrid sums = mg_dot_pairs_hybrid(&row, &weight[o * n], 1);
            own[o] = mg_finished_hybrid(&finish, o, unit, sums.a);
        }
    }
}

#ifdef MG_DENSE_HYBRID_F32_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_hybrid_f32_dsp, (p, input, weight, bias, scale, output, scratch),
               MG_ARGUMENTS_HYBRID(mg_dense_hybrid_f32_dsp))
#endif

#endif
