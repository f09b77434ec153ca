"""nn.recurrent_hybrid: float32 sequences through a recurrent layer with int8 weights, which
quantizes each step's input and hidden state while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, DType, Types
from microgen.graph.ops import bounds, floats, hybrid
from microgen.graph.ops.balls import LEAST, Ball, Products, gamma
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shape, Shapes
from microgen.graph.ops.constraints import weight_constraint
from microgen.graph.ops.cost import ReferenceCost, products
from microgen.graph.ops.recurrent import recurrent
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs, RecurrentLayer
from microgen.graph.ops.recurrent.recurrent_steps import GATES, Off, RecurrentInputs, never_off

_Quantized = tuple[Array, np.float32, Array]  # see ``hybrid.quantized_ball``
_STATES = {"rnn": 1, "gru": 1, "lstm": 2}
_ROUNDINGS = 3  # of a sum, of the product of two scales, and of the product of both


@dataclass(frozen=True, slots=True)
class RecurrentHybridAttrs(RecurrentAttrs):
    """Inputs: data [steps, batches, features]; weights of the input [gates * cells, features] and
    of the hidden state [gates * cells, cells], each float32 or int8; bias [gates, cells]. Then,
    unless they are left out: the hidden state [batches, cells] before the first step, and the cell
    state of an LSTM.

    The other attributes and the output are those of nn.recurrent, without ``couples`` and ``clip``.
    A row that is multiplied by int8 weights is quantized first, as in nn.dense_hybrid, with a zero
    point if ``asymmetric``: each batch of a step's input; of the hidden state; and, in a GRU that
    does not ``resets_after``, of the product of the hidden state and the reset gate.
    """

    asymmetric: bool = True


def infer(attrs: RecurrentHybridAttrs, inputs: Types) -> Shapes:
    """States, batches and cells."""
    gates, most = GATES.get(attrs.kind), 4 + _STATES.get(attrs.kind, 0)
    if gates is None or not 4 <= len(inputs) <= most:
        raise ValueError(f"the kind is {attrs.kind!r} with {len(inputs)} inputs")
    data, weight, own, bias, *states = inputs
    if len(data.shape) != 3 or len(own.shape) != 2:
        raise ValueError(f"{data} and {own} need 3 and 2 dimensions")
    (steps, batches, features), cells = data.shape, own.shape[1]
    wanted: list[tuple[str, ArrayType, Shape]] = [
        ("weight of the input", weight, (gates * cells, features)),
        ("weight of the hidden state", own, (gates * cells, cells)),
        ("bias", bias, (gates + attrs.resets_after, cells)),
        *(("state", each, (batches, cells)) for each in states),
    ]
    for role, tensor, shape in wanted:
        if tensor.shape != shape:
            raise ValueError(f"the {role} is {tensor}; {list(shape)} is expected")
    return ((steps * attrs.keeps + _STATES[attrs.kind], batches, cells),)


def check(attrs: RecurrentHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32, except for int8 weights, symmetric and per tensor or per row. Known functions with
    finite numbers. Sums of products fit int32."""
    data, weight, own, *rest = inputs
    for tensor in (data, *rest, *outputs):
        if tensor.dtype is not DType.FLOAT32:
            return f"an operand is {tensor}; float32 is expected"
    for each in (weight, own):
        if each.dtype is DType.FLOAT32:
            continue
        if why := weight_constraint(each, 0):
            return why
        if (bound := each.shape[1] * 255 * 128) >= 2**31:
            return f"sums may reach {bound}; int32 holds {2**31 - 1}"
    if attrs.couples or np.isfinite(attrs.clip):
        return "an LSTM that couples gates, or a clip, is not computed with int8 weights"
    return recurrent.choices(attrs)


@dataclass(frozen=True, slots=True)
class _HybridLayer(RecurrentLayer):
    """``scales`` are those of the rows of the input's weights and the hidden state's, [gates,
    cells], None if the weights are float32."""

    scales: tuple[Array | None, Array | None] = (None, None)
    asymmetric: bool = True
    # The rows that were quantized last, because all gates of a step multiply the same ones.
    last: list[tuple[Ball, list[_Quantized]]] = field(default_factory=list)

    def from_input(self, gate: int, x: Ball) -> Products | Ball:
        if self.scales[0] is None:
            return RecurrentLayer.from_input(self, gate, x)
        return self._scaled(self.inputs.weight.value[gate], self.scales[0][gate], x)

    def from_state(self, gate: int, state: Ball) -> Products | Ball:
        if self.scales[1] is None:
            return RecurrentLayer.from_state(self, gate, state)
        return self._scaled(self.inputs.recurrent.value[gate], self.scales[1][gate], state)

    def _scaled(self, weight: Array, scales: Array, rows: Ball) -> Ball:
        """Sums [batches, cells] of the products of an int8 weight [cells, n] with quantized
        rows."""
        found = [_sums(weight, scales, row) for row in self._quantized(rows)]
        return Ball.joined(found, np.stack)

    def _quantized(self, rows: Ball) -> list[_Quantized]:
        for before, known in self.last:
            if before is rows:
                return known
        made = [hybrid.quantized_ball(row, asymmetric=self.asymmetric) for row in rows]
        self.last[:] = [*self.last[-1:], (rows, made)]
        return made


def _sums(weight: Array, scales: Array, row: _Quantized) -> Ball:
    integers, scale, errors = row
    value = (weight @ integers) * (np.float64(scale) * scales)
    error = (np.abs(weight) @ errors) * scales
    largest = np.abs(value) + error
    return Ball(value, error + gamma(_ROUNDINGS) * largest + LEAST)


def _balls(
    attrs: RecurrentHybridAttrs,
    operands: Operands,
    given: Sequence[Ball],
    actual: Array | None,
    off: Off = never_off,
) -> Ball:
    data, weight, own, bias, *states = given
    gates, cells = GATES[attrs.kind], own.value.shape[1]
    steps, batches, _ = data.value.shape
    lengths = Ball.of(np.full(batches, steps))
    shaped = [each.moved(lambda a: a.reshape(gates, cells, -1)) for each in (weight, own)]
    inputs = RecurrentInputs.of([data, *shaped, bias, lengths, *states], attrs.kind)
    one, other = (_scales(kind, gates) for kind in operands.input_types[1:3])
    layer = _HybridLayer(attrs, inputs, off, (one, other), attrs.asymmetric)
    return recurrent.states_of(layer, actual)


def _scales(weight: ArrayType, gates: int) -> Array | None:
    if weight.dtype is DType.FLOAT32:
        return None
    scales = hybrid.scales(weight).astype(np.float64)
    return np.broadcast_to(scales, weight.shape[:1]).reshape(gates, -1)


def reference(attrs: RecurrentHybridAttrs, operands: Operands) -> Arrays:
    """The states, each rounded to float32."""
    states = _balls(attrs, operands, [Ball.of(each) for each in operands.inputs], None)
    return (floats.rounded(states.value),)


def _bound(attrs: RecurrentHybridAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    return (_balls(attrs, inexact.operands, bounds.inputs(inexact), inexact.found[0]),)


def farther(attrs: RecurrentHybridAttrs, inexact: Inexact, off: Off) -> Array:
    """``recurrent.farther`` for this op."""
    given = bounds.inputs(inexact)
    more, own = (
        _balls(attrs, inexact.operands, given, inexact.found[0], each).error
        for each in (off, never_off)
    )
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(more), more - own, more)


def cost(_attrs: RecurrentHybridAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """Each step of each sequence multiplies all weights."""
    data, weight, own, *_ = inputs
    steps, batches, _ = data.shape
    every = (*outputs, ArrayType((steps, batches, outputs[0].shape[2]), DType.FLOAT32))
    count = 4 * steps * batches * (weight.size + own.size)
    return products(inputs, every, count, calls=160 * steps)


def words(_word: str, attrs: RecurrentHybridAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return (f"nn_{attrs.kind}_hybrid",)


OP = OpDefinition(
    "nn.recurrent_hybrid",
    RecurrentHybridAttrs,
    infer,
    check,
    reference,
    words,
    cost=cost,
    bound=replace(
        bounds.balls(_bound), rule="each step's rounding, ulps and integers, followed to the end"
    ),
)
