/* SPDX-License-Identifier: Apache-2.0 */
/* What LSTM kernels with peepholes and projections share. */
#ifndef MICROGEN_LSTM_H
#define MICROGEN_LSTM_H

#include <stdint.h>
#include <string.h>

/* The first parameters of all kernels. */
#define MG_LSTM_SIZES                                                                              \
    int32_t batches;                                                                               \
    int32_t steps;                                                                                 \
    int32_t features; /* of the input */                                                           \
    int32_t cells;                                                                                 \
    int32_t outputs;    /* equal to cells if there is no projection */                             \
    int32_t time_major; /* 1: input and output are [steps][batches]; 0: [batches][steps] */        \
    int32_t gates;      /* 4; or 3 if the input gate is one minus the forget gate */

/* The model's constants: weights of the type `weight`, biases of `bias_type` and peepholes of
 * `peephole_type`. The gates are input, forget, cell and output, or the last three of these. */
#define MG_LSTM_WEIGHTS(weight, bias_type, peephole_type)                                          \
    const weight *input;              /* [gates][cells][features] */                               \
    const weight *recurrent;          /* [gates][cells][outputs] */                                \
    const bias_type *bias;            /* [gates][cells] */                                         \
    const peephole_type *peephole;    /* [gates - 1][cells], none for the cell gate; or NULL */    \
    const weight *projection;         /* [outputs][cells], or NULL */                              \
    const bias_type *projection_bias; /* [outputs], or NULL */

/* The gates. */
enum {
    MG_LSTM_INPUT = 0,
    MG_LSTM_FORGET = 1,
    MG_LSTM_CELL = 2,
    MG_LSTM_OUTPUT = 3
};

/* The body of a kernel without projection, with its arguments: `step` computes the outputs of one
 * step, of the type `value`, from p, the weights w, the input, the state before, and the cell
 * state, which it updates. */
#define MG_LSTM_STEPS(value, step)                                                                 \
    for (int32_t n = 0; n < p->batches; n++) {                                                     \
        value *const state = &output_state[n * p->cells];                                          \
        for (int32_t t = 0; t < p->steps; t++) {                                                   \
            const int32_t row = (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;      \
            value *const to = &output[row * p->cells];                                             \
            step(p, &w, &input[row * p->features], state, &cell_state[n * p->cells], to);          \
            (void)memcpy(state, to, (size_t)p->cells * sizeof(value));                             \
        }                                                                                          \
    }

#endif
