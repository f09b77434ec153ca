"""Tiny programs for planner tests: calls that read and write named buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from microgen.graph.ir.graph import ArrayType, DType, Origin
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.steps import Step
from microgen.planner.program.types import (
    Argument,
    Buffer,
    InPlace,
    Parameter,
    PrimFunc,
    Program,
    Role,
    RunnerCall,
    Storage,
)

INT8 = ArrayType((1,), DType.INT8)


def _step(name: str) -> Step:
    return Step("copy", Origin("test", name), name, INT8, summary="", kernel="k", reason="")


@dataclass
class Builder:
    """Collects buffers and calls.

    ``"input"``, ``"output"`` and ``"constant"`` are names of tensors that are not planned. Every
    other name is a sid.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    functions: list[PrimFunc] = field(default_factory=list)
    calls: list[RunnerCall] = field(default_factory=list)

    def call(
        self,
        reads: Sequence[str],
        writes: Mapping[str, int] | Sequence[str],
        *,
        scratch: int = 0,
        in_place: Sequence[tuple[int, int] | tuple[int, int, int]] = (),
    ) -> Builder:
        """Adds a call. ``writes`` maps new buffers to bytes.

        ``in_place`` are pairs of (number of the read, number of the write), perhaps with a lag.
        Scratch is the first parameter, so positions of parameters and of arguments differ.
        """
        k = len(self.calls)
        if isinstance(writes, Mapping):
            self.sizes.update((n, size) for n, size in writes.items() if n != "output")
        roles = [Role.SCRATCH] * bool(scratch)
        roles += [self._role(name) for name in reads]
        roles += [Role.OUTPUT] * len(writes)
        parameters = tuple(Parameter(f"a{i}", "int8_t", role) for i, role in enumerate(roles))
        self.functions.append(PrimFunc(f"f{k}", "c", parameters, ()))
        base = bool(scratch)
        pairs = tuple(InPlace(base + i, base + len(reads) + o, *lag) for i, o, *lag in in_place)
        self.calls.append(
            RunnerCall(
                index=k,
                function=f"f{k}",
                args=tuple(_argument(name) for name in (*reads, *writes)),
                scratch=scratch,
                in_place=pairs,
                steps=(_step(f"layer_{k}"),),
            )
        )
        return self

    def variable(self, name: str, nbytes: int) -> Builder:
        """Declares a variable; the calls that read it update it."""
        self.sizes[name] = nbytes
        self.variables.add(name)
        return self

    def _role(self, name: str) -> Role:
        if name == "constant":
            return Role.CONSTANT
        return Role.STATE if name in self.variables else Role.INPUT

    def build(self) -> Program:
        """The program."""
        buffers = tuple(
            Buffer(name, size, name, name in self.variables) for name, size in self.sizes.items()
        )
        return Program("default", (), (), tuple(self.functions), tuple(self.calls), buffers, (), {})


def _argument(name: str) -> Argument:
    ports = {"input": Storage.INPUT, "output": Storage.OUTPUT, "constant": Storage.CONSTANT}
    return Argument(ports.get(name, Storage.SID), name)


def chain(sizes: Sequence[int], *, in_place: Sequence[int] = ()) -> Program:
    """The program input -> sid_0 -> sid_1 -> ... -> output.

    ``in_place`` are the numbers of the calls that may work in place.
    """
    builder = Builder()
    names = [f"sid_{i}" for i in range(len(sizes))]
    builder.call(["input"], {names[0]: sizes[0]})
    for k in range(1, len(sizes)):
        pairs = [(0, 0)] if k in in_place else []
        builder.call([names[k - 1]], {names[k]: sizes[k]}, in_place=pairs)
    builder.call([names[-1]], ["output"])
    return builder.build()


def changed(plan: MemoryPlan, name: str, **changes: Any) -> MemoryPlan:
    """The plan with one placement changed."""
    placements = tuple(replace(p, **changes) if p.name == name else p for p in plan.placements)
    return with_placements(plan, placements)


def with_placements(plan: MemoryPlan, placements: Sequence[Any]) -> MemoryPlan:
    """The plan with other placements and a matching index."""
    return replace(plan, placements=tuple(placements), by_name={p.name: p for p in placements})
