"""The results of external code generators for a program's functions, as C or as modules of the
blob, and the drivers of their devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microgen.graph.ir.graph import Array
from microgen.planner.program.steps import InnerBuffer

MODULE_POOL = "module_pool"  # the pool of memory that modules are loaded into


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CFunction:
    """A C function that a generator wrote for an external function.

    It returns 0 or an error code. Its parameters are, in this order: a pointer for each input
    (``const``), for each of ``constants`` (``const``; name and array), for each output, ``uint8_t
    *scratch`` if ``scratch`` is not 0 (so many bytes, aligned to 16), and ``void *context`` if the
    generator's target is a device. ``kernel`` is the name of its code in reports. ``places`` has
    the places of results that remain inside, by their names in the function's graph, so that ``run
    --compare`` can compare these results.
    """

    symbol: str
    constants: tuple[tuple[str, Array], ...] = ()
    scratch: int = 0
    kernel: str
    places: Mapping[str, InnerBuffer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CSource:
    """C that defines ``functions``: the text of one source file, to which microgen adds a header
    with the prototypes. ``files``, by path, are C files of the generator that the source includes
    and that are compiled with it. ``include_dirs`` are folders of these files that the compiler
    searches. Both are below the project's ``codegens/<name of the generator>``, which is searched,
    too.
    """

    functions: tuple[CFunction, ...]
    code: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime that loads and runs modules of a type on the board: functions ``<prefix>_load``,
    ``_find``, ``_init``, ``_run`` that ``header`` declares, see
    ``crt/src/modules/module_types.h``."""

    type_key: str
    prefix: str
    header: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RuntimeFunction:
    """A function of a module that a runtime on the board loads and runs.

    ``constants`` are the arrays, with the module's names for them. ``workspace`` is in bytes,
    aligned to 16, and valid during a call. ``kernel`` is the name of its code in reports.
    """

    symbol: str
    constants: tuple[tuple[str, Array], ...] = ()
    workspace: int = 0
    kernel: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedModule:
    """A module of the blob. ``payload`` are the bytes that ``SaveToBinary`` writes and the runtime
    loads.

    ``pool_bytes`` are its bytes in the module pool, on a target whose pointers have the board's
    size. ``files``, by path, are the files of a runtime that does not ship with microgen.
    ``include_dirs`` are folders of these files that the compiler searches, as for a CSource.
    """

    runtime: Runtime
    functions: tuple[RuntimeFunction, ...]
    payload: bytes
    pool_bytes: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()


Made = CSource | LoadedModule


@dataclass(frozen=True, slots=True)
class DeviceDriver:
    """The implementation of a device's hooks in a project: the functions ``<prefix>_activate``,
    ``_open``, ``_close``, ``_deactivate`` that ``header`` declares, each
    ``int32_t (void *context)``. The context is an object of type ``context_type``, at first all
    zeros."""

    header: str
    context_type: str
    prefix: str


@dataclass(frozen=True, slots=True)
class HeldConstant:
    """A constant that a function of a runtime's module gets when it is loaded. ``name`` is the
    module's name for it, ``constant`` the program's."""

    function: str
    name: str
    constant: str


@dataclass(frozen=True, slots=True)
class ExternalModule:
    """External functions that were compiled in one step: by which codegen, for which target, their
    names in the order of their first calls, and the result, or None if the built-in kernels
    compute them."""

    codegen: str
    target: str
    functions: tuple[str, ...]
    made: Made | None = None
    constants: tuple[HeldConstant, ...] = ()
