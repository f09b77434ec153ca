"""What external code generators made of a program's functions: C, or modules of the blob; and who
drives their devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MODULE_POOL = "module_pool"  # the pool of memory that modules are loaded into


@dataclass(frozen=True, slots=True, eq=False)
class CModule:
    """C that a codegen brought: the text of a source that defines its functions, and ``files`` of
    its own by path, with the folders among them that the compiler searches."""

    codegen: str
    code: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Runtime:
    """What loads and runs modules of a type on the board: the functions ``<prefix>_load``,
    ``_find``, ``_init``, ``_run`` that ``header`` declares, see
    ``crt/src/modules/module_types.h``."""

    type_key: str
    prefix: str
    header: str


@dataclass(frozen=True, slots=True, eq=False)
class RuntimeModule:
    """A module that lies in the blob as ``payload``. ``pool_bytes`` is what its runtime makes of it
    takes; ``files`` are the runtime's, by path, where it does not come with microgen, with the
    folders among them that the compiler searches."""

    codegen: str
    runtime: Runtime
    payload: bytes
    pool_bytes: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()


ModuleCode = CModule | RuntimeModule


@dataclass(frozen=True, slots=True)
class DeviceDriver:
    """Who answers a device's hooks in a project, where that is known: the functions
    ``<prefix>_activate``, ``_open``, ``_close``, ``_deactivate`` that ``header`` declares, each
    ``int32_t (void *context)``. The context is an object of type ``context_type``, at first all
    zeros."""

    header: str
    context_type: str
    prefix: str


@dataclass(frozen=True, slots=True)
class HeldConstant:
    """A constant that a function of a runtime's module is handed when it is loaded: ``name`` is the
    module's for it, ``constant`` the program's."""

    function: str
    name: str
    constant: str


@dataclass(frozen=True, slots=True)
class ExternalModule:
    """External functions that were compiled in one step: their target, their names in the order of
    their first calls, and what was made of them: None where the built-in kernels stand in."""

    target: str
    functions: tuple[str, ...]
    code: ModuleCode | None = None
    constants: tuple[HeldConstant, ...] = ()
