"""The C of one external function: a static function for each call of an operator, a static function
that calls these, and the entry. As in TVM's guide, the calls are numbered from the result."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from microgen.compiler.codegens import placement
from microgen.compiler.codegens.external import CFunction, ExternalFunction
from microgen.planner.program.kernel_call import ctype
from microgen.tvm.codegens.ccompiler.flow import Flow, OperatorStep, flow_of
from microgen.tvm.codegens.ccompiler.operators import OPERATORS, Use


@dataclass(frozen=True, slots=True)
class Written:
    """The code of a function, its description for microgen, the macros that it uses, and whether
    it calls memcpy."""

    function: CFunction
    code: str
    macros: tuple[Use, ...]
    copies: bool


def written(function: ExternalFunction, symbols: Collection[str]) -> Written:
    """The C of ``function``. ``symbols`` are names that no static function may have. Raises
    UnsupportedError for a feature that the generator does not support."""
    flow = flow_of(function)
    names = _names(function.symbol, flow, symbols)
    # Results are computed in the caller's memory, all other values in the scratch.
    offsets, scratch = placement.placed(_spans(flow))
    places = _places(flow)
    copies = _copies(flow, places)
    body = [
        *(_buffer(step, places, offsets) for step in flow.steps if step.value in offsets),
        *(_call(step, names, places) for step in flow.steps),
        *copies,
        # An input that nothing reads would be an unused parameter, and a warning.
        *(f"(void){name};" for name in flow.inputs if name not in flow.read),
    ]
    made = CFunction(
        symbol=function.symbol,
        constants=tuple((name, array) for name, array in flow.constants.items()),
        scratch=scratch,
        kernel="ccompiler",
    )
    declarations = [_declaration(s, names) for s in sorted(flow.steps, key=lambda s: s.number)]
    functions = _functions(function, made, names[-1], body)
    code = "\n\n".join(["\n".join(declarations), *functions] if declarations else functions)
    return Written(made, code, tuple(_use(s) for s in flow.steps), bool(copies))


def _names(symbol: str, flow: Flow, symbols: Collection[str]) -> dict[int, str]:
    """The static functions' names by the number of the call; -1 is the function that calls them."""
    names: dict[int, str] = {}
    for number in (-1, *(step.number for step in flow.steps)):
        name = f"{symbol}_" if number < 0 else f"{symbol}_{number}"
        while name in symbols or name in names.values():
            # Another external function may have the name ``<symbol>_<number>``.
            name += "_"
        names[number] = name
    return names


def _spans(flow: Flow) -> list[placement.BufferSpan]:
    """The lifetimes of results that are not outputs of the function."""
    last = {name: at for at, step in enumerate(flow.steps) for name in step.arguments}
    return [
        placement.BufferSpan(step.value, step.nbytes, at, last[step.value])
        for at, step in enumerate(flow.steps)
        if step.value not in flow.results
    ]


def _places(flow: Flow) -> dict[str, str]:
    """The C name of each value: its parameter, or a buffer."""
    places = {name: name for name in (*flow.inputs, *flow.constants)}
    inner = [step.value for step in flow.steps if step.value not in flow.results]
    places.update({value: f"buf_{i}" for i, value in enumerate(inner)})
    for i, value in enumerate(flow.results):
        # A value that is several outputs is computed in the first of them.
        places.setdefault(value, f"out{i}")
    return places


def _copies(flow: Flow, places: Mapping[str, str]) -> list[str]:
    """Copies for outputs that are an input, a constant, or equal to an earlier output."""
    return [
        f"memcpy(out{i}, {places[value]}, {nbytes});"
        for i, (value, nbytes) in enumerate(zip(flow.results, flow.result_bytes, strict=True))
        if places[value] != f"out{i}"
    ]


def _buffer(step: OperatorStep, places: Mapping[str, str], offsets: Mapping[str | int, int]) -> str:
    # By way of void, because the scratch is aligned, but a cast from uint8_t * alone draws a
    # warning.
    element, offset = ctype(step.type.dtype), offsets[step.value]
    return f"{element} *{places[step.value]} = ({element} *)(void *)&scratch[{offset}];"


def _call(step: OperatorStep, names: Mapping[int, str], places: Mapping[str, str]) -> str:
    arguments = (places[value] for value in (*step.arguments, step.value))
    return f"{names[step.number]}({', '.join(arguments)});"


def _declaration(step: OperatorStep, names: Mapping[int, str]) -> str:
    use, shape = _use(step), step.type.shape
    dims = shape if len(shape) == use.rank else (math.prod(shape),)
    arguments = (names[step.number], OPERATORS[step.op].texts[use.dtype], *map(str, dims))
    return f"{use.macro}({', '.join(arguments)});"


def _use(step: OperatorStep) -> Use:
    """The macro's use. Tensors of two dimensions are iterated by rows and columns, all other
    tensors as one row."""
    return Use(OPERATORS[step.op].form, step.type.dtype, 2 if len(step.type.shape) == 2 else 1)


def _functions(
    function: ExternalFunction, made: CFunction, inner: str, body: list[str]
) -> list[str]:
    """The function that calls the operators, and the entry around it."""
    parameters = function.declarations(made)
    passed = [parameter.rpartition("*")[2] for parameter in parameters]
    return [
        _defined(f"static void {inner}", parameters, body),
        _defined(
            f"int32_t {made.symbol}", parameters, [f"{inner}({', '.join(passed)});", "return 0;"]
        ),
    ]


def _defined(head: str, parameters: list[str], body: list[str]) -> str:
    lines = ",\n    ".join(parameters)
    return "\n".join([f"{head}(\n    {lines})", "{", *(f"    {line}" for line in body), "}"])
