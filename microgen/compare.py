"""Compares what the firmware computes with the numpy reference and with LiteRT, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen import frontends, manifest, oracle, passes, runner
from microgen.errors import ToolError
from microgen.ir.graph import Array, Graph
from microgen.ir.interpreter import evaluate, initial_state
from microgen.manifest import Manifest
from microgen.ops import registry
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
    with LiteRT. All arrays have a leading axis of N samples.

    Raises what ``runner.run`` raises.
    """
    record = manifest.load(project)
    truths = _truths(project, record)
    samples = _samples(record, inputs)
    verdicts = []
    for name, truth in truths:
        if isinstance(truth, str):
            verdicts.append(Verdict(name, 0, 0, None, truth, is_skipped=True))
            continue
        try:
            expected = truth(samples)
        except oracle.OracleError as error:
            verdicts.append(Verdict(name, 0, 0, None, str(error), is_skipped=True))
            continue
        equal = [_outputs_equal(record, outputs, i, e) for i, e in enumerate(expected)]
        worst = equal.index(False) if False in equal else 0
        layers, why = _layers(project, elf, inputs, worst, expected)
        verdicts.append(Verdict(name, len(equal), sum(equal), layers, why))
    return tuple(verdicts)


Truth = Callable[[Sequence[Sequence[Array]]], Sequence[Layers]]


def _truths(project: Path, record: Manifest) -> list[tuple[str, Truth | str]]:
    """Each source of truth by name: how to compute every layer, or why that cannot be."""
    model = project / record.model.path
    profile = record.options["numerics"]
    kinds = targets.parse(record.options["targets"]).kinds
    source = frontends.load(model, numerics=profile, targets=kinds)
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
        for sample in samples
    ]


def _samples(record: Manifest, inputs: Mapping[str, Array]) -> list[list[Array]]:
    """Sample by sample, one array per input in the model's order."""
    arrays = [
        inputs[port.tensor] if port.tensor in inputs else inputs[f"input{i}"]
        for i, port in enumerate(record.inputs)
    ]
    return [[array[i] for array in arrays] for i in range(len(arrays[0]))]


def _outputs_equal(
    record: Manifest, outputs: Mapping[str, Array], sample: int, expected: Layers
) -> bool:
    return not any(
        differs(outputs[port.tensor][sample].reshape(-1), expected[port.tensor].reshape(-1)).any()
        for port in record.outputs
    )


def _layers(
    project: Path, elf: Path, inputs: Mapping[str, Array], sample: int, expected: Sequence[Layers]
) -> tuple[Comparison | None, str]:
    """Compare the layers of one sample; if the model has state, of those that led to it, too."""
    record = manifest.load(project)
    first = 0 if any(buffer.is_state for buffer in record.plan.buffers) else sample
    chosen = {name: array[first : sample + 1] for name, array in inputs.items()}
    try:
        traced = runner.run(project, chosen, elf=elf, trace=True).layers
    except ToolError as error:
        return None, str(error)
    assert traced is not None
    return compare_layers(record, traced, expected[first : sample + 1]), ""
