"""Converts TFLite flatbuffers to the graph: first records, then layers in the file's order."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import PurePath

from microgen.base.errors import ModelError, UnsupportedError, few, short
from microgen.frontends import open_sizes, rolled
from microgen.frontends.numerics import Numerics
from microgen.frontends.rounds import MostRounds
from microgen.frontends.tflite import (
    advice,
    composites,
    importers,
    named_ports,
    ordering,
    records,
    refusals,
    resizing,
)
from microgen.frontends.tflite import signature as identifier
from microgen.frontends.tflite.constants import SMALL
from microgen.frontends.tflite.layers import Fix, Importing
from microgen.frontends.tflite.records import FileRecord
from microgen.frontends.tflite.tensors import FileTensors
from microgen.frontends.tflite.variables import WITHOUT_OUTPUTS, Variables
from microgen.graph import unsigned
from microgen.graph.builder import GraphBuilder
from microgen.graph.ir.graph import Graph, Origin
from microgen.graph.ops.reductions.reduction import SumAttrs


def load(
    data: bytes,
    *,
    file: str,
    numerics: Numerics,
    signature: str = "",
    max_rounds: Sequence[str] = (),
) -> Graph:
    """The graph of a model; ``file`` is its name in messages and Origins. ``signature`` names one
    of the model's signatures, by default the first. ``max_rounds`` (``LAYER=N``) are the most
    rounds of loops whose number of rounds depends on data.

    Raises ModelError if the bytes are malformed or contradict themselves, and UnsupportedError if
    the model is sound but uses a feature that microgen does not have.
    """
    identifier.check(data, file)

    def with_profile(profile: Numerics) -> Graph:
        return _loaded(data, file, profile, signature, max_rounds)

    return advice.loaded(with_profile, numerics)


def _loaded(
    data: bytes, file: str, numerics: Numerics, signature: str, max_rounds: Sequence[str]
) -> Graph:
    # Decompositions first, so that all checks see the operators that will be imported.
    model = composites.inlined(records.read(data, file, signature))
    tensors = FileTensors(model.tensors, model.inputs, model.outputs, model.labels)
    refusals.check(model, tensors.names, numerics)
    resizing.check(model)
    # All checks come before the first node, so that importers can trust the records.
    _check_operators(model)
    ordering.check(model, tensors)
    graph = GraphBuilder()
    most = MostRounds(open_sizes.rounds(max_rounds))
    shared = Importing(model, tensors, numerics, graph, Variables(model, graph), most=most)
    importers.run(model.operators, shared)
    most.check(file)
    return _graph(model, shared)


def _check_operators(model: FileRecord) -> None:
    """Raise unless the graph has inputs and outputs, and every operator has an output."""
    file = model.reader.file
    for index, operator in enumerate(model.operators):
        # Operators that only set variables need no output.
        if not operator.outputs and operator.name not in WITHOUT_OUTPUTS:
            raise ModelError(f"operator {index} ({operator.name}) has no output", where=file)
    for kind, layers in (
        ("operators", model.operators),
        ("inputs", model.inputs),
        ("outputs", model.outputs),
    ):
        if not layers:
            raise ModelError(f"has no {kind}", where=file, hint="give a model with both")


def _graph(model: FileRecord, shared: Importing) -> Graph:
    file, tensors = shared.reader.file, shared.tensors
    fixed = _fixed({tensors.names[index] for index in model.inputs}, shared.fixes)
    inputs = [_port(tensors, index, file) for index in model.inputs]
    outputs = [_port(tensors, index, file) for index in model.outputs]
    # uint8 ports are int8 inside; the conversions are put between them and the network.
    unsigned.connect(shared.graph, inputs, outputs)
    ends = ([port.tensor for port in side] for side in (inputs, outputs))
    updates = shared.variables.updates()
    graph = shared.graph.graph(PurePath(file).stem, *ends, fixed=fixed, updates=updates)
    return _named(rolled.rolled(graph), model, tensors)


def _named(graph: Graph, model: FileRecord, tensors: FileTensors) -> Graph:
    """The graph with the names by which callers know its inputs and outputs: those of the
    signature, and further those of the tensors."""
    given, made = model.given, model.made
    # Without a signature these are the names that the tensors would have.
    plain = FileTensors(model.tensors).names
    aliases = tuple(
        tuple(dict.fromkeys((plain[index], *given.others.get(index, ()))))
        for index in (model.inputs if given.names else ())
    )
    # Without a signature these are the fields' first names in C.
    numbered = named_ports.numbered(made, model.listed[1])
    seconds = tuple(
        (plain[index], *own) for index, own in zip(model.outputs, numbered, strict=True)
    )
    return dataclasses.replace(
        graph,
        input_aliases=aliases,
        output_names=named_ports.called(made, tensors.names),
        output_aliases=seconds,
        details=_details(tensors),
        notes=(*graph.notes, *filter(None, (given.note, made.note)), *_sums(graph)),
    )


def _sums(graph: Graph) -> tuple[str, ...]:
    """A note if LiteRT does not compute sums that the file has."""
    names = [
        f'"{short(node.outputs[0])}"'
        for node in graph.nodes
        if isinstance(node.attrs, SumAttrs) and node.attrs.is_unsigned
    ]
    # Its kernel reads the bytes of int8 as uint8.
    text = "results that are no sums, because LiteRT's SUM is wrong for int8"
    return (f"has {text} (--numerics tflm adds): {few(names)}",) if names else ()


def _details(tensors: FileTensors) -> tuple[str, ...]:
    """A note if the file declares other shapes than its operators compute."""
    shapes = [
        f'"{short(name)}" is {list(computed)}, not {list(declared)}'
        for name, (declared, computed) in tensors.redeclared.items()
    ]
    # Files whose batch is open have hundreds of such tensors, and two lines say it as well.
    return (f"declares shapes that its operators do not compute: {few(shapes)}",) if shapes else ()


def _fixed(fed: Collection[str], fixes: Sequence[Fix]) -> dict[str, tuple[int, ...]]:
    """Inputs of the graph that operators read only as parameters, each with its only value."""
    fixed: dict[str, tuple[int, ...]] = {}
    for fix in fixes:
        # A firmware's shapes are fixed, so a value that changes at run time cannot decide them.
        if fix.tensor not in fed:
            raise UnsupportedError(
                f'needs "{short(fix.tensor)}" to be a constant or an input, but it is computed',
                where=str(fix.origin),
                hint="convert the model with fixed shapes",
            )
        # Two layers that need different values of one input can never both run.
        if fixed.setdefault(fix.tensor, fix.value) != fix.value:
            raise ModelError(
                f'needs "{short(fix.tensor)}" to be {list(fix.value)}, another layer '
                f"{list(fixed[fix.tensor])}",
                where=str(fix.origin),
            )
    return fixed


def _port(tensors: FileTensors, index: int, file: str) -> unsigned.UnsignedPort:
    """An input or output of the graph. UnsupportedError if it has a scale per channel, or a dtype
    that only constants have."""
    tensor, inner = tensors.port(index, file), tensors.get(index, file)
    stored = tensors.records[index].dtype
    if stored in SMALL:
        raise UnsupportedError(
            f'"{short(tensor.name)}", an input or output of the graph, is {stored}',
            where=file,
            hint=f"supported: {stored} for constants that operators read",
        )
    quant = tensor.type.quant
    if quant is not None and not quant.is_per_tensor:
        raise UnsupportedError(
            f'"{short(tensor.name)}", an input or output of the graph, has a scale per channel',
            where=file,
            hint="convert the model with one scale for each input and output",
        )
    return unsigned.UnsignedPort(tensor, inner, Origin(file, tensors.names[index]))
