"""State of ``.onnx`` models: pairs of an output and an input, so that the output's value is the
input's in the next inference (``--state OUT=IN``).

A project's model has its pairs among the model's metadata, so that it is read again without the
option. An initialiser of such an input's name is its value before the first inference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import GraphProto, ModelProto

from microgen.base.errors import MicrogenError, ModelError, few, short
from microgen.frontends.onnx import metadata, types
from microgen.graph.ir.graph import Array, ArrayType, Graph

_KEY = "state"
_PAIRS = "pairs of its inputs and outputs"
_FLAG = "--state"
_FORM = "OUT=IN"

Pairs = Mapping[str, str]
"""The name of each input that is a state -> the output that has its next value."""


def apply(model: ModelProto, texts: Sequence[str], file: str) -> Pairs:
    """Write the pairs of ``--state`` into the model, and return all that it has.

    Raises MicrogenError for a text that names no output or no input, and for an input that would
    have two next values; ModelError if the model's own pairs are malformed.
    """
    found = {**pairs(model, file)}
    for text in texts:
        output, own = _pair(model.graph, text, f"{file}: {_FLAG}")
        if found.setdefault(own, output) != output:
            raise MicrogenError(
                f'gives the input "{short(own)}" the next values "{short(found[own])}" and '
                f'"{short(output)}"',
                where=f"{file}: {_FLAG}",
                hint="pair each input once",
            )
    if texts:
        metadata.put(model, _KEY, sorted(found.items()))
    return found


def pairs(model: ModelProto, file: str) -> Pairs:
    """The pairs that a model has. Raises ModelError if they are no pairs of its inputs and
    outputs."""
    listed = metadata.of(model, _KEY, list, _PAIRS, file)
    inputs, outputs = _names(model.graph)
    is_sound = all(len(p) == 2 and p[0] in inputs and p[1] in outputs for p in listed)
    if not is_sound or len({own for own, _ in listed}) != len(listed):
        raise metadata.malformed(_KEY, _PAIRS, file)
    return dict(listed)


def _names(graph: GraphProto) -> tuple[list[str], list[str]]:
    return [info.name for info in graph.input], [info.name for info in graph.output]


def _pair(graph: GraphProto, text: str, where: str) -> tuple[str, str]:
    """The output and the input that a text names."""
    inputs, outputs = _names(graph)
    # Both names may contain "=".
    cuts = [i for i, letter in enumerate(text) if letter == "="]
    splits = [(text[:i], text[i + 1 :]) for i in cuts if 0 < i < len(text) - 1]
    if not splits:
        raise MicrogenError(f"{short(text)!r} is not of the form {_FORM}", where=where)
    found = [(out, own) for out, own in splits if out in outputs and own in inputs]
    if len(found) > 1:
        what = f"{short(text)!r} names several pairs, because names of tensors contain ="
        raise MicrogenError(what, where=where, hint="give one of the tensors another name")
    if found:
        return found[0]
    heads = [out for out, _ in splits if out in outputs]
    kind, names = ("input", inputs) if heads else ("output", outputs)
    missing = next((own for out, own in splits if out in heads), splits[0][0])
    shown = few([f'"{short(name)}"' for name in names])
    raise MicrogenError(
        f'the model has no {kind} "{short(missing)}"', where=where, hint=f"it has {shown}"
    )


def initial(model: ModelProto, found: Pairs, file: str) -> dict[str, Array]:
    """The values that states have before the first inference, as far as the model has some. They
    are no initialisers of the model any more."""
    values: dict[str, Array] = {}
    protos = model.graph.initializer
    # From the end, because deleting an entry moves all later entries.
    for i in reversed(range(len(protos))):
        if protos[i].name in found:
            called = f'the state "{short(protos[i].name)}"'
            _, values[protos[i].name], _ = types.labelled(protos[i], called, file)
            del protos[i]
    return values


def kept(
    graph: Graph,
    inputs: Sequence[str],
    outputs: Sequence[str],
    found: Pairs,
    values: Mapping[str, Array],
    file: str,
) -> Graph:
    """The graph whose paired inputs are variables, which have the paired outputs' values in the
    next inference. Such outputs are no outputs any more, unless there would be none left.
    ``inputs`` and ``outputs`` are the model's names of the graph's.

    Raises MicrogenError if an output has another shape, dtype or scale than its input, or if no
    input is left.
    """
    sources = dict(zip(inputs, graph.inputs, strict=True))
    results = dict(zip(outputs, graph.outputs, strict=True))
    updates = {}
    for own, output in found.items():
        where = f"{file}: {_FLAG} {short(output)}={short(own)}"
        if own not in sources:
            raise MicrogenError("the input has no elements", where=where, hint="leave it out")
        _check(graph, sources[own], results[output], where)
        _check_initial(graph.types[sources[own]], values.get(own), own, where)
        updates[sources[own]] = results[output]
    left = tuple(name for name in graph.inputs if name not in updates)
    if not left:
        hint = "a network needs an input that the caller gives"
        raise MicrogenError("all inputs are states", where=f"{file}: {_FLAG}", hint=hint)
    named = zip(outputs, graph.outputs, strict=True)
    free = tuple(tensor for name, tensor in named if name not in found.values())
    return graph.replace(
        inputs=left,
        outputs=free or graph.outputs,
        variables=tuple(updates),
        updates=updates,
        initial={sources[own]: values[own] for own in found if own in values},
    )


def _check(graph: Graph, own: str, output: str, where: str) -> None:
    before, after = graph.types[own], graph.types[output]
    if before == after:
        return
    if (before.shape, before.dtype) != (after.shape, after.dtype):
        what = f"the output is {after}, and the input {before}"
    else:
        scales = [kind.quant for kind in (after, before)]
        shown = [
            f"{q.scale[0]:g} and zero point {q.zero_point[0]}" if q else "none" for q in scales
        ]
        what = f"the output has the scale {shown[0]}, and the input {shown[1]}"
    raise MicrogenError(what, where=where, hint="a state has one shape, one dtype and one scale")


def _check_initial(kind: ArrayType, value: Array | None, own: str, where: str) -> None:
    if value is None or (value.shape, value.dtype) == (kind.shape, kind.dtype.numpy):
        return
    raise ModelError(
        f'the initialiser "{short(own)}" is {value.dtype}{list(value.shape)}, and the input {kind}',
        where=where,
        hint="give the first value with --bind",
    )
