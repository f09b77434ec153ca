"""nn.recurrent: sequences through a simple recurrent layer, a GRU or an LSTM, in one direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball, Exact, Products, total
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shape, Shapes
from microgen.graph.ops.cost import ReferenceCost, products
from microgen.graph.ops.recurrent import recurrent_errors
from microgen.graph.ops.recurrent.recurrent_errors import flat
from microgen.graph.ops.recurrent.recurrent_steps import (
    FORMULAS,
    FUNCTIONS,
    GATES,
    ActivationFormula,
    Off,
    RecurrentInputs,
    never_off,
)


@dataclass(frozen=True, slots=True)
class RecurrentAttrs(Attrs):
    """Inputs: data [steps, batches, features]; weights of the input [gates, cells, features] and of
    the hidden state [gates, cells, cells]; bias [gates, cells]; int32 lengths [batches], the number
    of steps of each sequence, clamped to 0 to ``steps``. Then, unless they are left out: the hidden
    state [batches, cells] before the first step; and of an LSTM the cell state, and weights of the
    cell state [3, cells] (peepholes), for the input, output and forget gates.

    ``kind`` is "rnn" (one gate), "gru" (update, reset, hidden) or "lstm" (input, output, forget,
    cell). ``functions`` are the functions of its formulas: f; f, g; or f, g, h. With
    ``resets_after``, a GRU's reset gate applies to the product of the hidden state, which has a
    bias of its own, the fourth. With ``couples``, an LSTM's forget gate is one minus its input
    gate. ``clip`` limits the magnitudes of the gates' sums. With ``reverse``, each sequence is read
    from its end.

    The output [states, batches, cells] is float32: with ``keeps``, the hidden state of each step, 0
    beyond the end of a sequence; then the last hidden state; then, of an LSTM, the last cell state.
    Both are 0 for a sequence without steps.
    """

    kind: str
    functions: tuple[ActivationFormula, ...]
    clip: float = math.inf
    reverse: bool = False
    keeps: bool = True
    resets_after: bool = False
    couples: bool = False


def infer(attrs: RecurrentAttrs, inputs: Types) -> Shapes:
    """States, batches and cells."""
    if attrs.kind not in GATES:
        raise ValueError(f"the kind is {attrs.kind!r}; one of {', '.join(GATES)} is expected")
    by_role = RecurrentInputs.of(inputs, attrs.kind)
    if any(len(t.shape) != 3 for t in (by_role.data, by_role.weight, by_role.recurrent)):
        raise ValueError(
            f"{by_role.data}, {by_role.weight} and {by_role.recurrent} need 3 dimensions"
        )
    steps, batches, _ = by_role.data.shape
    cells = by_role.recurrent.shape[2]
    for role, tensor, shape in _expected(attrs, by_role, batches, cells):
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"the {role} is {tensor}; {list(shape)} is expected")
    return ((steps * attrs.keeps + _states(attrs), batches, cells),)


def _states(attrs: RecurrentAttrs) -> int:
    return 2 if attrs.kind == "lstm" else 1


def _expected(
    attrs: RecurrentAttrs, by_role: RecurrentInputs[ArrayType], batches: int, cells: int
) -> tuple[tuple[str, ArrayType | None, Shape], ...]:
    """The name, the type and the required shape of each input."""
    gates = GATES[attrs.kind]
    return (
        ("weight of the input", by_role.weight, (gates, cells, by_role.data.shape[2])),
        ("weight of the hidden state", by_role.recurrent, (gates, cells, cells)),
        ("bias", by_role.bias, (gates + attrs.resets_after, cells)),
        ("lengths", by_role.lengths, (batches,)),
        ("hidden state", by_role.hidden, (batches, cells)),
        ("cell state", by_role.cell, (batches, cells)),
        ("peephole", by_role.peephole, (3, cells)),
    )


def check(attrs: RecurrentAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32, with int32 lengths, and known functions with finite numbers."""
    for place, tensor in enumerate((*inputs, *outputs)):
        wanted = DType.INT32 if place == 4 else DType.FLOAT32
        if tensor.dtype is not wanted:
            return f"an operand is {tensor}; {wanted.value} is expected"
    if not attrs.clip >= 0:
        return f"the clip is {attrs.clip}; 0 or more is expected"
    return choices(attrs)


def choices(attrs: RecurrentAttrs) -> str | None:
    """The reason to refuse the functions, or attributes that the kind lacks; None if all are
    right."""
    if (attrs.resets_after and attrs.kind != "gru") or (attrs.couples and attrs.kind != "lstm"):
        return f"a layer of the kind {attrs.kind} has no such gates"
    if len(attrs.functions) != FUNCTIONS[attrs.kind]:
        return f"there are {len(attrs.functions)} functions; {FUNCTIONS[attrs.kind]} are expected"
    for each in attrs.functions:
        if each.name not in FORMULAS or not math.isfinite(each.alpha + each.beta):
            return f"there is no function {each}; it must be one of {', '.join(FORMULAS)}"
    return None


_ONE = Ball.of(np.ones(()))


def summed(parts: Sequence[Products | Ball], added: Sequence[Ball]) -> Ball:
    """Everything, summed in any order."""
    products = [each for each in parts if isinstance(each, Products)]
    return total(products, [*(each for each in parts if isinstance(each, Ball)), *added])


@dataclass(frozen=True, slots=True)
class RecurrentLayer:
    """The attributes and inputs that a step needs. ``off`` is the error that a function's result
    may have in an implementation, in addition to the function's ulps.
    """

    attrs: RecurrentAttrs
    inputs: RecurrentInputs[Ball]
    off: Off = never_off

    def sums(self, gate: int, x: Ball, state: Ball, added: Sequence[Ball] = ()) -> Ball:
        """The sums of a gate: its products with the input and a state, its bias, and ``added``."""
        products = [self.from_input(gate, x), self.from_state(gate, state)]
        return summed(products, [self.inputs.bias[gate], *added])

    def from_input(self, gate: int, x: Ball) -> Products | Ball:
        """The products of a gate's weights with the input, or their sums."""
        return Products(x, self.inputs.weight[gate], "bi,ci->bc", self.inputs.weight.value.shape[2])

    def from_state(self, gate: int, state: Ball) -> Products | Ball:
        """The same with a hidden state."""
        return Products(
            state, self.inputs.recurrent[gate], "bo,co->bc", self.inputs.recurrent.value.shape[2]
        )

    def gate(self, sums: Ball, function: int) -> Ball:
        """The gate's function of sums that are limited first."""
        # As in ONNX Runtime, a clip limits the sums of the gates, but not the cell state.
        return self.function(function, sums.clipped(-self.attrs.clip, self.attrs.clip))

    def function(self, position: int, x: Ball) -> Ball:
        """The layer's function at ``position``, applied to ``x``."""
        value = self.attrs.functions[position](x)
        if isinstance(x, Exact):
            return Exact(value.value)
        return Ball(value.value, value.error + self.off(self.attrs.functions[position], value))

    def step(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        """The hidden state and the cell state after an input [batches, features]."""
        after = {"rnn": self._rnn, "gru": self._gru, "lstm": self._lstm}[self.attrs.kind]
        hidden, cell = after(x, state, cell)
        return hidden.stored(), cell.stored()

    def _rnn(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        return self.gate(self.sums(0, x, state), 0), cell

    def _gru(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        keep, reset = (self.gate(self.sums(gate, x, state), 0) for gate in (0, 1))
        if self.attrs.resets_after:
            old = reset * summed([self.from_state(2, state)], [self.inputs.bias[3]])
            sums = summed([self.from_input(2, x)], [self.inputs.bias[2], old])
        else:
            sums = self.sums(2, x, reset * state)
        return (_ONE - keep) * self.gate(sums, 1) + keep * state, cell

    def at_once(self, x: Ball, states: Ball, cell: Ball) -> tuple[Ball, Ball]:
        """The hidden states after the inputs [steps, batches, features] with the hidden states
        before them, and the last cell state. There are no peepholes."""
        whole = states.value.shape
        if self.attrs.kind != "lstm":
            hidden, _ = self.step(flat(x), flat(states), cell)
            return hidden.moved(lambda each: each.reshape(whole)), cell
        output, cells = self.cells(x, states, cell)
        hidden = output * self.function(2, flat(cells))
        return hidden.stored().moved(lambda each: each.reshape(whole)), cells[-1]

    def cells(self, x: Ball, states: Ball, cell: Ball) -> tuple[Ball, Ball]:
        """The output gates of an LSTM in rows, and the cell states after each step; the arguments
        are those of ``at_once``."""
        whole = states.value.shape
        x, states = flat(x), flat(states)
        sums = [self.sums(gate, x, states) for gate in range(GATES["lstm"])]
        take, output, free, change = map(self.gate, sums, (0, 0, 0, 1))
        keep = _ONE - take if self.attrs.couples else free
        kept, taken = (each.moved(lambda e: e.reshape(whole)) for each in (keep, take * change))
        after: list[Ball] = []
        for step in range(whole[0]):
            cell = (kept[step] * cell + taken[step]).stored()
            after.append(cell)
        return output, Ball.joined(after, np.stack)

    def _lstm(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        def seen(place: int, state_of_cell: Ball) -> list[Ball]:
            weights = self.inputs.peephole
            return [] if weights is None else [weights[place] * state_of_cell]

        take = self.gate(self.sums(0, x, state, seen(0, cell)), 0)
        free = self.gate(self.sums(2, x, state, seen(2, cell)), 0)
        # As in ONNX Runtime, a coupled forget gate is one minus the input gate.
        keep = _ONE - take if self.attrs.couples else free
        change = self.gate(self.sums(3, x, state), 1)
        cell = (keep * cell + take * change).stored()
        output = self.gate(self.sums(1, x, state, seen(1, cell)), 0)
        return output * self.function(2, cell), cell

    @property
    def has_slopes(self) -> bool:
        """Whether ``recurrent_errors`` knows the slopes of the layer's functions."""
        names = [function.name for function in self.attrs.functions]
        is_lstm = self.attrs.kind == "lstm" and not self.attrs.couples
        return is_lstm and names == recurrent_errors.FUNCTIONS

    @property
    def exact(self) -> RecurrentLayer:
        """The layer with inputs that have no errors, without states and peepholes."""
        own = self.inputs
        roles = (own.data, own.weight, own.recurrent, own.bias, own.lengths)
        values: list[Ball] = [Exact(each.value) for each in roles]
        return replace(self, inputs=RecurrentInputs(*values))


def run(
    layer: RecurrentLayer, actual: Array | None = None, expected: Array | None = None
) -> tuple[Ball, Ball, Ball]:
    """All hidden states [steps, batches, cells], the last hidden states and the last cell states
    [batches, cells].

    Each step is computed in float64 from the float32 states that the step before it left.
    ``actual`` has the hidden states that an implementation left. If it is given, each step reads
    them there, so that errors do not add up over steps. ``expected`` has the reference's hidden
    states, if they are known: then all steps may be computed at once (``recurrent_errors``).
    """
    inputs, reverse = layer.inputs, layer.attrs.reverse
    steps, batches, _ = inputs.data.value.shape
    cells = inputs.recurrent.value.shape[2]
    lengths = inputs.lengths.value.astype(np.int64).clip(0, steps)
    every = np.arange(batches)
    state, cell = (_initial(each, lengths, cells) for each in (inputs.hidden, inputs.cell))
    if isinstance(inputs.data, Exact):
        state, cell = Exact(state.value), Exact(cell.value)
    order = slice(None, None, -1 if reverse else 1)
    if steps and (lengths == steps).all() and inputs.peephole is None:
        found = _at_once(layer, inputs.data[order], (state, cell), actual, expected, order)
        if found:
            return found[0][order], found[0][-1], found[1]
    rows = _zeros((steps, batches, cells))
    last = state
    for step in range(int(lengths.max(initial=0))):
        active = step < lengths
        # Place 0 of a sequence that has ended is computed in vain, because numpy needs some index.
        place = np.where(active, lengths - 1 - step if reverse else step, 0)
        after, cell_after = layer.step(inputs.data[place, every], state, cell)
        last, cell = (_where(active, *pair) for pair in ((after, last), (cell_after, cell)))
        for whole, part in ((rows.value, after.value), (rows.error, after.error)):
            whole[place[active], active] = part[active]
        known = after if actual is None else Ball.of(actual[place, every])
        state = _where(active, known, state)
    return rows, last, cell


def _at_once(
    layer: RecurrentLayer,
    data: Ball,
    states: tuple[Ball, Ball],
    actual: Array | None,
    expected: Array | None,
    order: slice,
) -> tuple[Ball, Ball] | None:
    """The hidden states after all steps of ``data``, and the last cell state, if it is possible to
    know them at once. ``states`` are those before the first step."""
    state, cell = states
    if actual is not None:
        # No step waits for the hidden state of the step before it.
        known = Ball.of(actual[: len(data.value)][order][:-1])
        before = Ball.joined([state[None], known], np.concatenate)
        return layer.at_once(data, before, cell)
    if expected is not None and layer.has_slopes:
        values = expected[: len(data.value)][order].astype(np.float64)
        return recurrent_errors.all_steps(layer, layer.exact, data, state, cell, values)
    return None


def _zeros(shape: tuple[int, ...]) -> Ball:
    return Ball(np.zeros(shape), np.zeros(shape))


def _initial(initial: Ball | None, lengths: Array, cells: int) -> Ball:
    """The state before the first step; 0 for sequences without steps."""
    zeros = _zeros((len(lengths), cells))
    return zeros if initial is None else _where(lengths > 0, initial, zeros)


def _where(chosen: Array, one: Ball, other: Ball) -> Ball:
    """The rows of one array where chosen, otherwise the rows of the other."""
    column = chosen[:, None]
    if isinstance(one, Exact) and isinstance(other, Exact):
        return Exact(np.where(column, one.value, other.value))
    return Ball(np.where(column, one.value, other.value), np.where(column, one.error, other.error))


def reference(attrs: RecurrentAttrs, operands: Operands) -> Arrays:
    """The states, each rounded to float32."""
    inputs = tuple(Exact(np.asarray(each, np.float64)) for each in operands.inputs)
    outputs = _balls(attrs, inputs, None)
    return (floats.rounded(outputs.value),)


def _balls(
    attrs: RecurrentAttrs,
    inputs: Sequence[Ball],
    actual: Array | None,
    off: Off = never_off,
    expected: Array | None = None,
) -> Ball:
    layer = RecurrentLayer(attrs, RecurrentInputs.of(inputs, attrs.kind), off)
    return states_of(layer, actual, expected)


def states_of(layer: RecurrentLayer, actual: Array | None, expected: Array | None = None) -> Ball:
    """The output of a layer. ``actual`` is the output of an implementation, ``expected`` that of
    the reference, if they are known."""
    attrs = layer.attrs
    with np.errstate(all="ignore"):
        known = (actual, expected) if attrs.keeps else (None, None)
        rows, last, cell = run(layer, *known)
    states = [each[None] for each in (last, cell)[: _states(attrs)]]
    return Ball.joined([rows, *states] if attrs.keeps else states, np.concatenate)


def _bound(attrs: RecurrentAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    expected = inexact.expected[0]
    return (_balls(attrs, bounds.inputs(inexact), inexact.found[0], expected=expected),)


def farther(attrs: RecurrentAttrs, inexact: Inexact, off: Off) -> Array:
    """The error that states may have in addition to the bound, in an implementation whose functions
    have the errors ``off``. These errors are propagated through products, cell states and steps to
    the result; the bound's own errors are subtracted.
    """
    inputs = bounds.inputs(inexact)
    found, expected = inexact.found[0], inexact.expected[0]
    more, own = (_balls(attrs, inputs, found, each, expected).error for each in (off, never_off))
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(more), more - own, more)


def cost(attrs: RecurrentAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """Each step of each sequence multiplies all weights, in four sums."""
    by_role = RecurrentInputs.of(inputs, attrs.kind)
    steps, batches, _ = by_role.data.shape
    weights = by_role.weight.size + by_role.recurrent.size
    every = (*outputs, ArrayType((steps, batches, outputs[0].shape[2]), DType.FLOAT32))
    return products(inputs, every, 4 * steps * batches * weights, calls=40 * steps)


def words(_word: str, attrs: RecurrentAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return (f"nn_{attrs.kind}",)


OP = OpDefinition(
    "nn.recurrent",
    RecurrentAttrs,
    infer,
    check,
    reference,
    words,
    cost=cost,
    bound=bounds.balls(_bound),
)
