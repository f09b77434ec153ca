/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters, constants and states of recurrent_f32.h, whose vectors need them, too. */
#ifndef MICROGEN_RECURRENT_F32_TYPES_H
#define MICROGEN_RECURRENT_F32_TYPES_H

#include <stddef.h>

#include "microgen/inline.h"

/* The parameters that hybrid layers have, too: those of sequences, and those of activations. */
#define MG_RECURRENT_SEQUENCES                                                                     \
    int32_t steps;                                                                                 \
    int32_t batches;                                                                               \
    int32_t features;     /* of the input */                                                       \
    int32_t cells;        /* at least 1 */                                                         \
    int32_t keeps;        /* 1: the output has the hidden states of all steps; 0: the last one */  \
    int32_t reverse;      /* 1: sequences are read from their ends */                              \
    int32_t resets_after; /* GRU: 1: the reset gate applies to the product of the hidden state */
#define MG_RECURRENT_ACTIVATIONS                                                                   \
    int32_t function[3]; /* MG_RECURRENT_* */                                                      \
    float alpha[3];                                                                                \
    float beta[3];

typedef struct {
    MG_RECURRENT_SEQUENCES
    int32_t couples; /* LSTM: 1: the forget gate is one minus the input gate */
    float clip;      /* the largest magnitude of a gate's sum; may be infinite */
    MG_RECURRENT_ACTIVATIONS
} mg_recurrent_f32_params;

/* The model's constants, with `gates` 1, 3 or 4. */
typedef struct {
    const float *input;     /* [gates][cells][features] */
    const float *recurrent; /* [gates][cells][cells] */
    const float *bias;      /* [gates][cells]; one row more if a GRU resets_after */
    const float *peephole;  /* LSTM: [3][cells], of the input, output and forget gates; or NULL */
} mg_recurrent_f32_weights;

/* One sequence while it is computed. */
typedef struct {
    float *state;   /* [cells], the hidden state */
    float *cell;    /* LSTM: [cells] */
    float *scratch; /* [cells]; of a GRU [2][cells] */
} mg_recurrent_f32_states;

#endif
