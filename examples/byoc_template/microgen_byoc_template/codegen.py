"""The code generator: C that calls the vector unit's library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

from microgen.base.errors import MicrogenError
from microgen.compiler.codegens.external import (
    CFunction,
    CSource,
    ExternalCodegen,
    ExternalFunction,
)
from microgen.graph.ir.graph import Array
from microgen.relay.expr import Call, Constant, Expr, Function, Op
from microgen.target.board import Board

from .external_function import (
    elements_of,
    inside,
    outputs_of,
    refused,
    relay_of,
)
from .support import FUNCTIONS, MAX_ELEMENTS, MULTIPLY_ADD, support

_ALIGNMENT = 16  # of the scratch, and of each buffer in it


def runtime_files(*names: str) -> dict[str, bytes]:
    """Files of the folder ``runtime``."""
    folder = resources.files(__package__) / "runtime"
    return {name: (folder / name).read_bytes() for name in names}


class Vecunit(ExternalCodegen):
    """The library of the vector unit, four float32 at a time.

    Option ``max_elements``: the most elements that a tensor may have, by default 4096.
    """

    name = "vecunit"

    def __init__(self, max_elements: int = MAX_ELEMENTS) -> None:
        self.support = support(max_elements)

    def configured(self, options: Mapping[str, str]) -> Vecunit:
        """The generator for a unit of another size."""
        rest = dict(options)
        text = rest.pop("max_elements", str(MAX_ELEMENTS))
        super().configured(rest)  # refuses all other options
        if not text.isdecimal():
            raise MicrogenError(
                f"max_elements is {text!r}, expected a number", where="--codegen-option"
            )
        return Vecunit(int(text))

    def compile(
        self,
        functions: Sequence[ExternalFunction],
        board: Board,  # noqa: ARG002
    ) -> Sequence[CSource]:
        """One source file with all functions, and the library's files."""
        written = [_Writer(function) for function in functions]
        code = "\n\n".join(['#include "vecunit.h"', *(writer.code() for writer in written)])
        return [
            CSource(
                functions=tuple(writer.declared() for writer in written),
                code=code,
                files=runtime_files("vecunit.h", "vecunit.c"),
            )
        ]


class _Writer:
    """One function: each call of an operator becomes a call of the library."""

    def __init__(self, function: ExternalFunction) -> None:
        self.function = function
        params = relay_of(function).params
        self.names: dict[Expr, str] = {param: f"in{i}" for i, param in enumerate(params)}
        self.constants: list[tuple[str, Array]] = []
        self.scratch = 0
        self.buffers: list[str] = []
        self.calls: list[str] = []
        places = {call: f"out{i}" for i, call in enumerate(outputs_of(function))}
        for expr in inside(function):
            if isinstance(expr, Constant):
                self.names[expr] = f"const_{len(self.constants)}"
                self.constants.append((self.names[expr], expr.data))
            elif isinstance(expr, Call):
                self._call(expr, places.get(expr))

    def _call(self, call: Call, place: str | None) -> None:
        elements = elements_of(self.function, call)
        self.names[call] = place or self._buffer(elements)
        name, args = self._library_call(call)
        passed = ", ".join([*(self.names[arg] for arg in args), self.names[call], str(elements)])
        self.calls.append(f"{name}({passed})")

    def _library_call(self, call: Call) -> tuple[str, Sequence[Expr]]:
        match call.op:
            case Op(name) if name in FUNCTIONS:
                return FUNCTIONS[name], call.args
            case Function(attrs={"Composite": composite}) if composite == MULTIPLY_ADD:
                return "vecunit_multiply_add", self._multiply_add(call, call.op)
        raise refused(self.function, f"the unit cannot compute {call.op}")

    def _multiply_add(self, call: Call, composite: Function) -> Sequence[Expr]:
        """The factors and the summand, as expressions outside of the composite function."""
        outside: dict[Expr, Expr] = dict(zip(composite.params, call.args, strict=True))
        total = composite.body
        assert isinstance(total, Call), "the pattern's root"
        product, addend = sorted(total.args, key=lambda arg: not isinstance(arg, Call))
        assert isinstance(product, Call), "the pattern's operand"
        return [outside[inside] for inside in (*product.args, addend)]

    def _buffer(self, elements: int) -> str:
        """Room for a result that only this function reads. ``microgen.compiler.codegens.placement``
        gives places that buffers share."""
        name, offset = f"buffer_{len(self.buffers)}", self.scratch
        self.buffers.append(f"float *{name} = (float *)(void *)&scratch[{offset}];")
        self.scratch += -(-4 * elements // _ALIGNMENT) * _ALIGNMENT
        return name

    def declared(self) -> CFunction:
        """The C function's description for microgen."""
        return CFunction(
            symbol=self.function.symbol,
            constants=tuple(self.constants),
            scratch=self.scratch,
            kernel="vecunit",
        )

    def code(self) -> str:
        """The C function: parameters are inputs, constants, outputs, scratch, in this order."""
        inputs = [f"in{i}" for i in range(len(self.function.inputs))]
        read = [*inputs, *(name for name, _ in self.constants)]
        written = [f"out{i}" for i in range(len(self.function.outputs))]
        parameters = [f"const float *{name}" for name in read]
        parameters += [f"float *{name}" for name in written]
        parameters += ["uint8_t *scratch"] if self.scratch else []
        checked = [
            f"status = {c};\nif (status != 0) {{\n    return status;\n}}" for c in self.calls
        ]
        body = "\n".join([*self.buffers, "int32_t status;", "", *checked, "return 0;"])
        lines = [f"    {line}".rstrip() for line in body.split("\n")]
        head = f"int32_t {self.function.symbol}({', '.join(parameters)})"
        return "\n".join([head, "{", *lines, "}"])
