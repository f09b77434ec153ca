"""The result of compiling a model, with the answers that TVM's AOT code generator gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from microgen.base.errors import MicrogenError
from microgen.base.files import FileTree
from microgen.base.manifest import Manifest
from microgen.compiler.partition import Partition
from microgen.compiler.partition.external import Idle
from microgen.graph.ir.graph import Array, Graph
from microgen.planner.program.external import ExternalModule
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import PrimFunc, Program, RunnerCall, Storage
from microgen.project.firmware.metadata import Metadata

MAIN = "__tvm_main__"


@dataclass(frozen=True, slots=True)
class LoweredModule:
    """The functions of one target, by their C names. If the runner is compiled for this target,
    ``main`` has the runner's calls; otherwise it is empty."""

    functions: Mapping[str, PrimFunc]
    main: tuple[RunnerCall, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """The bytes that a function needs, by target: ``workspace`` for its own use (an operator's
    scratch, the runner's pools), ``io`` for its inputs and outputs, ``constants`` that it reads."""

    workspace: Mapping[str, int]
    io: Mapping[str, int]
    constants: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of each stage for a model; ``files`` is the whole project.

    The methods have the names and the meanings of TVM v0.14's AOTExecutorCodegenModule. ``host``
    is the target for which the runner is compiled. ``idle`` are the code generators that were asked
    for but take nothing. ``doubts`` say where the firmware may not fit.
    """

    graph: Graph
    partition: Partition
    program: Program
    plan: MemoryPlan
    manifest: Manifest
    files: FileTree
    metadata: Metadata
    host: str
    idle: tuple[Idle, ...] = ()
    doubts: tuple[str, ...] = ()

    def list_params_name(self) -> list[str]:
        """The names of the model's parameters, ``p0``, ``p1``, ..., in the order of their use."""
        return list(self.program.parameters)

    def get_param_by_name(self, key: str) -> Array:
        """A parameter's array, as the model has it. MicrogenError if there is none."""
        return self.program.parameters[self._known(key)]

    def get_param_id(self, key: str) -> int:
        """The storage id that the on-demand allocator gives a parameter, which is the id of the
        first constant computed from it. MicrogenError if there is none."""
        return self.program.parameter_ids[self._known(key)]

    def get_irmodule(self) -> dict[str, LoweredModule]:
        """The lowered functions by target. The host's module has the runner."""
        functions = {self.host: (), **self.program.lowered_functions}
        return {target: self._module(target, own) for target, own in functions.items()}

    def get_external_modules(self) -> tuple[ExternalModule, ...]:
        """The external functions by target. Those of one target are compiled in one step."""
        return self.program.external_modules

    def get_function_metadata(self) -> dict[str, FunctionInfo]:
        """The bytes that each function needs, with the runner's under ``__tvm_main__``. If several
        calls share a function, these are the largest."""
        calls: dict[str, list[RunnerCall]] = {f.name: [] for f in self.program.functions}
        for call in self.program.calls:
            calls[call.function].append(call)
        infos = {f.name: self._function_info(f, calls[f.name]) for f in self.program.functions}
        return {**infos, MAIN: self._main_info()}

    def get_devices(self) -> list[str]:
        """The names of the devices whose contexts the runner gets."""
        return list(self.metadata.devices)

    def get_metadata(self) -> Metadata:
        """Names, shapes, types, pools, devices and sizes."""
        return self.metadata

    def _known(self, key: str) -> str:
        if key not in self.program.parameters:
            raise MicrogenError(
                f"no such parameter {key}",
                where=f"module {self.program.module}",
                hint=f"parameters: {', '.join(self.program.parameters) or 'none'}",
            )
        return key

    def _module(self, target: str, functions: tuple[PrimFunc, ...]) -> LoweredModule:
        calls = self.program.calls if target == self.host else ()
        return LoweredModule({f.name: f for f in functions}, calls)

    def _function_info(self, function: PrimFunc, calls: list[RunnerCall]) -> FunctionInfo:
        def most(*, constants: bool) -> int:
            return max(_argument_bytes(call, constants=constants) for call in calls)

        return FunctionInfo(
            workspace={function.target: max(call.scratch for call in calls)},
            io={function.target: most(constants=False)},
            constants={function.target: most(constants=True)},
        )

    def _main_info(self) -> FunctionInfo:
        return FunctionInfo(
            workspace={self.host: self.metadata.workspace_size_bytes},
            io={self.host: self.metadata.io_size_bytes},
            constants={self.host: self.metadata.constants_size_bytes},
        )


@dataclass(frozen=True, slots=True)
class Firmware:
    """The result of compiling several models for one firmware.

    Each model's result is the same as if it were alone, with three exceptions. ``files`` and
    ``doubts`` (where it may not fit) belong to the whole project. ``manifest`` is the project's,
    seen from the model."""

    models: tuple[Compiled, ...]
    manifest: Manifest
    files: FileTree
    doubts: tuple[str, ...] = ()


def _argument_bytes(call: RunnerCall, *, constants: bool) -> int:
    pairs = zip(call.args, call.types, strict=False)  # the last, a device's context, has no type
    return sum(
        kind.nbytes
        for argument, kind in pairs
        if (argument.storage is Storage.CONSTANT) is constants
    )
