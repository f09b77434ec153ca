"""An external function as C: its nodes' calls one after another, with the buffers between them in
its scratch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microgen.base.names import cnames
from microgen.compiler.codegens.cmsis_nn import calls
from microgen.compiler.codegens.cmsis_nn.calls import LibraryCall
from microgen.compiler.codegens.cmsis_nn.tree import LibraryForm
from microgen.compiler.codegens.external import CFunction, ExternalFunction, InnerBuffer
from microgen.compiler.codegens.placement import BufferSpan, overwriting, placed
from microgen.graph.ir.graph import Array, Graph

_FAILURE = "kTvmErrorFunctionCallInvalidArg"
_INDENT = " " * 4
_COLUMNS = 100  # of the longest line

Constants = tuple[tuple[str, Array], ...]


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """The function, its definition in C, and the functions of CMSIS-NN that it calls."""

    function: CFunction
    code: str
    called: tuple[str, ...]


def compiled(function: ExternalFunction, form: LibraryForm) -> CompiledFunction:
    """The C of a function. None of its nodes is refused."""
    graph = function.graph
    steps = [calls.of(node, graph, form) for node in graph.nodes]
    spans = _spans(graph, steps)
    offsets, scratch = placed(spans)
    operands = _operands(graph, steps)
    tensors = _tensors(graph, operands, offsets)
    constants = tuple((tensors[name], graph.constants[name]) for name in operands)
    blocks = []
    for i, (node, step) in enumerate(zip(graph.nodes, steps, strict=True)):
        # Blocks of one function share its parameters, so names get the step's number.
        names = {name: f"{name}{i}" if len(steps) > 1 else name for name, _ in step.constants}
        constants += tuple((names[name], array) for name, array in step.constants)
        used = {f"in{k}": tensors[name] for k, name in enumerate(node.inputs[: step.reads])}
        used["out"] = tensors[node.outputs[0]]
        blocks += _block(step, {**used, **names}, offsets.get(i))
    called = tuple(dict.fromkeys(step.function for step in steps))
    made = CFunction(
        symbol=function.symbol,
        constants=constants,
        scratch=scratch,
        kernel=" + ".join(called),
        places=_places(graph, spans, offsets),
    )
    lines = [_head(function, made), "{", *blocks, f"{_INDENT}return 0;", "}"]
    return CompiledFunction(made, "\n".join(lines) + "\n", called)


def _head(function: ExternalFunction, made: CFunction) -> str:
    joined = f",\n{_INDENT}".join(function.declarations(made))
    return f"int32_t {made.symbol}(\n{_INDENT}{joined})"


def _spans(graph: Graph, steps: Sequence[LibraryCall]) -> list[BufferSpan]:
    """Tensors that remain inside, by name, and the buffers of contexts, by the step's number."""
    # A result that no node reads is live in its own step only.
    last = {name: i for i, node in enumerate(graph.nodes) for name in node.inputs}
    inner = [
        BufferSpan(name, graph.types[name].nbytes, i, last.get(name, i))
        for i, node in enumerate(graph.nodes)
        for name in node.outputs
        if name not in graph.outputs
    ]
    # A context's buffer is free again after its call.
    return inner + [BufferSpan(i, s.scratch, i, i) for i, s in enumerate(steps) if s.scratch]


def _places(
    graph: Graph, spans: Sequence[BufferSpan], offsets: Mapping[str | int, int]
) -> dict[str, InnerBuffer]:
    """Where the tensors are that remain inside, and the layers that overwrite them."""
    places = {}
    for span in spans:
        if isinstance(span.key, str):
            own = (offsets[span.key], span.nbytes)
            later = overwriting(spans, offsets, own, span.first)
            layer = "" if later is None else cnames.short(graph.nodes[later].origin.layer)
            places[span.key] = InnerBuffer(offsets[span.key], layer)
    return places


def _operands(graph: Graph, steps: Sequence[LibraryCall]) -> tuple[str, ...]:
    """The constants that are passed as tensors, each once."""
    passed = [
        name
        for node, step in zip(graph.nodes, steps, strict=True)
        for name in node.inputs[: step.reads]
        if name in graph.constants
    ]
    return tuple(dict.fromkeys(passed))


def _tensors(
    graph: Graph, operands: Sequence[str], offsets: Mapping[str | int, int]
) -> dict[str, str]:
    """The C expression for each tensor."""
    return {
        **{name: f"in{i}" for i, name in enumerate(graph.inputs)},
        **{name: f"operand{i}" for i, name in enumerate(operands)},
        **{
            name: f"(int8_t *){_at(offset)}"
            for name, offset in offsets.items()
            if isinstance(name, str)
        },
        **{name: f"out{i}" for i, name in enumerate(graph.outputs)},
    }


def _at(offset: int) -> str:
    return f"&scratch[{offset}]"


def _block(step: LibraryCall, names: Mapping[str, str], offset: int | None) -> list[str]:
    lines = [f"static const {ctype} {name} = {value};" for ctype, name, value in step.statics]
    if step.per_channel:
        # CMSIS-NN only reads through these pointers, but declares them without const.
        pointers = ", ".join(f".{k} = (int32_t *){names[k]}" for k in ("multiplier", "shift"))
        lines.append(f"const cmsis_nn_per_channel_quant_params tables = {{{pointers}}};")
    if step.buffer is not None:
        lines.append(f"const cmsis_nn_context context = {_context(step, names, offset)};")
    arguments = ", ".join(argument.format_map(names) for argument in step.arguments)
    call = f"{step.function}({arguments})"
    if step.fails:
        lines += [f"if ({call} != ARM_CMSIS_NN_SUCCESS) {{", f"{_INDENT}return {_FAILURE};", "}"]
    else:
        lines.append(f"{call};")
    inside = [part for line in lines for part in _wrapped(line)]
    return [f"{_INDENT}{{", *inside, f"{_INDENT}}}"]


def _wrapped(line: str) -> list[str]:
    """A line of a block, broken after commas if it is too long."""
    first, *rest = line.split(", ")
    lines = [f"{_INDENT * 2}{first}"]
    for part in rest:
        if len(f"{lines[-1]}, {part},") <= _COLUMNS:
            lines[-1] += f", {part}"
        else:
            lines[-1] += ","
            lines.append(f"{_INDENT * 3}{part}")
    return lines


def _context(step: LibraryCall, names: Mapping[str, str], offset: int | None) -> str:
    pointer = "0"
    if step.held:
        pointer = f"(void *){names[step.held]}"
    elif offset is not None:
        pointer = _at(offset)
    return f"{{.buf = {pointer}, .size = {step.buffer}}}"
