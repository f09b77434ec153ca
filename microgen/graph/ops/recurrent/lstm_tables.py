"""The reference of nn.lstm as TensorFlow Lite Micro computes it: int8 or int16 data, int8 weights
and an int16 cell state. The gates' functions are interpolated in the table of int16 sigmoid and
tanh.

Source: TFLite Micro, micro/kernels/lstm_eval.h (LstmStep), lstm_eval.cc, and lstm_eval_common.cc
(PrepareGateParametersInteger).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.arithmetic.int16 import multiply_reduced
from microgen.graph.ir.graph import Array, Arrays, ArrayType, DType
from microgen.graph.ops.constraints import activation_constraint, scale_constraint16
from microgen.graph.ops.elementwise.broadcast import scale
from microgen.graph.ops.fixed_point_16 import saturate
from microgen.graph.ops.recurrent import lstm_integer, lstm_sequence
from microgen.graph.ops.recurrent.lstm_integer import GateParameters, Scale
from microgen.graph.ops.recurrent.lstm_sequence import Inputs
from microgen.graph.ops.unary import sigmoid
from microgen.graph.ops.unary.sigmoid import SigmoidParameters

DTYPES = (DType.INT8, DType.INT16)
_PRODUCT = 2.0**-30  # the scale of a product of two values of functions
_KEEP = (2**30, -14)  # the scale 2**-15
_ARGUMENT = SigmoidParameters(3, 0)  # of the gates' functions: Q3.12
_FEWEST, _MOST = -30, 2  # powers of two that the cell state's scale may be
_NO_LIMIT = 2**15


@dataclass(frozen=True, slots=True, kw_only=True)
class TableParameters(GateParameters):
    """``take`` scales products of two functions' values that are added to the cell state, and
    ``tanh`` scales the cell state to tanh's argument. The hidden state is the output state."""

    take: Scale
    tanh: SigmoidParameters


def parameters(types: Inputs[ArrayType], cell_clip: float) -> TableParameters:
    """The parameters of types that ``constraint`` accepts."""
    state, cell = types.output_state, types.cell_state
    return TableParameters(
        weight=lstm_integer.gate_scales(types.weight, types.data),
        recurrent=lstm_integer.gate_scales(types.recurrent, state),
        take=_scale_of_products(cell),
        hidden=_scale_of_products(state),
        tanh=_of_cell_state(cell),
        input_zero_point=types.data.zero_point,
        state_zero_point=state.zero_point,
        cell_clip=_stored_clip(cell_clip, cell.scale),
    )


def _scale_of_products(result: ArrayType) -> Scale:
    return quantize_multiplier(_PRODUCT / float(np.float32(result.scale)))


def _of_cell_state(cell: ArrayType) -> SigmoidParameters:
    # Source: TFLite Micro, lstm_eval.cc, Tanh.
    power = sigmoid.power_of_two(cell.scale)
    assert power is not None, "checked"
    # An argument is in steps of 1 / (3 * 2**12): see unary/sigmoid.
    shift = power + 12
    return SigmoidParameters(3 << shift, 0) if shift >= 0 else SigmoidParameters(3, -shift)


def _stored_clip(limit: float, scale: float) -> int:
    # Source: TFLite Micro, lstm_eval_common.cc, CreateLstmCellStateInfo, in double.
    if not limit > 0:
        return _NO_LIMIT
    return int(min(float(np.float32(limit)) / float(np.float32(scale)), 2.0**15 - 1))


def constraint(types: Inputs[ArrayType]) -> str | None:
    """Scales that the fixed point holds, and sums that fit it. Dtypes are checked earlier."""
    states = (("output state", types.output_state), ("cell state", types.cell_state))
    for role, tensor in states:
        if sentence := activation_constraint(role, tensor, (tensor.dtype,)):
            return sentence
    sentence = lstm_integer.gates_constraint(types) or _scales_constraint(types)
    return sentence or lstm_integer.sums_constraint(types)


def _scales_constraint(types: Inputs[ArrayType]) -> str | None:
    power = sigmoid.power_of_two(types.cell_state.scale)
    if power is None or not _FEWEST <= power <= _MOST:
        return (
            f"the cell state's scale is {types.cell_state.scale:g}; a power of two from "
            f"2**{_FEWEST} to 2**{_MOST} is expected"
        )
    if not types.output_state.scale > _PRODUCT / 2:
        return f"the output state's scale is {types.output_state.scale:g}; it must exceed 2**-31"
    if types.data.dtype is DType.INT8:
        return None
    pairs = ((types.weight, types.data), (types.recurrent, types.output_state))
    scales = [scale for pair in pairs for scale in lstm_integer.real_gate_scales(*pair)]
    return scale_constraint16(np.array(scales))


def run(inputs: Inputs[Array], p: TableParameters, *, time_major: bool) -> Arrays:
    """The result of ``lstm_sequence.run``."""
    wide = inputs.each(lambda array: array.astype(np.int64))
    dtype = inputs.data.dtype
    limits = np.iinfo(dtype)

    def step(x: Array, state: Array, cell: Array) -> tuple[Array, Array]:
        *gates, show = _gates(wide, p, x, state)
        cell = _new_cell(p, gates, cell.astype(np.int64))
        hidden = scale(_logistic(show) * _tanh(cell, p.tanh), *p.hidden) + p.state_zero_point
        return np.clip(hidden, limits.min, limits.max).astype(dtype), cell.astype(np.int16)

    return lstm_sequence.run(inputs, time_major, step)


def _gates(w: Inputs[Array], p: TableParameters, x: Array, state: Array) -> list[Array]:
    """The arguments of each gate's function: [batch, cells] in Q3.12."""
    of_input = np.einsum("bi,gci->gbc", x.astype(np.int64) - p.input_zero_point, w.weight)
    of_state = np.einsum("bo,gco->gbc", state.astype(np.int64) - p.state_zero_point, w.recurrent)
    of_input += w.bias[:, np.newaxis]
    # int16 data has int64 sums, which TFLite scales with 16-bit multipliers.
    scaled = multiply_reduced if x.dtype == np.int16 else scale
    return [
        _added(scaled(a, *s), scaled(b, *r))
        for a, b, s, r in zip(of_input, of_state, p.weight, p.recurrent, strict=True)
    ]


def _new_cell(p: TableParameters, gates: Sequence[Array], cell: Array) -> Array:
    take, keep, change = gates
    kept = scale(_logistic(keep) * cell, *_KEEP)
    taken = scale(_logistic(take) * _tanh(change, _ARGUMENT), *p.take)
    return np.asarray(np.clip(_added(kept, taken), -p.cell_clip, p.cell_clip))


def _added(x: Array, y: Array) -> Array:
    """The sum, saturated to int16 before and after the addition."""
    return saturate(saturate(x) + saturate(y))


def _logistic(x: Array) -> Array:
    return sigmoid.sigmoid_of_steps(sigmoid.scaled(x, _ARGUMENT)).astype(np.int64)


def _tanh(x: Array, p: SigmoidParameters) -> Array:
    return sigmoid.tanh_of_steps(sigmoid.scaled(x, p)).astype(np.int64)
