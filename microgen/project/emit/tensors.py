"""The runner's tensors if operators are packed functions. As many as possible are constants in C.

Buffers in the workspace or in read-only memory have an address at link time. Their DLTensors, and
the arguments of a call that passes nothing else, therefore take no RAM. The caller's buffers are
described on the stack, so two inferences share nothing except the model's memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from microgen.base.names import cnames
from microgen.graph.ir.graph import ArrayType
from microgen.planner.program.types import Argument, Role, RunnerCall, Storage
from microgen.project.emit import layout
from microgen.project.emit.signature import argument_types, described
from microgen.project.emit.unit import Unit

_CALLERS = (Storage.INPUT, Storage.OUTPUT)


@dataclass(slots=True)
class Tensors:
    """Every distinct tensor of a runner, numbered in the order of their first use."""

    unit: Unit
    numbers: dict[tuple[Argument, tuple[int, ...], str], int] = field(default_factory=dict)
    rows: list[tuple[int, Argument, ArrayType]] = field(default_factory=list)

    def of_call(self, call: RunnerCall) -> list[str]:
        """The C names of the tensors that a call passes, in order."""
        function = self.unit.program.function(call.function)
        args = iter(call.args)
        scratch = Argument(Storage.SID, f"scratch_{call.index}")
        arguments = [
            scratch if parameter.role is Role.SCRATCH else next(args)
            for parameter in function.parameters
        ]
        kinds = argument_types(call, function)
        return [self._name(a, kind) for a, kind in zip(arguments, kinds, strict=True)]

    def _name(self, argument: Argument, kind: ArrayType) -> str:
        # The same bytes in another shape are another tensor for a packed function.
        key = (argument, kind.shape, kind.dtype.value)
        if key not in self.numbers:
            self.numbers[key] = len(self.numbers)
            self.rows.append((self.numbers[key], argument, kind))
        return f"tensor_{self.numbers[key]}"

    def described(self, *, callers: bool) -> list[dict[str, Any]]:
        """The tensors in the caller's buffers, or all others, for templates."""
        indent = 8 if callers else 4
        return [
            {
                "name": f"tensor_{number}",
                "comment": cnames.comment(f"{argument.name}: {kind}"),
                "initialiser": self._initialiser(argument, kind, indent),
            }
            for number, argument, kind in self.rows
            if (argument.storage in _CALLERS) is callers
        ]

    def _initialiser(self, argument: Argument, kind: ArrayType, indent: int) -> str:
        facts = described(kind, self.unit)
        names = ("ndim", "shape", "code", "bits")
        values = [self._data(argument), *(str(facts[name]) for name in names)]
        return layout.call("MG_TENSOR", values, indent, end=";")

    def _data(self, argument: Argument) -> str:
        if argument.storage is Storage.CONSTANT:
            return self.unit.constant_address(argument.name)
        if argument.storage is Storage.SID:
            return self.unit.place(argument.name, argument.offset)
        at = argument.offset
        return f"((uint8_t *){argument.name} + {at})" if at else argument.name


def tensors(unit: Unit) -> dict[str, Any]:
    """The values of ``src/lib0.c.j2`` for packed operators."""
    table = Tensors(unit)
    values = {call.index: table.of_call(call) for call in unit.program.calls}
    local = {row["name"] for row in table.described(callers=True)}
    # The caller's buffers are described on the stack, so two inferences share nothing except the
    # model's memory.
    on_stack = {index for index, names in values.items() if local.intersection(names)}
    return {
        "tensors": table.described(callers=False),
        "callers_tensors": table.described(callers=True),
        "values": {index: names for index, names in values.items() if index not in on_stack},
        "values_on_stack": {index: values[index] for index in sorted(on_stack)},
        "most_args": max(map(len, values.values()), default=1),
    }
