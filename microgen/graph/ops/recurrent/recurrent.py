"""nn.recurrent: sequences through a simple recurrent layer, a GRU or an LSTM, in one direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shape, Shapes
from microgen.graph.ops.cost import ReferenceCost, products
from microgen.graph.ops.recurrent.recurrent_steps import (
    FORMULAS,
    FUNCTIONS,
    GATES,
    ActivationFormula,
    Off,
    RecurrentInputs,
    RecurrentLayer,
    never_off,
    run,
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
    found = RecurrentInputs.of(inputs, attrs.kind)
    if any(len(t.shape) != 3 for t in (found.data, found.weight, found.recurrent)):
        raise ValueError(f"{found.data}, {found.weight} and {found.recurrent} need 3 dimensions")
    steps, batches, _ = found.data.shape
    cells = found.recurrent.shape[2]
    for role, tensor, shape in _expected(attrs, found, batches, cells):
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"the {role} is {tensor}; {list(shape)} is expected")
    return ((steps * attrs.keeps + _states(attrs), batches, cells),)


def _states(attrs: RecurrentAttrs) -> int:
    return 2 if attrs.kind == "lstm" else 1


def _expected(
    attrs: RecurrentAttrs, found: RecurrentInputs[ArrayType], batches: int, cells: int
) -> tuple[tuple[str, ArrayType | None, Shape], ...]:
    """The name, the type and the required shape of each input."""
    gates = GATES[attrs.kind]
    return (
        ("weight of the input", found.weight, (gates, cells, found.data.shape[2])),
        ("weight of the hidden state", found.recurrent, (gates, cells, cells)),
        ("bias", found.bias, (gates + attrs.resets_after, cells)),
        ("lengths", found.lengths, (batches,)),
        ("hidden state", found.hidden, (batches, cells)),
        ("cell state", found.cell, (batches, cells)),
        ("peephole", found.peephole, (3, cells)),
    )


def check(attrs: RecurrentAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32, with int32 lengths, and known functions with finite numbers."""
    for place, tensor in enumerate((*inputs, *outputs)):
        wanted = DType.INT32 if place == 4 else DType.FLOAT32
        if tensor.dtype is not wanted:
            return f"an operand is {tensor}; {wanted.value} is expected"
    if not attrs.clip >= 0:
        return f"the clip is {attrs.clip}; 0 or more is expected"
    return _choices(attrs)


def _choices(attrs: RecurrentAttrs) -> str | None:
    """The attributes that only some kinds have, and the functions."""
    if (attrs.resets_after and attrs.kind != "gru") or (attrs.couples and attrs.kind != "lstm"):
        return f"a layer of the kind {attrs.kind} has no such gates"
    if len(attrs.functions) != FUNCTIONS[attrs.kind]:
        return f"there are {len(attrs.functions)} functions; {FUNCTIONS[attrs.kind]} are expected"
    for each in attrs.functions:
        if each.name not in FORMULAS or not math.isfinite(each.alpha + each.beta):
            return f"there is no function {each}; it must be one of {', '.join(FORMULAS)}"
    return None


def reference(attrs: RecurrentAttrs, operands: Operands) -> Arrays:
    """The states, each rounded to float32."""
    found = _balls(attrs, tuple(map(Ball.of, operands.inputs)), None)
    return (floats.rounded(found.value),)


def _balls(
    attrs: RecurrentAttrs, inputs: Sequence[Ball], found: Array | None, off: Off = never_off
) -> Ball:
    given = RecurrentInputs.of(inputs, attrs.kind)
    layer = RecurrentLayer(
        attrs.kind,
        attrs.functions,
        attrs.clip,
        attrs.resets_after,
        attrs.couples,
        given.weight,
        given.recurrent,
        given.bias,
        given.peephole,
        off,
    )
    known = found if attrs.keeps else None
    with np.errstate(all="ignore"):
        rows, last, cell = run(layer, given, reverse=attrs.reverse, found=known)
    states = [each[None] for each in (last, cell)[: _states(attrs)]]
    return Ball.joined([rows, *states] if attrs.keeps else states, np.concatenate)


def _bound(attrs: RecurrentAttrs, given: Inexact) -> tuple[Ball, ...]:
    return (_balls(attrs, bounds.inputs(given), given.found[0]),)


def farther(attrs: RecurrentAttrs, given: Inexact, off: Off) -> Array:
    """The error that states may have in addition to the bound, in an implementation whose functions
    have the errors ``off``. These errors are propagated through products, cell states and steps to
    the result; the bound's own errors are subtracted.
    """
    inputs = bounds.inputs(given)
    more, own = (_balls(attrs, inputs, given.found[0], each).error for each in (off, never_off))
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(more), more - own, more)


def cost(attrs: RecurrentAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """Each step of each sequence multiplies all weights, in four sums."""
    found = RecurrentInputs.of(inputs, attrs.kind)
    steps, batches, _ = found.data.shape
    weights = found.weight.size + found.recurrent.size
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
