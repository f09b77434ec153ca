"""Evaluates a graph together with an implementation of it: computes each node's expected value for
the implementation's own inputs, and the allowed distance from it.

Values known from the implementation replace the reference's own values, so that errors do not add
up from layer to layer. Nodes whose outputs are not known (fused into others, views, inside a part
that an external generator compiled) are judged together with the next node whose output is known:
both are computed from the implementation's known values, and the bounds of the first node are
passed on to the second. The allowed difference of stored integers is not passed on, because a
quantization step of a tensor that the implementation never had says nothing about the
implementation. This difference is added once, to the bound of the next integers that are known.

An implementation may lack channels of a tensor that have no influence. In this module these
channels have the reference's values. If they had influence, the next known layer would differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Graph, Node
from microgen.graph.ir.interpreter import initial_state
from microgen.graph.ops.balls import UNIT
from microgen.graph.ops.base import Inexact, OpDefinition, Operands
from microgen.graph.ops.bounds import has_infinity

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class Leeway:
    """The distance that an implementation may have from the reference in addition to the op's
    bound."""

    more: Array | float = 0.0  # one number, or one for each element
    # The elements, bool, that the implementation defines in another way than the reference; None if
    # there are none.
    departs: Array | None = None
    why: str = ""  # the reason for these


Slack = Callable[[Node, Inexact], Leeway]


class Partly(Protocol):
    """The part of a tensor that an implementation has, if it does not have the tensor unchanged."""

    def filled(self, left: Array, whole: Array) -> Array:
        """The whole tensor: the implementation's elements are from ``left``, all others from
        ``whole``.
        """


@dataclass(slots=True)
class Kept:
    """Variables between two inferences: their values and the bounds of their errors."""

    values: dict[str, Array]
    errors: dict[str, Array] = field(default_factory=dict)

    @staticmethod
    def at_first(graph: Graph) -> Kept:
        """The variables of ``graph`` as the first inference reads them, with no errors."""
        return Kept(initial_state(graph))


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected value of a tensor, and its distance from the implementation's."""

    node: Node
    tensor: str
    values: Array  # of the reference, for the implementation's inputs
    bound: Array  # float64, infinite if any value is possible
    rules: tuple[str, ...]  # of the ops since the last known tensor
    found: Array | None  # the implementation's value, None if it is not known
    # The reason if some elements may have any value because the implementation defines them in
    # another way.
    why: str = ""
    name: str = ""  # the implementation's name of the tensor, if that is known to be another one

    @property
    def departures(self) -> int:
        """The number of elements that differ because the implementation defines them in another
        way."""
        return self.unlimited if self.why else 0

    @property
    def unlimited(self) -> int:
        """The number of elements that differ, and may have any value."""
        if self.found is None or not np.isinf(self.bound).any():
            return 0
        differs = distance(self.found, self.values) > 0
        return int(np.count_nonzero(differs & np.isinf(self.bound)))


def no_slack(_node: Node, _inexact: Inexact) -> Leeway:
    """The slack of an implementation whose errors are within the bounds of ops."""
    return Leeway()


def walk(
    graph: Graph,
    inputs: Mapping[str, Array],
    ops: Mapping[str, OpDefinition],
    actual: Mapping[str, Array],
    kept: Kept | None = None,
    off: Mapping[str, Array] = MappingProxyType({}),
    lacking: Mapping[str, Partly] = MappingProxyType({}),
    slack: Slack = no_slack,
) -> Iterator[Expected]:
    """Every tensor that nodes compute or update, in order.

    ``inputs`` has one array per graph input. ``actual`` has the known tensors of the
    implementation, with their shapes and dtypes. ``kept`` is read and updated; without it, this is
    the first inference. ``off``, float64, are the bounds of the inputs' errors. ``lacking`` has the
    known tensors that the implementation has without some channels, or in another layout.
    ``slack(node, inexact)`` is the error that the implementation may have in addition to the bound
    of the node's op. Raises ``ops.base.StatusError`` as ``interpreter.evaluate`` does.
    """
    kept = kept or Kept.at_first(graph)
    values: dict[str, Array] = {**graph.constants, **kept.values, **inputs}
    errors, rules = {**kept.errors, **off}, dict[str, tuple[str, ...]]()
    steps, whys = dict[str, float](), dict[str, str]()
    for node in graph.nodes:
        state = _State(values, errors, actual, lacking, rules, steps, whys)
        for one in _with_inside(node, graph, ops[node.op], state, slack):
            name = one.tensor
            if one.found is None:
                values[name], errors[name] = one.values, one.bound
                rules[name], whys[name] = one.rules, one.why
            else:
                # A known value replaces the reference's, so nothing is off after it.
                values[name], errors[name] = one.found, np.broadcast_to(0.0, one.bound.shape)
                rules[name], whys[name] = (), ""
            yield one
    latest = {name: graph.updates.get(name, name) for name in graph.variables}
    kept.values = {name: values[source] for name, source in latest.items()}
    kept.errors = {name: errors[source] for name, source in latest.items() if source in errors}


@dataclass(frozen=True, slots=True)
class _State:
    """The values computed so far, their error bounds, and the tensors of the implementation."""

    values: Mapping[str, Array]
    errors: Mapping[str, Array]
    actual: Mapping[str, Array]
    lacking: Mapping[str, Partly]
    rules: Mapping[str, tuple[str, ...]]
    steps: dict[str, float]  # of stored integers that are not known: their slack
    whys: Mapping[str, str]  # of tensors that are not known: see ``Expected``

    def known(self, name: str, expected: Array) -> Array | None:
        """The implementation's value of a tensor, or None if it is not known."""
        if name not in self.actual or name not in self.lacking:
            return self.actual.get(name)
        return self.lacking[name].filled(self.actual[name], expected)

    def off(self, node: Node, operands: Operands) -> Arrays:
        """The bounds of the errors of a node's inputs. Slack of stored integers is part of them
        only if the node computes something else from the integers; see ``leeway``.
        """
        are_stored = _are_stored(operands)
        pairs = zip(node.inputs, operands.inputs, strict=True)
        return tuple(self._error(name, array, are_stored=are_stored) for name, array in pairs)

    def _error(self, name: str, array: Array, *, are_stored: bool) -> Array:
        error, step = self.errors.get(name), 0.0 if are_stored else self.steps.get(name, 0.0)
        # Most inputs have no error. An array of zeros would take longer than the layer itself.
        if error is None:
            return np.broadcast_to(step, array.shape)
        return error + step if step else error

    def leeway(self, node: Node, operands: Operands, own: Leeway) -> Leeway:
        """A node's own leeway, or the leeway of the stored integers that it reads."""
        if not _are_stored(operands):
            return own
        waiting = [self.steps.get(name, 0.0) for name in node.inputs]
        if isinstance(own.more, float) and own.more >= max(waiting, default=0.0):
            return own
        return replace(own, more=max(float(np.max(own.more)), *waiting))


def _with_inside(
    node: Node, graph: Graph, op: OpDefinition, state: _State, slack: Slack
) -> Iterable[Expected]:
    """The results of a node, preceded by the results of the graph inside it if some of these are
    known."""
    # A name inside begins with the first result's name and a colon.
    lead = f"{node.outputs[0]}:"
    is_open = op.inside is not None
    own = {n: each for n, each in state.actual.items() if n.startswith(lead)} if is_open else {}
    if op.inside is None or not own:
        yield from _of_node(node, graph, op, state, slack)
        return
    operands = Operands.of(node, graph, state.values)
    for one in op.inside(node, operands, state.off(node, operands), own, slack):
        if one.tensor in node.outputs:
            one = replace(one, found=state.known(one.tensor, one.values))
        yield one


def _of_node(
    node: Node, graph: Graph, op: OpDefinition, state: _State, slack: Slack
) -> list[Expected]:
    operands, names = Operands.of(node, graph, state.values), op.results(node)
    expected = op.reference(node.attrs, operands)
    known = tuple(state.known(name, array) for name, array in zip(names, expected, strict=True))
    inexact = Inexact(operands, state.off(node, operands), expected, known)
    bounds = op.bound.of(node.attrs, inexact)
    leeway = state.leeway(node, operands, slack(node, inexact))
    before = [rule for name in node.inputs for rule in state.rules.get(name, ())]
    missing = [op.bound.roundings if of is None else 0 for of in known]
    why = leeway.why or next(filter(None, (state.whys.get(name) for name in node.inputs)), "")
    expectations = []
    for name, array, bound, of, roundings in zip(
        names, expected, bounds, known, missing, strict=True
    ):
        limit, rule = _limited(bound, array, roundings, operands), op.bound.rule
        if not _are_stored(operands):
            limit = limit + leeway.more
        elif of is None:
            state.steps[name] = float(np.max(leeway.more))
        elif np.any(leeway.more):
            limit, rule = limit + leeway.more, f"{np.max(leeway.more):g} step"
        if leeway.departs is not None:
            limit = np.where(leeway.departs, np.inf, limit)
        since = tuple(dict.fromkeys((*before, rule)))
        expectations.append(Expected(node, name, array, limit, since, of, why=why))
    return expectations


def _are_stored(operands: Operands) -> bool:
    """Whether a node's outputs are stored integers, which differ by whole steps."""
    kinds = operands.output_types
    return all(kind.quant is not None and kind.dtype.numpy.kind != "f" for kind in kinds)


def _limited(bound: Array, expected: Array, roundings: int, operands: Operands) -> Array:
    """The bound for each element of a node's output if an implementation may leave out up to
    ``roundings`` of the node's roundings. It is infinite if a value within the bound may exceed
    float32."""
    if expected.dtype.kind != "f":
        return bound
    if roundings:
        # Infinity from an infinite operand is not rounded.
        size = np.where(np.isinf(expected) & has_infinity(operands), 0, np.abs(expected))
        bound = bound + roundings * UNIT * (size + bound)
    is_number = np.isfinite(expected)
    # A bound of infinities may be NaN: then any number is allowed, and special values must be
    # equal.
    known = np.where(np.isnan(bound), np.where(is_number, np.inf, 0), bound)
    magnitude = np.where(is_number, np.abs(expected), 0).astype(np.float64)
    return np.where(is_number & (magnitude + known > _LARGEST), np.inf, known)


def exceeds(actual: Array, expected: Array, bound: Array) -> Array:
    """A mask of the elements whose distance exceeds the bound: bool, of the arrays' shape. NaN
    equals NaN, and the sign of zeros is ignored."""
    if expected.dtype.kind != "f":
        # Floats cannot tell all integers apart.
        is_beyond = (bound == 0) | (distance(actual, expected) > bound)
        return np.asarray((actual != expected) & is_beyond & ~np.isinf(bound))
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    return np.asarray(~same & ~(distance(actual, expected) <= bound) & ~np.isinf(bound))


def distance(actual: Array, expected: Array) -> Array:
    """The distance of each pair of elements, float64; infinite if only one of them is a number."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    same = (actual == expected) | ((actual != actual) & (expected != expected))
    return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
