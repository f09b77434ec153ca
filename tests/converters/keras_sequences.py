"""Networks of Keras for sequences: embeddings, masks, recurrent layers and attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.converters.keras_layers import Maker, joined, sequential

WORDS = 25


def embeddings() -> Mapping[str, Maker]:
    """Embeddings of words and of positions, and layers that know which words are padding."""
    import keras
    from keras import layers as kl

    def words(*layers: Callable[[], Any], mask: bool = False) -> Maker:
        first = [lambda: kl.Embedding(WORDS, 6, mask_zero=mask)]
        return sequential((8,), *first, *layers, dtype="int32")

    def positioned(batch: int | None) -> Any:
        given = keras.Input((8,), batch_size=batch, dtype="int32")
        places = kl.Embedding(8, 6)(keras.ops.arange(8))
        x = kl.Embedding(WORDS, 6)(given) + places
        return keras.Model(given, kl.Dense(3)(kl.GlobalMaxPooling1D()(x)))

    return {
        "embedding": words(kl.Flatten, lambda: kl.Dense(3)),
        "embedding_average": words(kl.GlobalAveragePooling1D, lambda: kl.Dense(3), mask=True),
        "embedding_conv": words(lambda: kl.Conv1D(5, 3, activation="relu"), kl.GlobalMaxPooling1D),
        "embedding_positions": positioned,
        "embedding_lstm": words(lambda: kl.LSTM(5), lambda: kl.Dense(1, activation="sigmoid")),
        "embedding_lstm_masked": words(lambda: kl.LSTM(5), mask=True),
        "masking_average": sequential((6, 3), kl.Masking, kl.GlobalAveragePooling1D),
        "masking_lstm": sequential((6, 3), kl.Masking, lambda: kl.LSTM(5), lambda: kl.Dense(2)),
        "masking_gru": sequential(
            (6, 3), kl.Masking, lambda: kl.GRU(5, return_sequences=True), lambda: kl.Dense(2)
        ),
    }


def recurrent() -> Mapping[str, Maker]:
    """Recurrent layers, alone and in networks."""
    return {**_cells(), **_directions(), **_with_recurrence()}


def _of(*layers: Callable[[], Any]) -> Maker:
    return sequential((7, 4), *layers)


def _all_steps(make: Callable[..., Any], units: int, **options: Any) -> Callable[[], Any]:
    return lambda: make(units, return_sequences=True, **options)


def _cells() -> Mapping[str, Maker]:
    from keras import layers as kl

    return {
        "lstm": _of(lambda: kl.LSTM(6), lambda: kl.Dense(3)),
        "lstm_sequences": _of(_all_steps(kl.LSTM, 6), lambda: kl.Dense(3)),
        "lstm_stacked": _of(_all_steps(kl.LSTM, 5), lambda: kl.LSTM(4), lambda: kl.Dense(2)),
        "lstm_unrolled": _of(lambda: kl.LSTM(4, unroll=True)),
        "lstm_relu": _of(lambda: kl.LSTM(4, activation="relu")),
        "lstm_states": joined((7, 4), by=lambda x: kl.LSTM(4, return_state=True)(x)),
        "gru": _of(lambda: kl.GRU(6), lambda: kl.Dense(3)),
        "gru_sequences": _of(_all_steps(kl.GRU, 6)),
        "gru_stacked": _of(_all_steps(kl.GRU, 5), lambda: kl.GRU(4)),
        "gru_reset_before": _of(lambda: kl.GRU(6, reset_after=False)),
        "simple_rnn": _of(lambda: kl.SimpleRNN(6), lambda: kl.Dense(3)),
        "simple_rnn_stacked": _of(_all_steps(kl.SimpleRNN, 6), lambda: kl.SimpleRNN(4)),
        "rnn_of_cells": _of(lambda: kl.RNN([kl.LSTMCell(4), kl.GRUCell(3)])),
    }


def _directions() -> Mapping[str, Maker]:
    from keras import layers as kl

    return {
        "lstm_backwards": _of(lambda: kl.LSTM(5, go_backwards=True)),
        "lstm_bidirectional": _of(
            lambda: kl.Bidirectional(kl.LSTM(4, return_sequences=True)), lambda: kl.Dense(2)
        ),
        "lstm_bidirectional_last": _of(lambda: kl.Bidirectional(kl.LSTM(4), merge_mode="sum")),
        "gru_backwards": _of(_all_steps(kl.GRU, 5, go_backwards=True)),
        "gru_bidirectional": _of(lambda: kl.Bidirectional(kl.GRU(4)), lambda: kl.Dense(2)),
    }


def _with_recurrence() -> Mapping[str, Maker]:
    from keras import layers as kl

    return {
        "time_distributed": sequential(
            (4, 6, 3),
            lambda: kl.TimeDistributed(kl.Conv1D(4, 3, activation="relu")),
            lambda: kl.TimeDistributed(kl.GlobalMaxPooling1D()),
            lambda: kl.TimeDistributed(kl.Dense(3)),
        ),
        "conv_lstm": sequential((3, 6, 2), lambda: kl.ConvLSTM1D(3, 3, padding="same")),
        "sequence_to_sequence": _of(
            lambda: kl.LSTM(5), lambda: kl.RepeatVector(4), _all_steps(kl.LSTM, 5), _each_step
        ),
        "encoder_decoder": joined((6, 3), (4, 3), by=_encoder_decoder),
        "conv_lstm_network": sequential(
            (16, 3),
            lambda: kl.Conv1D(6, 3, activation="relu"),
            lambda: kl.MaxPooling1D(2),
            lambda: kl.LSTM(5),
            lambda: kl.Dense(2, activation="softmax"),
        ),
    }


def _each_step() -> Any:
    from keras import layers as kl

    return kl.TimeDistributed(kl.Dense(2))


def _encoder_decoder(source: Any, target: Any) -> Any:
    from keras import layers as kl

    _, *states = kl.LSTM(4, return_state=True)(source)
    return kl.Dense(3)(kl.LSTM(4, return_sequences=True)(target, initial_state=states))


def attention() -> Mapping[str, Maker]:
    """Attention, and encoders of it."""
    from keras import layers as kl

    def heads(x: Any, y: Any) -> Any:
        return kl.MultiHeadAttention(2, 4)(x, y)

    def causal(x: Any) -> Any:
        return kl.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)

    return {
        "attention": joined((5, 4), (6, 4), by=lambda x, y: kl.Attention()([x, y])),
        "attention_scaled": joined(
            (5, 4), by=lambda x: kl.Attention(use_scale=True, score_mode="concat")([x, x])
        ),
        "attention_additive": joined(
            (5, 4), (6, 4), by=lambda x, y: kl.AdditiveAttention()([x, y])
        ),
        "multi_head_attention": joined((5, 8), (6, 8), by=heads),
        "multi_head_attention_causal": joined((5, 6), by=causal),
        "group_query_attention": joined((5, 8), by=lambda x: kl.GroupQueryAttention(4, 4, 2)(x, x)),
        "attention_pool": joined((7, 4), by=_attention_pool),
        "transformer_encoder": joined((6, 8), by=_encoder),
        "transformer_text": sequential(
            (8,),
            lambda: kl.Embedding(WORDS, 8),
            lambda: _encoder,
            kl.GlobalAveragePooling1D,
            lambda: kl.Dense(3, activation="softmax"),
            dtype="int32",
        ),
    }


def _attention_pool(x: Any) -> Any:
    """Steps weighed by a softmax over time, as after recurrent layers."""
    from keras import layers as kl

    weights = kl.Softmax(axis=1)(
        kl.Dense(1, activation="tanh")(kl.GRU(5, return_sequences=True)(x))
    )
    return kl.Flatten()(kl.Dot(axes=1)([weights, x]))


def _encoder(x: Any) -> Any:
    from keras import layers as kl

    width = x.shape[-1]
    x = kl.LayerNormalization()(x + kl.MultiHeadAttention(2, 4, dropout=0.1)(x, x))
    more = kl.Dense(width)(kl.Dense(2 * width, activation="gelu")(x))
    return kl.LayerNormalization()(x + more)
