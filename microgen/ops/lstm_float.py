"""The float32 reference of nn.lstm. Source: TFLite lstm_eval.cc, LstmStepFloat."""

from __future__ import annotations

import numpy as np

from microgen.ir.graph import Array
from microgen.ops import lstm_inputs
from microgen.ops.lstm_inputs import Inputs

Clips = tuple[float, float]  # of the cell state, of the projection; 0: none


def run(inputs: Inputs[Array], clips: Clips, *, time_major: bool) -> tuple[Array, ...]:
    """What ``lstm_inputs.run`` gives. Each step is computed in float64 from the float32 states
    that the one before it left."""
    wide = inputs.each(lambda array: array.astype(np.float64))

    def step(x: Array, state: Array, cell: Array) -> tuple[Array, Array]:
        return _step(wide, clips, x, state, cell)

    return lstm_inputs.run(inputs, time_major, step)


def _step(
    w: Inputs[Array], clips: Clips, x: Array, state: Array, cell: Array
) -> tuple[Array, Array]:
    sums = _sums(w, x.astype(np.float64), state.astype(np.float64))
    cell = cell.astype(np.float64)
    *inputs, forget, change, output = sums
    if w.peephole is not None:
        *peephole_in, peephole_forget, _ = w.peephole
        inputs = [s + cell * p for s, p in zip(inputs, peephole_in, strict=True)]
        forget = forget + cell * peephole_forget
    keep = _sigmoid(forget)
    take = _sigmoid(inputs[0]) if inputs else 1 - keep
    cell = _clipped(keep * cell + take * np.tanh(change), clips[0]).astype(np.float32)
    if w.peephole is not None:
        output = output + cell * w.peephole[-1]
    hidden = _sigmoid(output) * np.tanh(cell.astype(np.float64))
    return _projected(w, clips[1], hidden).astype(np.float32), cell


def _sums(w: Inputs[Array], x: Array, state: Array) -> Array:
    """What each gate's function is taken of, without peepholes: [gates, batch, cells]."""
    sums: Array = np.einsum("bi,gci->gbc", x, w.weight)
    sums += np.einsum("bo,gco->gbc", state, w.recurrent) + w.bias[:, np.newaxis]
    return sums


def _projected(w: Inputs[Array], clip: float, hidden: Array) -> Array:
    if w.projection is None:
        return hidden
    bias = 0.0 if w.projection_bias is None else w.projection_bias
    return _clipped(hidden @ w.projection.T + bias, clip)


def _clipped(values: Array, limit: float) -> Array:
    return np.clip(values, -limit, limit) if limit > 0 else values


def _sigmoid(x: Array) -> Array:
    half: Array = 0.5 * (1 + np.tanh(0.5 * x))
    return half
