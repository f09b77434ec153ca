"""Concatenations of many parts, which several calls compute: each writes its run of the result.

In one call, the C function would have a pointer for each part. C99 promises 127 parameters, and
compilers take long for a function of thousands of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from microgen.compiler.codegens.base import Primitive, Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.graph.ir.graph import ArrayType, Graph
from microgen.planner.program.kernel_call import KernelCall
from microgen.planner.program.steps import Around, NotStored, Output, Step
from microgen.planner.program.types import InPlace, Role, RowRun

MOST = 16  # parts of one call


@dataclass(frozen=True, slots=True)
class RunCall:
    """A call that writes a run of a concatenation. ``start``: the first byte of the result that its
    output points to. ``result`` is the output's type as the call sees it: the whole result, or the
    rows of the run."""

    primitive: Primitive
    start: int
    run: RowRun
    result: ArrayType


def count(region: Region) -> int:
    """The number of calls that compute a region."""
    if not _is_wide(region):
        return 1
    return -(-len(region.main.inputs) // MOST)


def of(
    region: Region, primitive: Primitive, graph: Graph, *, is_whole: bool
) -> tuple[RunCall, ...]:
    """The calls that compute a region together, in order; none if one call computes it. The outputs
    of calls point to their runs, unless each output ``is_whole``."""
    if not _is_wide(region):
        return ()
    starts = range(0, len(primitive.body), MOST)
    bodies = [primitive.body[start : start + MOST] for start in starts]
    calls = [_of_parts(primitive, graph, body, is_whole=is_whole) for body in bodies]
    *others, last = calls
    why = NotStored("a later call writes the rest of it")
    return (*(_with_place(one, why) for one in others), _with_place(last, _behind(last.start)))


def with_start(step: Step, start: int) -> Step:
    """The step of a result whose last part is a concatenation of which a call writes the run from
    ``start`` on."""
    if start and isinstance(step.place, Around):
        return replace(step, place=replace(step.place, before=step.place.before + start))
    return step


def _is_wide(region: Region) -> bool:
    if region.codegen != BUILTIN or region.function or region.is_rolled or region.is_assembled:
        return False
    if region.target:  # it may have a device's context
        return False
    # A region of several layers has a function with inner buffers.
    return [node.op for node in region.nodes] == ["concatenate"] and (
        len(region.main.inputs) > MOST
    )


def _behind(start: int) -> Around | Output:
    return Around(0, start) if start else Output()


def _with_place(call: RunCall, place: Around | Output | NotStored) -> RunCall:
    (step,) = call.primitive.steps
    own = replace(call.primitive, steps=(replace(step, place=place),))
    return replace(call, primitive=own)


def _of_parts(
    primitive: Primitive, graph: Graph, body: Sequence[KernelCall], *, is_whole: bool
) -> RunCall:
    """The call of some of the kernels of a concatenation, one for each part."""
    pointers = [p for p in primitive.parameters if p.role is not Role.SCRATCH]
    tensors = (*primitive.inputs, *primitive.constants, *primitive.outputs)
    given = {p.name: (p, tensor) for p, tensor in zip(pointers, tensors, strict=True)}
    # Functions with equal parts are equal, so parameters are numbered anew.
    names = {str(kernel.args[0]): f"in{place}" for place, kernel in enumerate(body)}
    parts = {name: given[name] for name in names}
    by_role = {
        role: [name for name, (p, _) in parts.items() if p.role is role]
        for role in (Role.INPUT, Role.CONSTANT)
    }
    order = [*by_role[Role.INPUT], *by_role[Role.CONSTANT]]
    parameters = [replace(given[name][0], name=names[name]) for name in order]
    start, run = _run(body)
    shift = 0 if is_whole else start
    made = replace(
        primitive,
        parameters=(*parameters, pointers[-1]),
        body=tuple(_moved(kernel, names, shift) for kernel in body),
        inputs=tuple(str(parts[name][1]) for name in by_role[Role.INPUT]),
        constants=tuple(
            replace(one, name=names[one.name]) for one in primitive.constants if one.name in names
        ),
        in_place=_pairs(primitive, [p.name for p in parameters]) if start == 0 else (),
    )
    whole = graph.types[primitive.outputs[0]]
    read = ", ".join(str(graph.types[name]) for name in made.inputs)
    summary = f"{read or 'constant'} -> {whole}"
    made = replace(made, steps=tuple(replace(one, summary=summary) for one in made.steps))
    if is_whole:
        return RunCall(made, 0, replace(run, offset=start), whole)
    rows = ArrayType((run.rows, run.nbytes // whole.dtype.nbytes), whole.dtype)
    return RunCall(made, start, run, rows)


def _run(body: Sequence[KernelCall]) -> tuple[int, RowRun]:
    """The offset of the first part in each row of the result, and the run of all parts."""
    each = [{k: v for k, v in kernel.params if isinstance(v, int)} for kernel in body]
    first, nbytes = each[0], sum(one["input_row"] for one in each)
    return first["offset"], RowRun(rows=first["rows"], nbytes=nbytes, pitch=first["output_row"])


def _moved(kernel: KernelCall, names: dict[str, str], shift: int) -> KernelCall:
    """A kernel with other names, for an output that begins ``shift`` bytes later."""
    params = tuple(
        (name, value - shift) if name == "offset" and isinstance(value, int) else (name, value)
        for name, value in kernel.params
    )
    args = tuple(names.get(str(each), each) for each in kernel.args)
    return replace(kernel, params=params, args=args)


def _pairs(primitive: Primitive, parameters: Sequence[str]) -> tuple[InPlace, ...]:
    """The pairs of the whole, for the first call. The only input that they name is the first."""
    names = [parameter.name for parameter in primitive.parameters]
    return tuple(
        InPlace(parameters.index(names[pair.input]), len(parameters), pair.lag)
        for pair in primitive.in_place
    )
