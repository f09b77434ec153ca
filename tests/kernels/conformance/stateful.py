"""Models with state, run on sequences of inputs by our references and by LiteRT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir import beside, verify
from microgen.graph.ir.beside import Kept
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.kernels.conformance import within
from tests.kernels.conformance.litert_oracle import interpreter_of
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model


@dataclass(frozen=True)
class Network:
    """A model of one operator, the inputs of consecutive runs, and the names of its variables.

    The model's input is ``x``, its output ``y``.
    """

    name: str
    tensors: Sequence[TensorSpec]
    operator: OperatorSpec
    samples: Sequence[Array]
    variables: Sequence[str]

    def to_bytes(self) -> bytes:
        """The bytes of the .tflite file."""
        return self._bytes

    @cached_property
    def _bytes(self) -> bytes:
        return build_model(self.tensors, [self.operator], ["x"], ["y"])

    def load(self, profile: str = "litert") -> Graph:
        """The graph that the frontend reads from it under that numerics profile, checked."""
        chosen = numerics.profile(profile)
        graph = frontend.load(self.to_bytes(), file="m.tflite", numerics=chosen)
        verify.check(graph, registry())
        return graph


Values = list[dict[str, Array]]  # after each run, the output and the variables by their names


def by_reference(network: Network, *, reset_before: int = 0, profile: str = "litert") -> Values:
    """The results of our references. The state is reset before run ``reset_before``."""
    graph = network.load(profile)
    state = initial_state(graph)
    found: Values = []
    for i, sample in enumerate(network.samples):
        if i == reset_before:
            state = initial_state(graph)
        values = evaluate(graph, {"x": sample}, registry(), state)
        found.append({name: values[name] for name in ("y", *network.variables)})
    return found


def by_litert(network: Network, *, reset_before: int = 0) -> Values:
    """LiteRT's results by its reference kernels. It is reset before run ``reset_before``."""
    interpreter = interpreter_of(network.to_bytes())
    index = {t.name: i for i, t in enumerate(network.tensors)}
    found: Values = []
    for i, sample in enumerate(network.samples):
        if i == reset_before:
            interpreter.reset_all_variables()
        interpreter.set_tensor(index["x"], sample)
        interpreter.invoke()
        names = ("y", *network.variables)
        found.append({name: interpreter.get_tensor(index[name]) for name in names})
    return found


def assert_equal(network: Network, *, reset_before: int = 0) -> None:
    """Checks that outputs and variables agree with LiteRT's after every run.

    Floats may differ by the op's bound from what the reference computes from LiteRT's variables.
    """
    graph = network.load()
    kept = Kept.at_first(graph)
    for i, theirs in enumerate(by_litert(network, reset_before=reset_before)):
        kept = Kept.at_first(graph) if i == reset_before else kept
        found = {name: a.reshape(graph.types[name].shape) for name, a in theirs.items()}
        for one in beside.walk(graph, {"x": network.samples[i]}, registry(), found, kept):
            assert one.found is None or one.found.dtype == one.values.dtype
            wrong = np.argwhere(within.wrong(one)) if one.found is not None else []
            assert not len(wrong), f"{network.name}: run {i}: {one.tensor}{wrong[0]}: {one}"
