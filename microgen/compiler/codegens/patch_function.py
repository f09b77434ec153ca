"""One row of a patch, as a primitive function that the function of its group calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from microgen.compiler.codegens import placement
from microgen.compiler.codegens.base import Primitive
from microgen.compiler.codegens.placement import BufferSpan
from microgen.graph.ir.graph import ArrayType, Graph
from microgen.graph.rows.patches import Patch
from microgen.planner.program.rolling import (
    Columns,
    CopiedColumns,
    KernelPart,
    PatchLoop,
    PatchPart,
    When,
    WideColumns,
)
from microgen.planner.program.types import Inner, Parameter, Role


def primitive(patch: Patch, primitives: Sequence[Primitive], graph: Graph) -> Primitive:
    """The function of a patch. ``primitives`` compute the tiles of its nodes, in order."""
    spans = _spans(patch, [one.scratch for one in primitives], graph)
    offsets, nbytes = placement.placed(spans)
    parts = tuple(
        _part(number, one, patch, offsets, graph) for number, one in enumerate(primitives)
    )
    pairs = zip(primitives, parts, strict=True)
    every = [parameter for one, part in pairs for parameter in _constants(one, part)]
    data = next(p for p in primitives[0].parameters if p.role is Role.INPUT)
    out = next(p for p in primitives[-1].parameters if p.role is Role.OUTPUT)
    parameters = [replace(data, name="in0"), *every, replace(out, name="out0")]
    parameters += [Parameter("scratch", "uint8_t", Role.SCRATCH)] if nbytes else []
    kind, wide = graph.types[patch.data], graph.types[patch.nodes[0].outputs[0]]
    return replace(
        primitives[-1],
        parameters=tuple(parameters),
        body=(),
        inputs=(patch.data,),
        constants=tuple(constant for one in primitives for constant in one.constants),
        scratch=nbytes,
        in_place=(),
        steps=tuple(step for one in primitives for step in one.steps),
        words=(*primitives[-1].words, "patch"),
        patch=PatchLoop(
            steps=_steps(patch),
            count=patch.height,
            rows=patch.rows.extent,
            stride=patch.rows.stride,
            above=patch.rows.above,
            height=wide.shape[1],
            pitch=kind.size // kind.shape[1],
            wide=_wide(patch, offsets, graph),
            parts=parts,
            copied=_copied(patch, offsets, graph) if patch.copied else None,
        ),
    )


def scratch(patch: Patch, own: Sequence[int], graph: Graph) -> int:
    """Bytes of scratch that the patch needs if its kernels need ``own``, in order."""
    _, nbytes = placement.placed(_spans(patch, own, graph))
    return nbytes


def _steps(patch: Patch) -> int:
    return max(timing.end for timing in patch.columns.timings.values())


def _column(kind: ArrayType) -> int:
    """Bytes of a column of a row."""
    return kind.nbytes // (kind.shape[1] * kind.shape[2])


def _spans(patch: Patch, own: Sequence[int], graph: Graph) -> list[BufferSpan]:
    """The buffers of the copied data and of the inner tensors, and each part's own scratch under
    its number."""
    wide, *others = (node.outputs[0] for node in patch.nodes[:-1])
    last = len(patch.nodes) - 1
    nbytes = patch.rows.extent * patch.wide * _column(graph.types[wide])
    spans = [BufferSpan(wide, nbytes, 0, last)]
    if patch.copied:
        each = patch.window.extent * patch.copied * _column(graph.types[patch.data])
        spans.append(BufferSpan(patch.data, each, 0, last))
    for number, name in enumerate(others, 1):
        # Every column is read in the step in which it is computed.
        each = patch.columns.buffers[name].rows * _column(graph.types[name])
        spans.append(BufferSpan(name, each, number, number + 1))
    # Sums are kept from one step to the next.
    firsts = [0 if patch.is_summed and k == last else k for k in range(len(own))]
    return spans + [BufferSpan(k, each, firsts[k], k) for k, each in enumerate(own) if each]


def _copied(patch: Patch, offsets: Mapping[str | int, int], graph: Graph) -> CopiedColumns:
    kind, timing = graph.types[patch.data], patch.columns.timings[patch.data]
    column, buffer = _column(kind), patch.columns.buffers[patch.data]
    # The window of a row of the wide tensor, and how far that of the next row is below it.
    down = patch.window.stride // patch.rows.stride
    return CopiedColumns(
        When(timing.first, timing.period, timing.count),
        offset=offsets[patch.data],
        rows=patch.window.extent,
        nbytes=buffer.rows * column,
        new=timing.rows * column,
        stride=timing.rows * kind.shape[3],
        end=buffer.end,
        fill=kind.zero & 0xFF,
        between=down * buffer.rows * column,
    )


def _wide(patch: Patch, offsets: Mapping[str | int, int], graph: Graph) -> WideColumns:
    name = patch.nodes[0].outputs[0]
    buffer, column = patch.columns.buffers[name], _column(graph.types[name])
    fill = graph.types[name].zero & 0xFF  # a negative zero point as the value of its byte
    return WideColumns(
        offsets[name], buffer.rows * column, buffer.timing.rows * column, buffer.end, fill
    )


def _constants(one: Primitive, part: PatchPart) -> list[Parameter]:
    """The parameters of the patch's function for the constants of a part."""
    pairs = zip(one.parameters, part.args, strict=True)
    return [replace(p, name=str(arg)) for p, arg in pairs if p.role is Role.CONSTANT]


def _part(
    number: int,
    one: Primitive,
    patch: Patch,
    offsets: Mapping[str | int, int],
    graph: Graph,
) -> PatchPart:
    (result,), (kernel,) = one.outputs, one.body
    timing = patch.columns.timings[result]
    args: list[str | Inner | Columns] = []
    for parameter in one.parameters:
        if parameter.role is Role.CONSTANT:
            args.append(f"{parameter.name}_{number}")
            continue
        if parameter.role is Role.SCRATCH:
            args.append(Inner(offsets[number], parameter.ctype))
            continue
        is_result = parameter.role is Role.OUTPUT
        tensor = result if is_result else one.inputs[0]
        if is_result and patch.is_summed and number:
            args.append("out0")
        elif tensor in offsets:
            args.append(Inner(offsets[tensor], parameter.ctype))
        else:
            kind = graph.types[tensor]
            each = timing.rows * kind.size // (kind.shape[1] * kind.shape[2])
            args.append(Columns("out0" if is_result else "in0", each))
    return PatchPart(
        When(timing.first, timing.period, timing.count),
        KernelPart(one.words, one.parameters, kernel, ()),
        tuple(args),
        result,
        timing.rows,
    )
