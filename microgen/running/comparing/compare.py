"""Compares the firmware's results with the numpy reference and with the oracle of the model's
format, layer by layer.

The reference computes each layer from the inputs that the layer had in the firmware. The
firmware's result must be within the bound of the layer's op (``microgen.graph.ops``). The outputs
that the firmware gave are compared in the same way. Outputs are also compared from end to end, with
bounds that grow with every layer.

The oracle may differ more from the reference than these bounds allow. Then the oracle's own layers
must explain the difference: on every sample with such outputs, each layer of the oracle is compared
with the reference, with the oracle's own inputs and the bounds for the oracle. If firmware and
oracle both follow the reference, they compute the same network.

The firmware may lack channels of the file's tensors (``compiler/passes/dead_channels.py``). Then
the other channels are compared, and later layers prove that the missing channels were not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from microgen import frontends
from microgen.base import manifest
from microgen.base.errors import ToolError
from microgen.base.files import inside
from microgen.base.manifest import ModuleRecord
from microgen.base.output import progress
from microgen.compiler import passes
from microgen.frontends.model_format import Oracle, OracleError
from microgen.graph.ir import beside, layouts, naming
from microgen.graph.ir.beside import Expected, Kept, Partly, Slack, no_slack
from microgen.graph.ir.graph import Array, DType, Graph
from microgen.graph.ir.naming import Misnamed
from microgen.graph.ops import registry
from microgen.running import runner
from microgen.running.comparing import apart
from microgen.running.comparing.ends import End, Ends, explained, judged, upto
from microgen.running.comparing.traced import Output, Traced, of_model, of_reduced, traced
from microgen.running.comparing.verdict import Verdict
from microgen.running.runner import TracedLayer, port_names, samples
from microgen.running.runner.compare import Comparison, unseen
from microgen.running.runner.compare import compare as compare_layers
from microgen.target import targets

Sample = Sequence[Array]  # one array per input, in the model's order
Found = Mapping[str, Array]  # tensors by name
Lacking = Mapping[str, Partly]  # tensors that the firmware has in part, or in another layout


def compare(
    project: Path,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    elf: Path,
    target: runner.RemoteTarget | None = None,
) -> tuple[Verdict, ...]:
    """Compare ``outputs``, which the project's ``elf`` gave for ``inputs``, and the layers of one
    sample, with the numpy reference. Compare them also with the oracle of the model's format if it
    is installed and follows the project's numerics profile. Each model is compared by itself. All
    arrays are [N, *shape of the tensor]. ``target`` is where layers are read, as in
    ``runner.run``, whose errors are raised."""
    record = manifest.load(project)
    inputs = samples.given(record, inputs).arrays
    traces = _Traces(project, elf, inputs, target)
    verdicts: list[Verdict] = []
    for module in record.modules:
        arrays = port_names.of_module(record, module, "inputs", inputs)
        made = port_names.of_module(record, module, "outputs", outputs)
        one = _Module(project, module, _rows(module.inputs, arrays), made, traces.of)
        verdicts += one.verdicts(has_others=bool(record.more))
    return tuple(verdicts)


def compare_application(
    project: Path, inferences: Sequence[runner.Inference]
) -> tuple[Verdict, ...]:
    """Compare the inferences of a program whose main is not the project's main, each model by
    itself. Only inferences that were read and returned 0 are compared. A model without such
    inferences has no verdicts."""
    record = manifest.load(project)
    verdicts: list[Verdict] = []
    for module in record.modules:
        own = [one for one in inferences if one.module == module.module and one.outputs]
        if not own:
            continue
        stacked = {p.tensor: np.stack([one.inputs[p.tensor] for one in own]) for p in module.inputs}
        made = {p.tensor: np.stack([one.outputs[p.tensor] for one in own]) for p in module.outputs}
        seen = partial(_seen, own)
        model = _Module(project, module, _rows(module.inputs, stacked), made, seen)
        verdicts += model.verdicts(has_others=bool(record.more))
    return tuple(verdicts)


def _seen(
    inferences: Sequence[runner.Inference], _module: ModuleRecord, chosen: tuple[int, ...]
) -> list[TracedLayer]:
    """The layers of some inferences of a model, which have been read, numbered from 0."""
    return [
        replace(layer, sample=number)
        for number, index in enumerate(chosen)
        for layer in inferences[index].layers
    ]


class _Traces:
    """The layers of all models for some samples, read from the ``elf`` once for the same
    samples."""

    def __init__(
        self,
        project: Path,
        elf: Path,
        inputs: Mapping[str, Array],
        target: runner.RemoteTarget | None,
    ) -> None:
        self._project, self._elf, self._inputs, self._target = project, elf, inputs, target
        self._read: dict[tuple[int, ...], tuple[TracedLayer, ...]] = {}

    def of(self, module: ModuleRecord, chosen: tuple[int, ...]) -> list[TracedLayer]:
        """A module's layers for the ``chosen`` samples. Raises as ``runner.run`` does."""
        # Oracle and reference often choose the same samples, and a run that reads layers is slow.
        if chosen not in self._read:
            inputs = {name: array[list(chosen)] for name, array in self._inputs.items()}
            ran = runner.run(self._project, inputs, elf=self._elf, trace=True, target=self._target)
            assert ran.layers is not None
            self._read[chosen] = ran.layers
        return [layer for layer in self._read[chosen] if layer.module == module.module]


def source(project: Path, record: ModuleRecord) -> Graph:
    """The graph of a model's file, read with the options with which the project was generated."""
    # Another option would give another graph, whose layers have other names.
    options = record.options
    return frontends.load(
        inside(project, record.model.path),
        numerics=options["numerics"],
        targets=targets.parse(options["targets"]).kinds,
        generators=options["codegen"],
        signature=options["signature"],
        max_rounds=options.get("max_rounds", ()),  # projects of earlier versions have no loops
    )


@dataclass(frozen=True)
class _Module:
    """One model: its samples, the firmware's outputs for them, and ``traces``, the function that
    returns its layers for some samples."""

    project: Path
    record: ModuleRecord
    samples: Sequence[Sample]
    outputs: Mapping[str, Array]
    traces: Callable[[ModuleRecord, tuple[int, ...]], list[TracedLayer]]

    @cached_property
    def source(self) -> Graph:
        """The graph of the model's file."""
        return source(self.project, self.record)

    @cached_property
    def reduced(self) -> Graph:
        """The graph after the passes."""
        return passes.run(self.source)

    @property
    def model(self) -> Path:
        """The model's file."""
        return inside(self.project, self.record.model.path)

    @cached_property
    def is_exact(self) -> bool:
        """Whether no tensor has floats. Then nothing is rounded: equal outputs come from equal
        layers."""
        return all(kind.dtype is not DType.FLOAT32 for kind in self.source.types.values())

    def verdicts(self, *, has_others: bool) -> Iterator[Verdict]:
        """All comparisons. Their names begin with the model's if the firmware ``has_others``."""
        lead = f"{self.record.module}: " if has_others else ""
        for verdict in (self.by_reference(), self.by_oracle()):
            yield replace(verdict, name=f"{lead}{verdict.name}")

    def by_reference(self) -> Verdict:
        """The comparison with numpy, on the network after the passes."""
        graph = self.reduced
        name = f"numpy reference ({self.record.options['numerics']})"
        ends = self._ends(graph)
        verdict, _ = self._verdict(name, graph, ends)
        # A wrong layer is a failure, whatever the bounds from end to end allow.
        if verdict.difference is not None:
            return verdict
        # Only vague samples may be explained here: a sample beyond a bound is a failure.
        return _counted(verdict, ends, ends.vague)

    def by_oracle(self) -> Verdict:
        """The comparison with the oracle of the model's format, on the network in the file."""
        options = self.record.options
        oracle = frontends.oracle(self.model, options["signature"], options["numerics"])
        if oracle is None:
            why = f"there is none for {self.model.suffix} files"
            return Verdict("outside oracle", 0, 0, None, why, is_skipped=True)
        name = f"{oracle.name} {oracle.kernels}"
        why = self._why_not_by(oracle)
        if why:
            return Verdict(name, 0, 0, None, why, is_skipped=True)
        try:
            ends = self._oracle_ends(oracle)
            verdict, chosen = self._verdict(name, self.source, ends)
            # The oracle's layers are judged on the same samples, and on all whose outputs differ.
            own = self._of_oracle(oracle, (*chosen, *ends.unequal))
            return _counted(replace(verdict, other=own), ends, explained(ends, self.source, own))
        except OracleError as error:
            return Verdict(name, 0, 0, None, str(error), is_skipped=True)

    def _why_not_by(self, oracle: Oracle) -> str:
        if self.record.options["numerics"] != oracle.profile:
            return f"it rounds as --numerics {oracle.profile} does"
        return oracle.lacking()

    def _ends(self, graph: Graph) -> Ends:
        """The expected outputs of a graph for each sample."""
        kept, ends = Kept.at_first(graph), []
        counted = progress.counted("samples by numpy", self.samples, len(self.samples))
        # The state after a sample is an input of the next one, so all samples run in order.
        for i, sample in enumerate(counted):
            inputs = dict(zip(graph.inputs, sample, strict=True))
            exact = {**graph.constants, **kept.values, **inputs}
            # An output can be a constant or an input, which no node computes, so it must be equal.
            wanted = {n: (exact[n], np.zeros(())) for n in graph.outputs if n in exact}
            for one in beside.walk(graph, inputs, registry(), {}, kept):
                wanted[one.tensor] = (one.values, one.bound)
            ends.append([self._end(k, i, *wanted[name]) for k, name in enumerate(graph.outputs)])
        return Ends(ends)

    def _end(self, output: int, sample: int, values: Array, bound: Array) -> End:
        actual = self.outputs[self.record.outputs[output].tensor][sample]
        # A bound without dimensions holds for every element.
        size = bound.reshape(actual.shape) if bound.ndim else np.broadcast_to(bound, actual.shape)
        return End(actual, values.reshape(actual.shape), size)

    def _oracle_ends(self, oracle: Oracle) -> Ends:
        """The oracle's outputs. Bounds are doubled, because the oracle may differ from the
        reference as much as the firmware may."""
        layers = self._layers_by(oracle, "samples", self.samples)
        answers = [[every[name] for name in self.source.outputs] for every in layers]
        # Nothing is rounded without floats, so nothing may differ, and the bounds need no
        # evaluation.
        bounds = [[np.zeros(())] * len(arrays) for arrays in answers]
        if not self.is_exact:
            every = self._ends(self.source).samples
            bounds = [[2 * end.bound for end in ends] for ends in every]
        return Ends(
            [
                [self._end(k, i, *pair) for k, pair in enumerate(zip(*pairs, strict=True))]
                for i, pairs in enumerate(zip(answers, bounds, strict=True))
            ]
        )

    def _layers_by(self, oracle: Oracle, what: str, samples: Sequence[Sample]) -> Iterator[Found]:
        if oracle.is_apart:
            layers = apart.layers(oracle, self.model, self.record.options["signature"], samples)
        else:
            layers = oracle.layers(frontends.files(self.model), samples)
        return progress.counted(f"{what} by {oracle.name}", layers, len(samples))

    def _verdict(self, name: str, graph: Graph, ends: Ends) -> tuple[Verdict, tuple[int, ...]]:
        """The outputs compared with ``ends`` and the layers with ``graph``, and the samples whose
        layers were compared."""
        in_sequence = bool(self.source.variables)
        # Layers of a network with state depend on all earlier samples, so these are read, too.
        chosen = ends.chosen(is_exact=self.is_exact, in_sequence=in_sequence)
        layers, why = self._layers(graph, chosen)
        count = len(ends.samples)
        equal = count - len(ends.unequal)
        return Verdict(name, count, equal, layers, why, off=ends.off, nearest=ends.ratio), chosen

    def _layers(self, graph: Graph, chosen: tuple[int, ...]) -> tuple[Comparison | None, str]:
        try:
            layers = self.traces(self.record, chosen)
        # Reading layers needs a debugger; without one the outputs are still compared.
        except ToolError as error:
            return None, str(error)
        source, reduced = self.source, self.reduced
        is_source = graph is not reduced
        shows = of_model(source, reduced) if is_source else of_reduced(source, reduced)
        states = {b.tensor for b in self.record.plan.buffers if b.is_state}
        outputs = [self._outputs(graph, i) for i in chosen]
        # The passes change the graphs inside loops, too.
        read = traced(graph, shows, layers, outputs, states, has_inner=not is_source)
        compared = self._compared(graph, chosen, read)
        # In the file's graph a name may mean another value than after the passes, which gave it.
        if compared.first and is_source:
            compared = self._rightly_named(chosen, read, compared)
        return replace(compared, unseen=unseen(self.record)), ""

    def _outputs(self, graph: Graph, sample: int) -> dict[str, Output]:
        """The firmware's outputs of a sample, without outputs that no node computes: tensor of the
        graph -> the name of the layer that computes it, and the array."""
        made = {name for node in graph.nodes for name in node.outputs}
        # Layers have the names of the model's tensors; callers may know the outputs by others.
        ports = zip(graph.outputs, self.source.outputs, self.record.outputs, strict=True)
        return {
            name: (layer, self.outputs[port.tensor][sample])
            for name, layer, port in ports
            if name in made
        }

    def _compared(self, graph: Graph, chosen: Sequence[int], read: Traced) -> Comparison:
        places = {sample: place for place, sample in enumerate(chosen)}
        layers = (
            (sample, each)
            for sample, one in self._beside(graph, chosen, read.found, read.partly)
            for each in read.also(places[sample], one)
        )
        names = {} if graph is self.source else layouts.shown(graph, self.source.types)
        return compare_layers(self.record, layers, read.absent, names)

    def _rightly_named(
        self, chosen: Sequence[int], read: Traced, compared: Comparison
    ) -> Comparison:
        """The comparison without misnamed layers. The passes may have given names of the model to
        other values, and then the firmware is right to compute the other values. Outputs are always
        compared, so errors in misnamed layers that reach an output are found."""
        samples = [self.samples[i] for i in chosen]
        wrong: dict[str, Misnamed] = {}
        for one in naming.misnamed(self.source, self.reduced, samples, registry()):
            wrong.setdefault(one.tensor, one)
        if not wrong:
            return compared
        without = read.without(wrong.keys() - {*self.source.results})
        again = self._compared(self.source, chosen, without)
        return replace(compared if again.first else again, misnamed=tuple(map(str, wrong.values())))

    def _beside(
        self,
        graph: Graph,
        chosen: Sequence[int],
        actual: Iterable[Found],
        lacking: Lacking,
        slack: Slack = no_slack,
    ) -> Iterator[tuple[int, Expected]]:
        # Every walk starts with the state of the first sample, because the firmware does.
        kept = Kept.at_first(graph)
        for i, known in zip(chosen, actual, strict=True):
            inputs = dict(zip(graph.inputs, self.samples[i], strict=True))
            every = beside.walk(
                graph, inputs, registry(), known, kept, lacking=lacking, slack=slack
            )
            for one in every:
                yield i, one

    def _of_oracle(self, oracle: Oracle, samples: Iterable[int]) -> Comparison:
        """The oracle's own layers for some samples, compared with the reference."""
        chosen = upto(samples, in_sequence=bool(self.source.variables))
        files = frontends.files(self.model)
        own = self._layers_by(oracle, "layers", [self.samples[i] for i in chosen])
        fitting = (_fitting(self.source, layers) for layers in own)
        slack = oracle.slack(files, self.source)
        layers = self._beside(self.source, chosen, fitting, {}, slack)
        return compare_layers(self.record, layers)


def _counted(verdict: Verdict, ends: Ends, explained: frozenset[int]) -> Verdict:
    """The verdict if outputs may differ on the ``explained`` samples. If the bounds from end to end
    allow any value, the firmware's layers must have been judged, too."""
    # Any value is within an infinite bound, so such a sample proves nothing without its layers.
    unjudged = (explained & ends.vague) - judged(verdict.layers)
    return replace(verdict, explained=len(explained - unjudged), unjudged=len(unjudged))


def _fitting(graph: Graph, layers: Found) -> dict[str, Array]:
    """The arrays that have the size of the graph's tensor of that name."""
    types = ((name, array, graph.types.get(name)) for name, array in layers.items())
    # ``view`` needs contiguous bytes; the oracle may use another shape of the same elements.
    return {
        name: np.ascontiguousarray(array).view(kind.dtype.numpy).reshape(kind.shape)
        for name, array, kind in types
        if kind is not None and kind.nbytes == array.nbytes
    }


def _rows(ports: Iterable[manifest.PortRecord], inputs: Mapping[str, Array]) -> list[Sample]:
    """The samples, each with one array per input in the model's order."""
    return list(zip(*(inputs[port.tensor] for port in ports), strict=True))
