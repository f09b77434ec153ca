"""A generator that makes no C: it puts a tape of commands into the module blob, and a runtime on
the board loads and plays the tape."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from microgen.base.formats.c_layout import struct_bytes
from microgen.compiler.codegens.external import (
    ExternalCodegen,
    ExternalFunction,
    LoadedModule,
    Runtime,
    RuntimeFunction,
)
from microgen.compiler.codegens.module_pool import aligned
from microgen.relay.expr import Call, Expr, Op
from microgen.relay.transform import OperatorCall, Support
from microgen.target.board import Board

from .codegen import runtime_files
from .external_function import (
    elements_of,
    inside,
    outputs_of,
    refused,
    relay_of,
)
from .payload import OPCODES, Command, Tape
from .support import MAX_ELEMENTS, predicate

RUNTIME = Runtime("vectape", "vectape", "vectape.h")
_TAPE = "pi" + "p" + "iiiii"  # the structure vectape of runtime/vectape.c
_MAX_VALUES = 256  # their numbers are bytes
_refusal = predicate(MAX_ELEMENTS)


def _takes(call: OperatorCall) -> str | None:
    if any(call.constants):
        return "it has a constant operand, which a tape cannot hold"
    return _refusal(call)


class Vectape(ExternalCodegen):
    """The vector unit, by tapes of commands in the module blob."""

    name = "vectape"
    support = Support("vectape", dict.fromkeys(OPCODES, _takes))
    runtimes = (RUNTIME,)
    payloads = MappingProxyType({RUNTIME.type_key: Tape.loads})

    def compile(
        self, functions: Sequence[ExternalFunction], board: Board
    ) -> Sequence[LoadedModule]:
        """A module for each function."""
        return [_module(function, board.cpu.pointer_bytes) for function in functions]


def _module(function: ExternalFunction, pointer_bytes: int) -> LoadedModule:
    tape = _Recorder(function)
    made = RuntimeFunction(symbol=function.symbol, workspace=tape.workspace, kernel="vectape")
    return LoadedModule(
        runtime=RUNTIME,
        functions=(made,),
        payload=tape.payload().dumps(),
        pool_bytes=aligned(struct_bytes(_TAPE, pointer_bytes)),
        files=runtime_files("vectape.h", "vectape.c"),
    )


class _Recorder:
    """One function. Values are numbered: inputs, outputs, then temporaries. Each temporary has
    a slot of the workspace. ``runtime/vectape.h`` has the format."""

    def __init__(self, function: ExternalFunction) -> None:
        self._function = function
        params, outputs = relay_of(function).params, outputs_of(function)
        self._values: dict[Expr, int] = {e: i for i, e in enumerate((*params, *outputs))}
        self._counts = [len(params), len(outputs)]
        self._ports = len(self._values)
        self._commands: list[Command] = []
        self._slot = 0
        for expr in inside(function):
            if not isinstance(expr, Call):
                raise refused(function, "it has a constant")
            self._command(expr)
        if len(self._values) > _MAX_VALUES:
            raise refused(function, f"it has more than {_MAX_VALUES} values")

    def _command(self, call: Call) -> None:
        if not isinstance(call.op, Op) or call.op.name not in OPCODES:
            raise refused(self._function, f"the unit cannot compute {call.op}")
        elements = elements_of(self._function, call)
        if call not in self._values:
            self._values[call] = len(self._values)
            self._slot = max(self._slot, -(-4 * elements // 16) * 16)
        left, right = self._values[call.args[0]], self._values[call.args[-1]]
        out = self._values[call]
        self._commands.append((OPCODES[call.op.name], left, right, out, elements))

    @property
    def _temporaries(self) -> int:
        return len(self._values) - self._ports

    @property
    def workspace(self) -> int:
        """Bytes of all temporaries."""
        return self._temporaries * self._slot

    def payload(self) -> Tape:
        """The module's payload."""
        inputs, outputs = self._counts
        header = (inputs, outputs, self._temporaries, self._slot)
        return Tape(self._function.symbol, header, tuple(self._commands))
