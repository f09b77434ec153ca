"""The float32 reference of nn.lstm. Source: TFLite lstm_eval.cc, LstmStepFloat."""

from __future__ import annotations

import numpy as np

from microgen.ir.graph import Array
from microgen.ops import lstm_inputs, sigmoid, tanh
from microgen.ops.balls import Ball
from microgen.ops.lstm_inputs import Inputs

Clips = tuple[float, float]  # of the cell state, of the projection; 0: none
_ONE = Ball.of(np.ones(()))


def run(
    inputs: Inputs[Ball], clips: Clips, *, time_major: bool, found: Array | None = None
) -> tuple[Ball, ...]:
    """What ``lstm_inputs.run`` gives. Each step is computed in float64 from the float32 states
    that the one before it left.

    ``found``: the output of an implementation, whose every step then reads the output state that
    it has left there, so that errors do not add up over steps.
    """
    left = iter(() if found is None else (None, *_steps(found, time_major)))

    def step(x: Array, state: Array, cell: Array) -> tuple[Array, Array]:
        known = next(left, None)
        before = state if known is None else known
        outputs, cells = _step(inputs, clips, Ball.of(x), Ball.of(before), Ball.of(cell))
        return outputs.packed(), cells.packed()

    packed = inputs.each(Ball.packed)
    return tuple(map(Ball.of, lstm_inputs.run(packed, time_major, step)))


def _steps(rows: Array, time_major: bool) -> Array:
    return rows if time_major else rows.swapaxes(0, 1)


def _step(w: Inputs[Ball], clips: Clips, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
    *inputs, forget, change, output = _sums(w, x, state)
    peephole = [] if w.peephole is None else list(w.peephole)
    if peephole:
        inputs = [s + cell * p for s, p in zip(inputs, peephole[:-2], strict=True)]
        forget = forget + cell * peephole[-2]
    keep = _sigmoid(forget)
    take = _sigmoid(inputs[0]) if inputs else _ONE - keep
    cell = _clipped(keep * cell + take * _tanh(change), clips[0]).stored()
    if peephole:
        output = output + cell * peephole[-1]
    hidden = _sigmoid(output) * _tanh(cell)
    return _projected(w, clips[1], hidden).stored(), cell


def _sums(w: Inputs[Ball], x: Ball, state: Ball) -> list[Ball]:
    """What each gate's function is taken of, without peepholes: [batch, cells] each."""
    own = x.dot(w.weight, "bi,gci->gbc", w.weight.value.shape[2])
    past = state.dot(w.recurrent, "bo,gco->gbc", w.recurrent.value.shape[2])
    return [s + r + b for s, r, b in zip(own, past, w.bias, strict=True)]


def _projected(w: Inputs[Ball], clip: float, hidden: Ball) -> Ball:
    if w.projection is None:
        return hidden
    sums = hidden.dot(w.projection, "bc,oc->bo", hidden.value.shape[1])
    return _clipped(sums if w.projection_bias is None else sums + w.projection_bias, clip)


def _clipped(values: Ball, limit: float) -> Ball:
    return values.clipped(-limit, limit) if limit > 0 else values


def _sigmoid(x: Ball) -> Ball:
    return x.apply(lambda value: 0.5 * (1 + np.tanh(0.5 * value)), sigmoid.ULPS)


def _tanh(x: Ball) -> Ball:
    return x.apply(np.tanh, tanh.ULPS)
