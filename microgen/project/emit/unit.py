"""The model and the options from which every C file is emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from microgen.base.names import cnames
from microgen.planner.executors.graph import ExecutorGraph
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import FirmwareConstant, Program
from microgen.project.emit import symbols, tables


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """Options of the emitted C.

    ``model_file`` is quoted in comments.
    ``interface`` is "c" or "packed" and decides the form of the entry point. ``unpacked``:
    operators take plain pointers instead of DLTensors. Constants are aligned to
    ``constant_alignment`` bytes, and the target's pointers have ``pointer_bytes``. ``blob_prefix``
    begins the name of the blob if each of several models has one.
    """

    model_file: str
    interface: str = "c"
    unpacked: bool = True
    constant_alignment: int = 4
    pointer_bytes: int = 4
    blob_prefix: str = ""


_LONGEST_NAMES = 60  # characters of the models' names in a comment


@dataclass(frozen=True)
class Unit:
    """One model: its program, the places of its buffers, and how it is emitted.

    ``graph`` is the graph executor's graph, or None. ``shares_workspace``: the pool of the model
    takes no memory of its own but lies in the memory of ``emit.memory.Shared``. ``blob`` is
    ``__tvm_dev_mblob``, empty if there is none.
    """

    program: Program
    plan: MemoryPlan
    options: EmitOptions
    graph: ExecutorGraph | None = None
    shares_workspace: bool = False
    blob: bytes = b""

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
        """The symbol of the first workspace pool, which is the whole workspace if there is only
        one."""
        return symbols.arena(self.module, self.plan.pools[0].name)

    @property
    def has_registry(self) -> bool:
        """Whether functions of the model are called by their names."""
        return self.options.interface == "packed" or self.graph is not None

    @cached_property
    def passed_pools(self) -> dict[str, str]:
        """The pools that the caller passes, each with the name of main's parameter, in order."""
        # Inputs and outputs are parameters of main, too, so pools get other names.
        ports = {port.name for port in (*self.program.inputs, *self.program.outputs)}
        return {
            pool.name: cnames.unique(f"{pool.name}_{number}_var", ports)
            for number, pool in enumerate(self.plan.passed_pools)
        }

    @cached_property
    def constants(self) -> Mapping[str, str]:
        """The ELF symbols of the constants, by their names in the program."""
        return symbols.of_constants(self.program, self.plan, has_graph=self.graph is not None)

    def constant_address(self, name: str) -> str:
        """The address of the first element of a constant that is a table in C."""
        return tables.address(self._constants_by_name[name], self.constants[name])

    @cached_property
    def _constants_by_name(self) -> Mapping[str, FirmwareConstant]:
        return {constant.name: constant for constant in self.program.constants}

    def base(self, pool: str) -> str:
        """The C expression for a pool's first byte, inside main."""
        return self.passed_pools.get(pool) or symbols.arena(self.module, pool)

    def place(self, buffer: str, offset: int = 0) -> str:
        """The address ``offset`` bytes into a planned buffer, inside main. For a pool that is part
        of the firmware it is a constant expression."""
        placed = self.plan.by_name[buffer]
        pool = self.plan.pool(placed.pool)
        if pool.port:
            apart = placed.offset + offset - pool.before
            sign = "+" if apart > 0 else "-"
            return f"((uint8_t *){pool.port} {sign} {abs(apart)})" if apart else pool.port
        return f"&{self.base(placed.pool)}[{placed.offset + offset}]"

    def field(self, buffer: str) -> str:
        """The address of a planned buffer where ``workspace_pools`` is in scope."""
        placed = self.plan.by_name[buffer]
        if placed.pool in self.passed_pools:
            return f"(uint8_t *)workspace_pools->{placed.pool} + {placed.offset}"
        return self.place(buffer)

    @property
    def structs(self) -> tuple[str, ...]:
        """The structures whose addresses ``run`` takes, in order. The type of each is the prefix
        followed by this name."""
        ports = () if self.program.has_workspace_io else ("inputs", "outputs")
        pools = ("workspace_pools",) if self.passed_pools else ()
        return (*ports, *pools, *(("devices",) if self.program.devices else ()))

    def implementation(self, function: str) -> str:
        """The symbol of the function that computes an operator from plain pointers."""
        return symbols.implementation(function, is_packed=not self.options.unpacked)

    def called(self, function: str) -> str:
        """The symbol of a function that a loop or a branch calls, which may be an operator."""
        is_operator = any(each.name == function for each in self.program.functions)
        return self.implementation(function) if is_operator else function

    def common(self, guard: str = "") -> dict[str, Any]:
        """The values that every template gets. ``guard`` distinguishes the include guards
        of different files."""
        return {
            "module": self.module,
            "prefix": self.prefix,
            "macro_prefix": self.prefix.upper(),
            "model": model_files([self]),
            "note": note_file(self.module),
            "guard": f"{self.prefix.upper()}_{guard}H_",
            "workspace_bytes": self.plan.peak,
            "interface": self.options.interface,
            "unpacked": self.options.unpacked,
        }


def note_file(module: str) -> str:
    """The header that every source of the module includes, next to them."""
    return f"{module}_note.h"


def model_files(units: Sequence[Unit]) -> str:
    """The names of the models' files, as the heads of generated files quote them."""
    return cnames.comment(", ".join(unit.options.model_file for unit in units), _LONGEST_NAMES)
