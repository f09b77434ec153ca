"""Finds tensors with a name of the model whose value is not the model's value of that name.

Passes keep the model's names, by which layers are compared and reported. So after every pass, each
tensor with such a name must have the model's value: bit for bit for integers, within the bounds of
the model's ops for floats, in the channels of ``Graph.channels`` and in the layout of
``Graph.laid_out``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.base.errors import short
from microgen.graph.ir import beside, interpreter, layouts
from microgen.graph.ir.beside import Kept
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.layouts import Shown
from microgen.graph.ops.base import OpDefinition, StatusError


@dataclass(frozen=True, slots=True)
class Misnamed:
    """A tensor ``name`` of a graph whose value differs from the tensor ``tensor`` of the model that
    it represents. ``how`` describes the difference."""

    name: str
    tensor: str
    how: str

    def __str__(self) -> str:
        own = "" if self.name == self.tensor else f', which "{short(self.name)}" stands for'
        return f'"{short(self.tensor)}"{own}: {self.how}'


def misnamed(
    source: Graph, graph: Graph, samples: Iterable[Sequence[Array]], ops: Mapping[str, OpDefinition]
) -> Iterator[Misnamed]:
    """The misnamed tensors of ``graph``, which passes have computed from ``source``, the model's
    graph.

    ``samples``: a sequence of inferences, each with one array per input, in order. Each tensor is
    compared with the value that the model computes from the graph's own values of earlier tensors,
    if the graph has them. So one wrong name does not make others wrong. The sequence ends if the
    network fails for a sample.
    """
    shows = layouts.shown(graph, source.types)
    yield from _constants(source, graph)
    state, kept = interpreter.initial_state(graph), Kept.at_first(source)
    for sample in samples:
        try:
            arrays = dict(zip(graph.inputs, sample, strict=True))
            values = interpreter.evaluate(graph, arrays, ops, state)
            arrays = dict(zip(source.inputs, sample, strict=True))
            yield from _of_sample(source, arrays, values, shows, ops, kept)
        # The state after a failed inference is undefined, so later samples say nothing.
        except StatusError:
            return


def _constants(source: Graph, graph: Graph) -> Iterator[Misnamed]:
    for name in source.constants.keys() & graph.constants.keys():
        own, wanted = graph.constants[name], source.constants[name]
        if own.shape != wanted.shape:
            how = f"the passes change the constant's shape from {wanted.shape} to {own.shape}"
            yield Misnamed(name, name, how)
        else:
            yield from _first(name, name, own, wanted, np.zeros(own.shape))


def _of_sample(
    source: Graph,
    inputs: Mapping[str, Array],
    values: Mapping[str, Array],
    shows: Mapping[str, Shown],
    ops: Mapping[str, OpDefinition],
    kept: Kept,
) -> Iterator[Misnamed]:
    names = layouts.by_model(shows, values)
    actual = {tensor: values[first] for tensor, (first, *_) in names.items()}
    firsts = {tensor: shows[first] for tensor, (first, *_) in names.items()}
    partly = {tensor: show for tensor, show in firsts.items() if not show.is_plain}
    for one in beside.walk(source, inputs, ops, actual, kept, lacking=partly):
        if one.found is None:
            continue
        first, *others = names[one.tensor]
        yield from _first(first, one.tensor, one.found, one.values, one.bound)
        for name in others:  # they only move its elements
            own = shows[name].filled(values[name], one.found)
            yield from _first(name, one.tensor, own, one.found, np.zeros(own.shape))


def _first(
    name: str, tensor: str, actual: Array, expected: Array, bound: Array
) -> Iterator[Misnamed]:
    wrong = beside.exceeds(actual, expected, bound)
    if wrong.any():
        index = tuple(map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape)))
        at, allowed = ",".join(map(str, index)), float(bound[index])
        near = f" within {allowed:.3g}" if allowed else ""
        how = f"element [{at}] is {actual[index]:.9g} after the passes, and {expected[index]:.9g}"
        yield Misnamed(name, tensor, f"{how}{near} in the model")
