/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with an int16 cell state, for cores with the
 * Arm DSP extension: the four gates of two cells at a time, with the paired weights of paired_s8.h,
 * and the gates' functions of gate_functions_16.h. */
#ifndef MICROGEN_LSTM_S8_PAIRED_H
#define MICROGEN_LSTM_S8_PAIRED_H

#include "microgen/arithmetic/gate_functions_16.h"
#include "microgen/dense/dense_s8_paired.h"
#include "microgen/recurrent/lstm_s8.h"

typedef mg_lstm_s8_params mg_lstm_s8_paired_params;

/* Computes the same as mg_lstm_s8 with four gates, without peepholes and projection. The weights
 * are those of paired_s8.h for groups of eight sums: of two cells, each with its gates input,
 * forget, output and cell. A last cell without another is in a group with weights of 0. The biases,
 * int32 [groups][8], are 256 times what sums start with; zero points are in them. The shifts of
 * sums are at most 7, the hidden state's is negative, and cell_bits is 2 or more.
 * gate_functions_16.h describes exponential and factor.
 *
 * scratch, aligned to 4 bytes, has two words for each four features and for each four cells. */
MG_EXTERN void mg_lstm_s8_paired(const mg_lstm_s8_paired_params *p, const int8_t *input,
                                 int8_t *output_state, int16_t *cell_state,
                                 const int32_t *input_weight, const int32_t *recurrent_weight,
                                 const int32_t *bias, const int32_t *recurrent_bias,
                                 const int16_t *exponential, const int32_t *factor, int8_t *output,
                                 uint8_t *scratch);

enum {
    MG_LSTM_CELLS = 8,       /* cells whose gates' functions are computed together */
    MG_LSTM_GATES = 4,       /* of a cell */
    MG_LSTM_SUMS = 8,        /* of a group */
    MG_LSTM_SUM_FRACTION = 8 /* bits of the fraction of a sum */
};

/* The layer's constants. Weights and biases are those of sums over the input, and over the state.
 */
typedef struct {
    mg_gate_tables tables;
    const int32_t *weight[2];
    const int32_t *bias[2];
} mg_lstm_s8_paired_layer;

/* The input and the state as mg_dense_s8_paired_row stores them, and their groups of four values.
 */
typedef struct {
    uint32_t *row[2];
    int32_t steps[2];
} mg_lstm_s8_paired_rows;

/* The arguments of the gates' functions, and then their values, of up to MG_LSTM_CELLS cells. Gates
 * are `apart`, an even number: input, forget, output and cell. */
typedef struct {
    int16_t value[MG_LSTM_GATES * MG_LSTM_CELLS];
    int32_t apart;
} mg_lstm_s8_paired_gates;

/* The sums of `groups` groups of eight channels, one or more. As in paired_s8.h, the assembly's
 * function has little stack. */
#ifdef MG_PAIRED_ASSEMBLY

#define MG_LSTM_STORE_8                                                                            \
    "ldr %[x], %[to]\n"                                                                            \
    "strd %[s0], %[s1], [%[x]], #8\n"                                                              \
    "strd %[s2], %[s3], [%[x]], #8\n"                                                              \
    "strd %[s4], %[s5], [%[x]], #8\n"                                                              \
    "strd %[s6], %[s7], [%[x]], #8\n"                                                              \
    "str %[x], %[to]\n"                                                                            \
    "ldr %[y], %[last]\n"                                                                          \
    "cmp %[weight], %[y]\n"                                                                        \
    "bne 0b\n"

MG_ONCE void mg_lstm_s8_paired_sums(int32_t *sums, const int32_t *bias, const uint32_t *row,
                                    const int32_t *weight, int32_t steps, int32_t groups)
{
    const void *const end = mg_dense_s8_paired_end(row, steps, MG_DENSE_WORDS);
    const int32_t *const last = weight + MG_LSTM_SUMS * steps * groups;
    const int32_t rest = steps % 4;
    const void *const first = row;
    const int32_t *start = bias;
    int32_t *to = sums;
    MG_DENSE_PAIRED_SUMS
    uint32_t x;
    uint32_t y;
    const void *values;
    int32_t w;
    int32_t v;

    __asm__ volatile(MG_DENSE_PAIRED_BEGIN MG_DENSE_PAIRED_LOOP(MG_DENSE_PAIRED_READ_WORDS)
                         MG_LSTM_STORE_8
                     : [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
                       [s4] "=&r"(s4), [s5] "=&r"(s5), [s6] "=&r"(s6), [s7] "=&r"(s7),
                       [values] "=&r"(values), [weight] "+r"(weight), [w] "=&r"(w), [v] "=&r"(v),
                       [x] "=&r"(x), [y] "=&r"(y), [start] "+m"(start), [to] "+m"(to)
                     : [first] "m"(first), [end] "m"(end), [last] "m"(last), [rest] "m"(rest)
                     : "cc", "memory");
}

#else

MG_ONCE void mg_lstm_s8_paired_sums(int32_t *sums, const int32_t *bias, const uint32_t *row,
                                    const int32_t *weight, int32_t steps, int32_t groups)
{
    for (int32_t at = 0; at < MG_LSTM_SUMS * groups; at += MG_LSTM_SUMS) {
        weight = mg_dense_s8_paired_add(&sums[at], &bias[at], row, weight, steps, MG_DENSE_WORDS);
    }
}

#endif

/* x / 2^bits, rounded to nearest, ties away from zero; bits in [1, 31]. */
MG_INLINE int32_t mg_lstm_divide(int32_t x, int32_t bits)
{
    return mg_shift_right(x + mg_shift_left(1, bits - 1) + mg_shift_right(x, 31), bits);
}

/* A sum times 256 times its scale, as mg_requantize computes it. */
MG_INLINE int32_t mg_lstm_scaled(int32_t sum, int32_t multiplier, int32_t shift)
{
    const int32_t left = (shift > 0) ? shift : 0;
    const int32_t product =
        mg_smmulr(mg_shift_right(sum, MG_LSTM_SUM_FRACTION - 1 - left), multiplier);
    return (shift >= 0) ? product : mg_lstm_divide(product, -shift);
}

/* Stores the arguments of one gate's functions of two cells in Q3.12. The sums are the gate's. */
MG_INLINE void mg_lstm_s8_paired_argument(const mg_lstm_s8_paired_params *p, int32_t gate,
                                          const int32_t *of_input, const int32_t *of_state,
                                          int16_t *to)
{
    for (int32_t i = 0; i < 2; i++) {
        const int32_t x = mg_lstm_scaled(of_input[MG_LSTM_GATES * i], p->input_multiplier[gate],
                                         p->input_shift[gate]);
        const int32_t h = mg_lstm_scaled(of_state[MG_LSTM_GATES * i], p->recurrent_multiplier[gate],
                                         p->recurrent_shift[gate]);
        to[i] = (int16_t)mg_as_s16(mg_as_s16(x) + h);
    }
}

/* The arguments of the gates' functions of a block of cells, whose first pair is `pair`. */
MG_INLINE void mg_lstm_s8_paired_arguments(const mg_lstm_s8_paired_params *p,
                                           const mg_lstm_s8_paired_layer *layer,
                                           const mg_lstm_s8_paired_rows *rows, int32_t pair,
                                           mg_lstm_s8_paired_gates *gates)
{
    const int32_t at = MG_LSTM_SUMS * pair;
    const int32_t pairs = gates->apart / 2;
    int32_t x[MG_LSTM_GATES * MG_LSTM_CELLS];
    int32_t h[MG_LSTM_GATES * MG_LSTM_CELLS];

    mg_lstm_s8_paired_sums(x, &layer->bias[0][at], rows->row[0],
                           &layer->weight[0][at * rows->steps[0]], rows->steps[0], pairs);
    mg_lstm_s8_paired_sums(h, &layer->bias[1][at], rows->row[1],
                           &layer->weight[1][at * rows->steps[1]], rows->steps[1], pairs);
    for (int32_t i = 0; i < pairs; i++) {
        const int32_t *const a = &x[MG_LSTM_SUMS * i];
        const int32_t *const b = &h[MG_LSTM_SUMS * i];
        int16_t *const to = &gates->value[2 * i];
        mg_lstm_s8_paired_argument(p, MG_LSTM_INPUT, &a[0], &b[0], to);
        mg_lstm_s8_paired_argument(p, MG_LSTM_FORGET, &a[1], &b[1], &to[gates->apart]);
        mg_lstm_s8_paired_argument(p, MG_LSTM_OUTPUT, &a[2], &b[2], &to[2 * gates->apart]);
        mg_lstm_s8_paired_argument(p, MG_LSTM_CELL, &a[3], &b[3], &to[3 * gates->apart]);
    }
}

/* The functions are not inlined, so that their constants have registers. */
MG_ONCE void mg_lstm_s8_paired_logistic(const mg_gate_tables *tables, int16_t *values,
                                        int32_t count)
{
    mg_gate_logistic(tables, values, count);
}

MG_ONCE void mg_lstm_s8_paired_tanh(const mg_gate_tables *tables, int16_t *values, int32_t count,
                                    int32_t integer_bits)
{
    mg_gate_tanh(tables, values, count, integer_bits);
}

/* The cell state after a step, from the one before and the values of its gates in Q0.15. */
MG_INLINE int32_t mg_lstm_s8_paired_cell(const mg_lstm_s8_paired_params *p, int32_t state,
                                         int32_t keep, int32_t take, int32_t change)
{
    const int32_t next = mg_as_s16(mg_lstm_divide(keep * state, 15) +
                                   mg_lstm_divide(take * change, 15 + p->cell_bits));

    if (p->cell_clip != 0 && next > p->cell_clip) {
        return p->cell_clip;
    }
    return (p->cell_clip != 0 && next < -p->cell_clip) ? -p->cell_clip : next;
}

/* Updates `count` cells from the values of their gates. */
MG_INLINE void mg_lstm_s8_paired_update(const mg_lstm_s8_paired_params *p,
                                        const mg_gate_tables *tables,
                                        mg_lstm_s8_paired_gates *gates, int32_t count,
                                        int16_t *cell_state, int8_t *output)
{
    int16_t *const take = gates->value;
    const int16_t *const keep = &take[gates->apart];
    const int16_t *const show = &keep[gates->apart];
    const int16_t *const change = &show[gates->apart];

    for (int32_t i = 0; i < count; i++) {
        const int32_t next = mg_lstm_s8_paired_cell(p, cell_state[i], keep[i], take[i], change[i]);
        cell_state[i] = (int16_t)next;
        take[i] = (int16_t)next;
    }
    mg_lstm_s8_paired_tanh(tables, take, count, p->cell_bits);
    for (int32_t i = 0; i < count; i++) {
        const int32_t shown = mg_shift_left(show[i] * take[i], 1);
        const int32_t hidden =
            mg_lstm_divide(mg_smmulr(shown, p->hidden_multiplier), -p->hidden_shift);
        output[i] = (int8_t)mg_as_s8(hidden + p->hidden_offset);
    }
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_s8_paired_step(const mg_lstm_s8_paired_params *p,
                                      const mg_lstm_s8_paired_layer *layer,
                                      const mg_lstm_s8_paired_rows *rows, const int8_t *input,
                                      int8_t *state, int16_t *cell_state, int8_t *output)
{
    mg_dense_s8_paired_row(input, p->features, rows->row[0]);
    mg_dense_s8_paired_row(state, p->cells, rows->row[1]);
    for (int32_t cell = 0; cell < p->cells; cell += MG_LSTM_CELLS) {
        const int32_t left = p->cells - cell;
        const int32_t count = (left < MG_LSTM_CELLS) ? left : MG_LSTM_CELLS;
        mg_lstm_s8_paired_gates gates;
        gates.apart = count + count % 2;
        mg_lstm_s8_paired_arguments(p, layer, rows, cell / 2, &gates);
        mg_lstm_s8_paired_logistic(&layer->tables, gates.value, 3 * gates.apart);
        mg_lstm_s8_paired_tanh(&layer->tables, &gates.value[3 * gates.apart], gates.apart, 3);
        mg_lstm_s8_paired_update(p, &layer->tables, &gates, count, &cell_state[cell],
                                 &output[cell]);
    }
    (void)memcpy(state, output, (size_t)p->cells);
}

MG_INLINE void mg_lstm_s8_paired_body(const mg_lstm_s8_paired_params *p, const int8_t *input,
                                      int8_t *output_state, int16_t *cell_state,
                                      const int32_t *input_weight, const int32_t *recurrent_weight,
                                      const int32_t *bias, const int32_t *recurrent_bias,
                                      const int16_t *exponential, const int32_t *factor,
                                      int8_t *output, uint8_t *scratch)
{
    const mg_lstm_s8_paired_layer layer = {
        {exponential, factor}, {input_weight, recurrent_weight}, {bias, recurrent_bias}};
    uint32_t *const words = (uint32_t *)(void *)scratch;
    const int32_t steps = (p->features + 3) / 4;
    const mg_lstm_s8_paired_rows rows = {{words, words + 2 * steps}, {steps, (p->cells + 3) / 4}};

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;
            mg_lstm_s8_paired_step(p, &layer, &rows, &input[row * p->features],
                                   &output_state[n * p->cells], &cell_state[n * p->cells],
                                   &output[row * p->cells]);
        }
    }
}

#ifdef MG_LSTM_S8_PAIRED_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_lstm_s8_paired,
               (p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                recurrent_bias, exponential, factor, output, scratch),
               const mg_lstm_s8_paired_params *p, const int8_t *input, int8_t *output_state,
               int16_t *cell_state, const int32_t *input_weight, const int32_t *recurrent_weight,
               const int32_t *bias, const int32_t *recurrent_bias, const int16_t *exponential,
               const int32_t *factor, int8_t *output, uint8_t *scratch)
#endif

#endif
