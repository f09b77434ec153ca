"""The int8 reference of nn.lstm: int8 activations and weights, an int16 cell state.

Source: TFLite lstm_eval.cc, EvalInteger8x8_16, and unidirectional_sequence_lstm.cc,
PopulateQuantizedLstmParams8x8_16, as ai-edge-litert 2.3.0 computes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    quantize_multiplier,
    rounding_divide_by_pot,
    scale_of_products,
)
from microgen.graph.ir.graph import Array, Arrays, ArrayType, DType, Quant
from microgen.graph.ops import fixed_point_16
from microgen.graph.ops.constraints import accumulator_constraint, refused
from microgen.graph.ops.elementwise.broadcast import scale
from microgen.graph.ops.fixed_point_16 import saturate
from microgen.graph.ops.recurrent import lstm_sequence
from microgen.graph.ops.recurrent.lstm_sequence import Inputs

Scale = tuple[int, int]  # (multiplier, shift)
GATE = Quant((2.0**-12,), (0,))  # the arguments of the gates' functions: Q3.12
_FEWEST_BITS, _MOST_BITS = 0, 6  # of the cell state's integer part
_LARGEST_LOG_ERROR = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class GateParameters:
    """Fixed-point parameters. Scales of gates are in the order of the gates. The zero points are
    for input and output state. ``cell_clip`` is a stored value."""

    weight: tuple[Scale, ...]
    recurrent: tuple[Scale, ...]
    hidden: Scale  # of products of two functions' values, which become the hidden state
    input_zero_point: int
    state_zero_point: int
    cell_clip: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LstmParameters(GateParameters):
    """Without peepholes ``peephole`` is empty; without a projection ``projection`` is None.

    ``cell_bits`` is the number of integer bits of the cell state. Clips are stored values; 0 means
    none.
    """

    peephole: tuple[Scale, ...]
    projection: Scale | None
    cell_bits: int
    hidden_zero_point: int
    projection_clip: int


def parameters(
    types: Inputs[ArrayType], hidden: Quant, output: ArrayType, clips: tuple[float, float]
) -> LstmParameters:
    """The parameters. ValueError if a scale is too large, or if the cell state's is not a power of
    two."""
    bits = _cell_bits(types.cell_state.scale)
    state = types.output_state
    projection = None
    if types.projection is not None:
        of_hidden = ArrayType((), DType.INT8, hidden)
        projection = quantize_multiplier(scale_of_products(types.projection, of_hidden, state))
    return LstmParameters(
        weight=gate_scales(types.weight, types.data),
        recurrent=gate_scales(types.recurrent, state),
        peephole=_peephole_scales(types.peephole, bits),
        hidden=quantize_multiplier(
            float(np.float32(2.0**-30 / float(np.float32(hidden.scale[0]))))
        ),
        projection=projection,
        cell_bits=bits,
        input_zero_point=types.data.zero_point,
        state_zero_point=state.zero_point,
        hidden_zero_point=hidden.zero_point[0],
        cell_clip=_stored_clip(clips[0], types.cell_state.scale, 2**15 - 1),
        projection_clip=_stored_clip(clips[1], output.scale, 2**7 - 1),
    )


def has_tanh(scale: float) -> bool:
    """Whether LiteRT's tanh is defined for a cell state of that scale."""
    return refused(_cell_bits, scale) is None


def _cell_bits(scale: float) -> int:
    """Integer bits of an int16 with that scale. ValueError unless tanh is defined for it."""
    log = math.log2(scale)
    bits = 15 + round(log)
    if abs(log - round(log)) > _LARGEST_LOG_ERROR or not _FEWEST_BITS <= bits <= _MOST_BITS:
        raise ValueError(
            f"the cell state's scale is {scale:g}; a power of two from 2**{_FEWEST_BITS - 15} to "
            f"2**{_MOST_BITS - 15} is expected"
        )
    return bits


def _gates(weight: ArrayType) -> list[ArrayType]:
    """Each gate's part of a weight, with its own scale."""
    assert weight.quant is not None, "checked"
    shape = weight.shape[1:]
    return [ArrayType(shape, weight.dtype, Quant((s,), (0,))) for s in weight.quant.scale]


def gate_scales(weight: ArrayType, data: ArrayType) -> tuple[Scale, ...]:
    """``real_gate_scales`` in fixed point. ValueError if one is too large."""
    return tuple(quantize_multiplier(scale) for scale in real_gate_scales(weight, data))


def real_gate_scales(weight: ArrayType, data: ArrayType) -> list[float]:
    """The scale of each gate's sums, divided by the scale of the argument of the gate's
    function."""
    gate = ArrayType((), DType.INT16, GATE)
    return [scale_of_products(part, data, gate) for part in _gates(weight)]


def _peephole_scales(peephole: ArrayType | None, cell_bits: int) -> tuple[Scale, ...]:
    """The scales of peephole products: computed in double, then rounded to float32. The module
    names the source.
    """
    if peephole is None:
        return ()
    cell = 2.0 ** (cell_bits - 15)
    scales = [cell * part.scale / GATE.scale[0] for part in _gates(peephole)]
    if max(scales) > 1:
        raise ValueError(
            f"products of the cell state with a peephole have {max(scales):g} times the scale of "
            "the gate; at most 1 is expected"
        )
    return tuple(quantize_multiplier(float(np.float32(scale))) for scale in scales)


def _stored_clip(limit: float, scale: float, most: int) -> int:
    with np.errstate(over="ignore"):
        # C's conversion truncates.
        return int(min(np.float32(limit) / np.float32(scale), np.float32(most)))


def constraint(types: Inputs[ArrayType], hidden: Quant | None, output: ArrayType) -> str | None:
    """Scales that the fixed point holds, and sums within int32. Dtypes are checked earlier."""
    assert hidden is not None, "checked"
    if hidden.scale[0] <= 0:
        return f"the scale of the hidden state is {hidden.scale[0]}; it must be positive"
    if sentence := gates_constraint(types):
        return sentence
    if types.peephole and types.recurrent.shape[2] != types.weight.shape[1]:
        return (
            f"{types.weight.shape[1]} cells with a peephole are projected to "
            f"{types.recurrent.shape[2]} outputs, which TFLite treats as the number of cells; both "
            "must be equal"
        )
    return refused(parameters, types, hidden, output, (0, 0)) or sums_constraint(types)


def gates_constraint(types: Inputs[ArrayType]) -> str | None:
    """Each weight must have a scale for each gate."""
    for weight in (types.weight, types.recurrent, types.peephole):
        count = weight.shape[0] if weight else 0
        if weight and (weight.quant is None or len(weight.quant.scale) != count):
            return f"{weight} must have one scale for each of its {count} gates"
    return None


def sums_constraint(types: Inputs[ArrayType]) -> str | None:
    """Sums over the input and over the output state must fit the accumulator."""
    for weight, data in ((types.weight, types.data), (types.recurrent, types.output_state)):
        # Each limit has a small margin, so that the two can be added.
        scales = np.array(real_gate_scales(weight, data)) * (1 + 2.0**-12)
        sentence = accumulator_constraint(data, weight.shape[2], scales)
        if sentence:
            return f"of a gate: {sentence}"
    return None


def run(inputs: Inputs[Array], p: LstmParameters, *, time_major: bool) -> Arrays:
    """The result of ``lstm_sequence.run``."""
    wide = inputs.each(lambda array: array.astype(np.int64))

    def step(x: Array, state: Array, cell: Array) -> tuple[Array, Array]:
        cell, output_gate = _new_cell(wide, p, x, state, cell)
        return _new_state(wide, p, cell, output_gate).astype(np.int8), cell.astype(np.int16)

    return lstm_sequence.run(inputs, time_major, step)


def _new_cell(
    w: Inputs[Array], p: LstmParameters, x: Array, state: Array, cell: Array
) -> tuple[Array, Array]:
    """The cell state, and the output gate, which depends on it through its peephole."""
    cell = cell.astype(np.int64)
    *inputs, forget, change, output = _sums(w, p, x, state)
    if w.peephole is not None:
        # The input and forget gates see the old cell state, the output gate the new one.
        for i, gate in enumerate(inputs):
            inputs[i] = _peeped(w, p, i, gate, cell)
        forget = _peeped(w, p, len(inputs), forget, cell)
    keep = fixed_point_16.logistic(forget)
    # Without an input gate it is one minus the forget gate, in Q0.15.
    take = fixed_point_16.logistic(inputs[0]) if inputs else 2**15 - 1 - keep
    new = take * fixed_point_16.tanh(change, 3)
    cell = saturate(
        # Q0.15 times the cell state, and Q0.30 in steps of the cell state, 2**(cell_bits - 15).
        rounding_divide_by_pot(keep * cell, 15) + rounding_divide_by_pot(new, 15 + p.cell_bits)
    )
    if p.cell_clip > 0:
        cell = np.clip(cell, -p.cell_clip, p.cell_clip)
    if w.peephole is not None:
        output = _peeped(w, p, len(p.peephole) - 1, output, cell)
    return cell, fixed_point_16.logistic(output)


def _sums(w: Inputs[Array], p: LstmParameters, x: Array, state: Array) -> list[Array]:
    """The arguments of each gate's function, without peepholes: [batch, cells] in Q3.12."""
    of_input = np.einsum("bi,gci->gbc", x.astype(np.int64) - p.input_zero_point, w.weight)
    of_state = np.einsum("bo,gco->gbc", state.astype(np.int64) - p.state_zero_point, w.recurrent)
    # TFLite adds the bias to the sum over the input, before the scaling, and saturates twice.
    of_input += w.bias[:, np.newaxis]
    return [
        saturate(saturate(scale(a, *s)) + scale(b, *r))
        for a, b, s, r in zip(of_input, of_state, p.weight, p.recurrent, strict=True)
    ]


def _peeped(w: Inputs[Array], p: LstmParameters, number: int, gate: Array, cell: Array) -> Array:
    assert w.peephole is not None
    return saturate(gate + scale(cell * w.peephole[number], *p.peephole[number]))


def _new_state(w: Inputs[Array], p: LstmParameters, cell: Array, output_gate: Array) -> Array:
    product = scale(output_gate * fixed_point_16.tanh(cell, p.cell_bits), *p.hidden)
    if w.projection is None or p.projection is None:
        return np.asarray(np.clip(product + p.hidden_zero_point, -128, 127))
    # TFLite subtracts the zero point when it quantizes, and adds it when it reads. The numbers are
    # the same, except for clipped numbers.
    hidden = np.clip(product - p.hidden_zero_point, -128, 127) + p.hidden_zero_point
    sums = hidden @ w.projection.T + (0 if w.projection_bias is None else w.projection_bias)
    state = np.clip(scale(sums, *p.projection) + p.state_zero_point, -128, 127)
    limit = p.projection_clip
    return np.asarray(np.clip(state, -limit, limit) if limit > 0 else state)
