"""Random networks of every kind with a stand-in for their firmware: numpy's values, with which an
error may be planted. The comparison itself is the one that ``run --compare`` makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from microgen import frontends
from microgen.base.manifest import ModelRecord, ModuleRecord, PortRecord
from microgen.compiler import passes
from microgen.frontends.model_format import Oracle
from microgen.graph.ir import beside
from microgen.graph.ir.beside import Expected, Slack
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate_node, initial_state
from microgen.graph.ops import registry
from microgen.running.comparing.compare import _fitting, _Module
from microgen.running.comparing.verdict import Verdict
from microgen.running.runner import TracedLayer
from tests.differential.generator import generate
from tests.frontends.onnx.graphs import float_networks, quantized_networks
from tests.frontends.onnx.graphs.case import Case
from tests.running.runner import standin

SAMPLES = 2
Sample = tuple[Array, ...]
KINDS = ("float", "quantized", "tflite")


@dataclass(frozen=True)
class Planted:
    """One element of a tensor of the first sample with a wrong value, and the tensor's layer."""

    layer: str
    tensor: str
    index: tuple[int, ...]
    value: float

    def put(self, array: Array) -> Array:
        """The array with the wrong element."""
        wrong = np.array(array)  # also of a scalar
        wrong[self.index] = self.value
        return wrong


@dataclass(frozen=True)
class Standin:
    """A model's file with samples of its inputs."""

    path: Path
    samples: tuple[Sample, ...]

    @cached_property
    def source(self) -> Graph:
        """The network in the file."""
        return frontends.load(self.path)

    @cached_property
    def reduced(self) -> Graph:
        """The network that the firmware computes."""
        return passes.run(self.source)

    @cached_property
    def oracle(self) -> Oracle:
        """The oracle of the file's format."""
        found = frontends.oracle(self.path)
        assert found is not None
        return found

    @cached_property
    def slack(self) -> Slack:
        """The oracle's slack."""
        return self.oracle.slack(frontends.files(self.path), self.source)

    @cached_property
    def layers(self) -> list[dict[str, Array]]:
        """The oracle's tensors for each sample. Raises OracleError."""
        return [dict(every) for every in self.oracle.layers(self._files, self.samples)]

    @property
    def known(self) -> dict[str, Array]:
        """The oracle's tensors for the first sample that the graph has, too. Raises
        OracleError."""
        return _fitting(self.source, self.layers[0])

    @property
    def _files(self) -> dict[str, bytes]:
        return frontends.files(self.path)

    def given(self, graph: Graph, sample: int) -> dict[str, Array]:
        """The inputs of a sample by name."""
        return dict(zip(graph.inputs, self.samples[sample], strict=True))

    def computed(self, planted: Planted | None = None) -> list[dict[str, Array]]:
        """What the firmware computes for each sample, and what follows from a planted error."""
        graph, state, found = self.reduced, initial_state(self.reduced), []
        for i in range(len(self.samples)):
            values = {**graph.constants, **state, **self.given(graph, i)}
            made: dict[str, Array] = {}
            for node in graph.nodes:
                results = evaluate_node(node, graph, values, registry())
                written = registry()[node.op].writes(node.attrs, len(node.inputs))
                names = (*node.outputs, *(node.inputs[position] for position in written))
                values.update(zip(names, results, strict=True))
                if planted and i == 0 and planted.tensor in node.outputs:
                    values[planted.tensor] = planted.put(values[planted.tensor])
                made.update((name, values[name]) for name in node.outputs)
            state.update((name, values[graph.updates.get(name, name)]) for name in graph.variables)
            found.append({**{name: values[name] for name in graph.outputs}, **made})
        return found

    def module(self, planted: Planted | None = None) -> _Module:
        """The comparison of the stand-in."""
        found = self.computed(planted)
        outputs = {
            port: np.stack([made[name] for made in found])
            for port, name in zip(self.source.outputs, self.reduced.outputs, strict=True)
        }
        traces = _Traces([self._made(made) for made in found])
        folder = self.path.parent
        module = _Module(folder, self._record, self.samples, outputs, traces.of)
        module.__dict__.update(source=self.source, reduced=self.reduced)  # these are read already
        return module

    def _made(self, values: Mapping[str, Array]) -> dict[str, Array]:
        made = {name for node in self.reduced.nodes for name in node.outputs}
        return {name: values[name] for name in values if name in made}

    @property
    def _record(self) -> ModuleRecord:
        (module,) = standin.manifest("native").modules
        profile = "onnx" if self.path.suffix == ".onnx" else "litert"
        options = {"numerics": profile, "targets": [], "codegen": [], "signature": ""}
        return dataclasses.replace(
            module,
            model=ModelRecord(self.path.name, "0", self.path.name),
            options=options,
            inputs=tuple(self._port(name) for name in self.source.inputs),
            outputs=tuple(self._port(name) for name in self.source.outputs),
            calls=(),
        )

    def _port(self, name: str) -> PortRecord:
        kind = self.source.types[name]
        return PortRecord(name, name, kind.shape, kind.dtype.value, kind.nbytes, 0.0, 0)

    def walked(self, graph: Graph, found: Mapping[str, Array], slack: Slack) -> Iterator[Expected]:
        """The tensors of the first sample that are known."""
        given = self.given(graph, 0)
        for one in beside.walk(graph, given, registry(), found, slack=slack):
            if one.found is not None:
                yield one


class _Traces:
    """Layers that were read, by sample."""

    def __init__(self, found: Sequence[Mapping[str, Array]]) -> None:
        self._found = found

    def of(self, _module: ModuleRecord, chosen: Sequence[int]) -> list[TracedLayer]:
        """The layers of some samples."""
        return [
            TracedLayer(k, 0, name, array)
            for k, i in enumerate(chosen)
            for name, array in self._found[i].items()
        ]


def is_beyond(one: Expected) -> bool:
    """Whether an element is beyond its bound."""
    assert one.found is not None
    return bool(beside.exceeds(one.found, one.values, one.bound).any())


def beyond(one: Expected) -> Planted | None:
    """The least error beyond the bound of an element, or None if every value is allowed.

    It is one step of an integer, and otherwise the next float."""
    finite = np.isfinite(one.bound) & np.isfinite(one.values.astype(np.float64))
    for flat in np.flatnonzero(finite)[:1]:
        index = tuple(map(int, np.unravel_index(flat, one.values.shape)))
        value = _beyond(one.values[index], float(one.bound[index]))
        if value is not None:
            return Planted(one.node.origin.layer, one.tensor, index, value)
    return None


def _beyond(value: np.generic, bound: float) -> float | None:
    if value.dtype.kind == "f":
        return _next_float(float(value), bound)
    if value.dtype.kind == "b":
        return None if bound >= 1 else not value
    limits, step = np.iinfo(value.dtype), int(bound) + 1
    whole = int(value.item())
    return next((v for v in (whole + step, whole - step) if limits.min <= v <= limits.max), None)


def _next_float(value: float, bound: float) -> float | None:
    """The first float32 above value + bound."""
    most = value + bound
    found = np.float32(most)
    while float(found) - value <= bound:
        found = np.nextafter(found, np.float32(np.inf))
    return float(found) if np.isfinite(found) else None


def made(kind: str, seed: int, folder: Path) -> Standin:
    """The network of a seed, as a file in the folder."""
    if kind == "tflite":
        case = generate(seed)
        path = folder / f"{kind}{seed}.tflite"
        path.write_bytes(case.net.model(case.outputs))
        samples = [tuple(case.net.values[n][i] for n in case.net.inputs) for i in range(SAMPLES)]
        return Standin(path, tuple(samples))
    network: Case = {"float": float_networks, "quantized": quantized_networks}[kind].generate(seed)
    path = folder / f"{kind}{seed}.onnx"
    path.write_bytes(network.model.SerializeToString())
    names = frontends.load(path).inputs
    return Standin(path, tuple(tuple(sample[n] for n in names) for sample in network.samples))


def verdicts(module: _Module) -> tuple[Verdict, Verdict]:
    """The comparisons with the reference and with the oracle."""
    return module.by_reference(), module.by_oracle()
