"""What every emitted file is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from microgen import cnames
from microgen.emit import symbols
from microgen.program import MemoryPlan, Program


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """``model_file`` is quoted in comments; ``specialise`` inlines each kernel's body into its
    operator, so that the compiler knows the shape; otherwise operators call the shared form."""

    model_file: str
    specialise: bool = True


@dataclass(frozen=True, slots=True)
class Unit:
    """One model: its program, where its buffers lie, and how it is to be emitted."""

    program: Program
    plan: MemoryPlan
    options: EmitOptions

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

    def common(self, guard: str = "") -> dict[str, Any]:
        """What every template gets; ``guard`` tells this file's include guard from others'."""
        return {
            "module": self.module,
            "prefix": self.prefix,
            "macro_prefix": self.prefix.upper(),
            "model": cnames.comment(self.options.model_file),
            "guard": f"{self.prefix.upper()}_{guard}H_",
            "workspace_bytes": self.plan.peak,
        }
