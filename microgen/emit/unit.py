"""What every emitted file is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from microgen import cnames
from microgen.emit import symbols
from microgen.executors.graph import ExecutorGraph
from microgen.program import MemoryPlan, Program


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """``model_file`` is quoted in comments; ``specialise`` inlines each kernel's body into its
    operator, so that the compiler knows the shape; otherwise operators call the shared form.
    ``interface`` is "c" or "packed": what the entry point is. ``unpacked``: operators take plain
    pointers, else DLTensors by the packed convention. Constants are aligned to
    ``constant_alignment`` bytes. The target's pointers have ``pointer_bytes``."""

    model_file: str
    specialise: bool = True
    interface: str = "c"
    unpacked: bool = True
    constant_alignment: int = 4
    pointer_bytes: int = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """One model: its program, where its buffers lie, and how it is to be emitted; ``graph``: what
    the graph executor runs, where that runs it. ``shares_workspace``: its pool takes no memory of
    its own, but lies in that of ``emit.shared``."""

    program: Program
    plan: MemoryPlan
    options: EmitOptions
    graph: ExecutorGraph | None = None
    shares_workspace: bool = False

    @property
    def module(self) -> str:
        """The module's name."""
        return self.program.module

    @property
    def prefix(self) -> str:
        """``tvmgen_<module>``."""
        return symbols.prefix(self.module)

    @property
    def arena(self) -> str:
        """The symbol of the workspace pool."""
        return symbols.arena(self.module, self.plan.pools[0].name)

    @property
    def has_registry(self) -> bool:
        """Whether functions of the model are called by name."""
        return self.options.interface == "packed" or self.graph is not None

    def place(self, buffer: str) -> str:
        """The address of a planned buffer, as a constant expression of C."""
        return f"&{self.arena}[{self.plan.by_name[buffer].offset}]"

    def implementation(self, function: str) -> str:
        """The symbol of the function with plain pointers that computes an operator."""
        return symbols.implementation(function, is_packed=not self.options.unpacked)

    def common(self, guard: str = "") -> dict[str, Any]:
        """What every template gets; ``guard`` tells this file's include guard from others'."""
        return {
            "module": self.module,
            "prefix": self.prefix,
            "macro_prefix": self.prefix.upper(),
            "model": cnames.comment(self.options.model_file),
            "guard": f"{self.prefix.upper()}_{guard}H_",
            "workspace_bytes": self.plan.peak,
            "interface": self.options.interface,
            "unpacked": self.options.unpacked,
        }
