"""What a manifest says of one model and of the firmware, as typed records."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


def _check_alignment(alignment: int) -> None:
    if alignment < 1:
        raise ValueError(f"an alignment of {alignment}")


@dataclass(frozen=True, slots=True)
class PortRecord:
    """An input or output. ``name`` is the C field, ``tensor`` the model's name; per-tensor
    quantization, scale 0 where there is none. ``fixed``: the only value an input may have, flat;
    empty for all but those that the firmware ignores, because the model's shapes give them."""

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    scale: float
    zero_point: int
    fixed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ArgumentRecord:
    """What a call passes: ``storage`` is "input", "output", "sid", "scratch", "constant" or
    "device"; ``name`` the port's or device's C name, the buffer's name, the constant's symbol."""

    storage: str
    name: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One operator call, in execution order; ``index`` counts from 0.

    ``function`` is the ELF symbol; ``args`` are in C order, scratch included. The output that
    ``tensor``, ``shape`` and ``dtype`` describe is ``args[output]``. ``packed`` is the ELF symbol
    of the packed function that calls ``function``, empty where the runner calls it itself.
    ``target`` computes it, the host if empty; ``device`` is the C name of the device whose hooks
    stand around it, if any.
    """

    index: int
    function: str
    op: str
    layer: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str
    kernel: str
    reason: str
    refusals: tuple[str, ...]
    args: tuple[ArgumentRecord, ...]
    output: int
    packed: str = ""
    target: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A device: its C field, its target's kind, and its hooks activate, open, close, deactivate."""

    name: str
    target: str
    hooks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """A workspace pool: the ELF symbol of the arena, its output section, size, alignment.

    A pool that the caller passes has neither symbol nor section. ``memory`` names the memory of
    the board that was asked for, ``targets`` whose calls may use the pool (empty: all).
    """

    name: str
    symbol: str
    section: str
    nbytes: int
    alignment: int
    capacity: int | None = None
    memory: str = ""
    targets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_alignment(self.alignment)


@dataclass(frozen=True, slots=True)
class BufferRecord:
    """A planned buffer (``sid_<n>`` or ``scratch_<call>``): offset in its pool and lifetime in
    half steps, both ends included (see ``program.types.Placement``). ``is_state``: it keeps its
    bytes from one inference to the next."""

    name: str
    pool: str
    offset: int
    nbytes: int
    first: int
    last: int
    tensor: str
    is_state: bool = False


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """The memory plan. Bytes; ``io_bytes`` are the caller's buffers, on top of ``peak`` and
    ``lower_bound`` alike."""

    algorithm: str
    peak: int
    lower_bound: int
    proof: str
    io_bytes: int
    alignment: int
    pools: tuple[PoolRecord, ...]
    buffers: tuple[BufferRecord, ...]
    in_place: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ConstantRecord:
    """A constant of the firmware: ELF symbol, size, and how ``kernels.transforms`` makes its bytes
    from ``sources``, names in ``model/parameters/<module>.params``. A constant in a pool that
    the caller passes has no symbol, but ``offset`` in ``pool``."""

    symbol: str
    nbytes: int
    ctype: str
    transform: str
    sources: tuple[str, ...]
    arguments: dict[str, Any]  # numbers and strings: the transform's keywords
    layer: str
    section: str = ".rodata.tvm"
    pool: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TypeRecord:
    """What a function of a module takes or gives: a tensor."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A constant handed to a function as its module is loaded: its name there, its ELF symbol."""

    name: str
    symbol: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """An external function by its symbol, as TVM names it: what it is called with, in order, and
    the constants it is handed before that."""

    symbol: str
    inputs: tuple[TypeRecord, ...]
    outputs: tuple[TypeRecord, ...]
    constants: tuple[HeldRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalRecord:
    """What an external code generator made of functions.

    ``kind`` is "c", "runtime" or "kernels", where the built-in ones stand in. C has a ``source``,
    below the project. A module for a runtime lies in the blob: its ``type_key``, the bytes and the
    SHA-256 of its payload, and what the names of the runtime's C functions begin with, ``prefix``.
    """

    codegen: str
    kind: str
    functions: tuple[FunctionRecord, ...]
    source: str = ""
    type_key: str = ""
    prefix: str = ""
    nbytes: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class BlobRecord:
    """The module blob: ELF symbol, section, bytes, SHA-256; the pool modules are loaded into."""

    symbol: str
    section: str
    nbytes: int
    sha256: str
    pool: str


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model: its file's name, digest, and where the project keeps it."""

    file: str
    sha256: str
    path: str


@dataclass(frozen=True, slots=True)
class EstimateRecord:
    """Bytes needed as estimated before building, and the budgets asked for (0: none). A firmware
    needs no less than ``least`` and no more than ``most`` (0: not known)."""

    flash: int
    ram: int
    flash_budget: int
    ram_budget: int
    flash_least: int = 0
    flash_most: int = 0
    ram_least: int = 0
    ram_most: int = 0


@dataclass(frozen=True, slots=True)
class SharedRecord:
    """The memory that several modules' workspaces lie in: its ELF symbol, output section, bytes,
    alignment, and the modules."""

    symbol: str
    section: str
    nbytes: int
    alignment: int
    modules: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_alignment(self.alignment)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRecord:
    """One model of the firmware. ``options`` are those of ``generate``; ``kernels`` are the C
    kernel symbols whose code the operators contain or call. ``external`` and ``blob`` are what
    external code generators made, if there are any."""

    module: str
    model: ModelRecord
    options: dict[str, Any]
    inputs: tuple[PortRecord, ...]
    outputs: tuple[PortRecord, ...]
    calls: tuple[CallRecord, ...]
    kernels: tuple[str, ...]
    plan: PlanRecord
    constants: tuple[ConstantRecord, ...]
    devices: tuple[DeviceRecord, ...] = ()
    external: tuple[ExternalRecord, ...] = ()
    blob: BlobRecord | None = None

    @property
    def prefix(self) -> str:
        """``tvmgen_<module>``, which every symbol of the model starts with."""
        return f"tvmgen_{self.module}"

    @property
    def loaded(self) -> tuple[ExternalRecord, ...]:
        """The modules that lie in the blob."""
        return tuple(module for module in self.external if module.kind == "runtime")


def record_fields(module: ModuleRecord) -> dict[str, Any]:
    """The fields of one module's record by name."""
    return {f.name: getattr(module, f.name) for f in fields(ModuleRecord)}
