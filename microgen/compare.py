"""Compares what the firmware computes with the numpy reference and with LiteRT, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from microgen import frontends, manifest, oracle, passes, progress, runner
from microgen.errors import ToolError
from microgen.files import inside
from microgen.ir.graph import Array, Graph
from microgen.ir.interpreter import evaluate, initial_state
from microgen.manifest import ModuleRecord
from microgen.ops import registry
from microgen.runner import Layer, samples
from microgen.runner.compare import Comparison, Difference, differs
from microgen.runner.compare import compare as compare_layers
from microgen.target import targets

Layers = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The firmware against one source of truth.

    ``name`` says which. Outputs are compared on all ``samples``, layers on one of them: the
    first whose outputs differ, or sample 0. ``layers`` is None, and ``why_no_layers`` says why,
    where layers could not be read. ``is_skipped``: nothing was compared, for the reason in
    ``why_no_layers``.
    """

    name: str
    samples: int
    equal_samples: int
    layers: Comparison | None
    why_no_layers: str = ""
    is_skipped: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing that was compared differs."""
        return self.equal_samples == self.samples and self.difference is None

    @property
    def difference(self) -> Difference | None:
        """The first layer and element that differs, if one was found."""
        return self.layers.first if self.layers else None

    def __str__(self) -> str:
        if self.is_skipped:
            return f"{self.name}: not compared: {self.why_no_layers}"
        text = f"{self.name}: outputs equal on {self.equal_samples} of {self.samples} samples"
        if self.layers is None:
            return f"{text}; layers not read: {self.why_no_layers}"
        if self.layers.first:
            return f"{text}; first difference: {self.layers.first}"
        unknown = f", {len(self.layers.absent)} unknown to it" if self.layers.absent else ""
        return f"{text}; all {self.layers.compared} layers equal{unknown}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "status": "n/a" if self.is_skipped else "ok" if self.ok else "failed",
            "samples": self.samples,
            "equal_samples": self.equal_samples,
            "layers": self.layers.compared if self.layers else 0,
            "detail": str(self),
        }


def compare(
    project: Path, inputs: Mapping[str, Array], outputs: Mapping[str, Array], elf: Path
) -> tuple[Verdict, ...]:
    """Compare ``outputs``, which the project's ``elf`` gave for ``inputs``, and the layers of one
    sample, with the numpy reference and, where it is installed and its profile is the project's,
    with LiteRT; each model by itself. All arrays have a leading axis of N samples.

    Raises what ``runner.run`` raises.
    """
    record = manifest.load(project)
    inputs = samples.by_tensor(record, inputs)
    traces = _Traces(project, elf, inputs)
    verdicts: list[Verdict] = []
    for module in record.modules:
        given = samples.of_module(record, module, "inputs", inputs)
        made = samples.of_module(record, module, "outputs", outputs)
        found = _compared(project, module, given, made, traces)
        lead = f"{module.module}: " if record.more else ""
        verdicts += [replace(verdict, name=f"{lead}{verdict.name}") for verdict in found]
    return tuple(verdicts)


def _compared(
    project: Path,
    module: ModuleRecord,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    traces: _Traces,
) -> Iterator[Verdict]:
    """One model's verdicts."""
    given = _samples(module, inputs, traces.count)
    for name, truth in _truths(project, module):
        if isinstance(truth, str):
            yield Verdict(name, 0, 0, None, truth, is_skipped=True)
            continue
        try:
            expected = truth(given)
        except oracle.OracleError as error:
            yield Verdict(name, 0, 0, None, str(error), is_skipped=True)
            continue
        equal = [_outputs_equal(module, outputs, i, e) for i, e in enumerate(expected)]
        worst = equal.index(False) if False in equal else 0
        layers, why = _layers(module, traces, worst, expected)
        yield Verdict(name, len(equal), sum(equal), layers, why)


class _Traces:
    """The layers of a range of samples, all models', read once from the running ``elf``."""

    def __init__(self, project: Path, elf: Path, inputs: Mapping[str, Array]) -> None:
        self._project, self._elf, self._inputs = project, elf, inputs
        self._read: dict[tuple[int, int], tuple[Layer, ...]] = {}

    @property
    def count(self) -> int:
        """How many samples there are."""
        return next((len(array) for array in self._inputs.values()), 0)

    def of(self, module: ModuleRecord, first: int, last: int) -> list[Layer]:
        """A module's layers of the samples from ``first`` to ``last``. Raises what ``run`` does."""
        if (first, last) not in self._read:
            chosen = {name: array[first : last + 1] for name, array in self._inputs.items()}
            traced = runner.run(self._project, chosen, elf=self._elf, trace=True).layers
            assert traced is not None
            self._read[first, last] = traced
        return [layer for layer in self._read[first, last] if layer.module == module.module]


Truth = Callable[[Sequence[Sequence[Array]]], Sequence[Layers]]


def _truths(project: Path, record: ModuleRecord) -> list[tuple[str, Truth | str]]:
    """Each source of truth by name: how to compute every layer, or why that cannot be."""
    model = inside(project, record.model.path)
    profile = record.options["numerics"]
    kinds = targets.parse(record.options["targets"]).kinds
    generators = record.options["codegen"]
    source = frontends.load(model, numerics=profile, targets=kinds, generators=generators)
    graph = passes.run(source)
    ports = [port.tensor for port in record.outputs]
    truths: list[tuple[str, Truth | str]] = [
        (
            f"numpy reference ({profile})",
            lambda samples: _named(_evaluate(graph, samples), graph.outputs, ports),
        )
    ]
    name = "LiteRT BUILTIN_REF"
    if model.suffix != ".tflite":
        truths.append((name, f"it reads .tflite files, not {model.suffix}"))
    elif profile != oracle.PROFILE:
        truths.append((name, f"it rounds as --numerics {oracle.PROFILE} does"))
    elif not oracle.is_installed():
        truths.append((name, "ai-edge-litert is not installed (pip install ai-edge-litert)"))
    else:
        names = frontends.tensor_names(model)
        data = model.read_bytes()
        truths.append(
            (
                name,
                lambda samples: _named(oracle.layers(data, samples, names), source.outputs, ports),
            )
        )
    return truths


def _named(samples: Iterable[Layers], outputs: Sequence[str], ports: Sequence[str]) -> list[Layers]:
    """Each sample's layers, with the outputs under the names of their ports, too: of two outputs
    that are one tensor the second has another, and passes may have replaced the tensor."""
    return [
        {**layers, **{port: layers[name] for port, name in zip(ports, outputs, strict=True)}}
        for layers in samples
    ]


def _evaluate(graph: Graph, samples: Sequence[Sequence[Array]]) -> list[Layers]:
    state = initial_state(graph)
    return [
        evaluate(graph, dict(zip(graph.inputs, sample, strict=True)), registry(), state)
        for sample in progress.counted("samples by numpy", samples, len(samples))
    ]


def _samples(record: ModuleRecord, inputs: Mapping[str, Array], count: int) -> list[list[Array]]:
    """Sample by sample, one array per input in the model's order."""
    return [[inputs[port.tensor][i] for port in record.inputs] for i in range(count)]


def _outputs_equal(
    record: ModuleRecord, outputs: Mapping[str, Array], sample: int, expected: Layers
) -> bool:
    return not any(
        differs(outputs[port.tensor][sample].reshape(-1), expected[port.tensor].reshape(-1)).any()
        for port in record.outputs
    )


def _layers(
    module: ModuleRecord, traces: _Traces, sample: int, expected: Sequence[Layers]
) -> tuple[Comparison | None, str]:
    """Compare the layers of one sample; if the model has state, of those that led to it, too."""
    first = 0 if any(buffer.is_state for buffer in module.plan.buffers) else sample
    try:
        traced = traces.of(module, first, sample)
    except ToolError as error:
        return None, str(error)
    return compare_layers(module, traced, expected[first : sample + 1]), ""
