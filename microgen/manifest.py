"""``microgen.json``: the promises of a generated project, as typed records.

Verify, run and inspect know a project only from this file and from the project's other files.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import cattrs

from microgen.errors import ModelError, ProjectError
from microgen.files import MANIFEST
from microgen.formats import checked_json
from microgen.formats.structuring import structure

FORMAT = 1
_DIGEST = "digest"  # of everything else in the file
_OPTIONAL = ("blob", "external", "shared_workspace")  # absent if there is none


def _check_alignment(alignment: int) -> None:
    if alignment < 1:
        raise ValueError(f"an alignment of {alignment}")


@dataclass(frozen=True, slots=True)
class PortRecord:
    """An input or output. ``name`` is the C field, ``tensor`` the model's name. Quantization is per
    tensor, with scale 0 if there is none. ``fixed`` is the only value that an input may have, flat.
    It is empty except for inputs that the firmware ignores, because the model's shapes give them.
    """

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
    """An argument of a call. ``storage`` is "input", "output", "sid", "scratch", "constant" or
    "device"; ``name`` is a port's or device's C name, a buffer's name, or a constant's symbol."""

    storage: str
    name: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One operator call, in execution order; ``index`` counts from 0.

    ``function`` is the ELF symbol. ``args`` are in C order, including scratch. ``tensor``,
    ``shape`` and ``dtype`` describe the output ``args[output]``. ``packed`` is the ELF symbol of the packed
    function that calls ``function``; it is empty if the runner calls ``function`` directly.
    ``target`` computes the call, or the host if it is empty. ``device`` is the C name of the device
    whose hooks surround it, if any.
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
    the board that was asked for, ``targets`` those whose calls may use the pool (empty: all).
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
    half steps, both ends included (see ``program.Placement``). ``is_state``: it keeps its bytes
    from one inference to the next."""

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
    """The memory plan, in bytes. ``io_bytes`` are the caller's buffers, which neither ``peak`` nor
    ``lower_bound`` includes."""

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
    """A constant of the firmware: its ELF symbol and size. ``kernels.transforms`` makes its bytes
    from ``sources``, which are names in ``model/parameters/<module>.params``. A constant in a pool
    that the caller passes has no symbol, but an ``offset`` in ``pool``."""

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
    """A tensor that a function of a module takes or returns."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A constant passed to a function when its module is loaded: its name there, its ELF symbol."""

    name: str
    symbol: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """An external function by its symbol, as TVM names it: its arguments in order, and the
    constants that are passed to it before."""

    symbol: str
    inputs: tuple[TypeRecord, ...]
    outputs: tuple[TypeRecord, ...]
    constants: tuple[HeldRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalRecord:
    """The result of an external code generator.

    ``kind`` is "c", "runtime" or "kernels" (the built-in kernels are used instead). C has a
    ``source``, below the project. A module for a runtime is in the blob. It has a ``type_key``, the
    size and SHA-256 of its payload, and ``prefix``, with which the runtime's C functions begin.
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
    """The model: its file's name, digest, and path in the project."""

    file: str
    sha256: str
    path: str


@dataclass(frozen=True, slots=True)
class EstimateRecord:
    """Bytes needed as estimated before building, and the requested budgets (0: none). A firmware
    needs at least ``least`` and at most ``most`` (0: unknown)."""

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
    """The memory in which several modules' workspaces lie: its ELF symbol, output section, bytes,
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
    """One model of the firmware. ``options`` are those of ``generate``. ``kernels`` are the C
    symbols of kernels whose code the operators contain or call. ``external`` and ``blob`` are
    from external code generators, if there are any."""

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
        """``tvmgen_<module>``, with which every symbol of the model begins."""
        return f"tvmgen_{self.module}"

    @property
    def loaded(self) -> tuple[ExternalRecord, ...]:
        """The modules in the blob."""
        return tuple(module for module in self.external if module.kind == "runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(ModuleRecord):
    """The whole ``microgen.json``: the first model's record, and the firmware's own fields.

    ``board`` is ``Board.to_json()``. ``files`` maps each other file of the project to its
    SHA-256. ``more`` are the other models; ``shared_workspace`` is None if there is none.
    """

    format: int
    microgen: str
    board: dict[str, Any]
    estimate: EstimateRecord
    files: dict[str, str]
    more: tuple[ModuleRecord, ...] = ()
    shared_workspace: SharedRecord | None = None

    @property
    def modules(self) -> tuple[ModuleRecord, ...]:
        """Every model, in the order they were given."""
        return (self, *self.more)

    @property
    def call_count(self) -> int:
        """The operator calls of one sample, in all models."""
        return sum(len(module.calls) for module in self.modules)

    def pool_array(self, pool: str) -> str:
        """The symbol of main's array for a pool that it passes to the manifest's first module."""
        return f"pool_{self.module}_{pool}" if self.more else f"pool_{pool}"

    def seen_from(self, module: ModuleRecord) -> Manifest:
        """The same manifest with that module as its own record, and the others in ``more``."""
        others = tuple(m for m in self.modules if m.module != module.module)
        of_firmware = {f.name: getattr(self, f.name) for f in fields(self)}
        return Manifest(**{**of_firmware, **record_fields(module), "more": others})

    def dumps(self) -> bytes:
        """The file's content with sorted keys, so that equal manifests are equal bytes, and with
        the digest of everything else in it."""
        data = cattrs.unstructure(self)
        for record in (data, *data["more"]):
            for key in _OPTIONAL:
                if not record.get(key, True):
                    del record[key]
        return digested(json.loads(json.dumps(data))).encode()


def record_fields(module: ModuleRecord) -> dict[str, Any]:
    """The fields of one module's record by name."""
    return {f.name: getattr(module, f.name) for f in fields(ModuleRecord)}


def load(project: Path) -> Manifest:
    """Read a project's manifest. Raises ProjectError if it is absent or damaged."""
    data = _read(project)
    found = data.pop("format", None)
    if found != FORMAT:
        raise ProjectError(
            f"has format {found!r}, this microgen reads {FORMAT}",
            where=str(project / MANIFEST),
            hint="generate again with this version",
        )
    data.pop(_DIGEST, None)
    try:
        return structure({**data, "format": FORMAT}, Manifest)
    except ValueError as error:
        raise ProjectError(
            f"does not have the records of a manifest: {error}",
            where=str(project / MANIFEST),
            hint="generate again",
        ) from error


def is_as_written(project: Path) -> bool:
    """Whether a project's manifest is what ``dumps`` wrote, according to its digest of itself. This
    finds accidental edits; a forger can write another digest. Raises as ``load``."""
    data = _read(project)
    return bool(data.pop(_DIGEST, None) == _digest(data))


def digested(data: dict[str, Any]) -> str:
    """The text of a manifest's JSON value, with the digest of the rest."""
    said = {key: value for key, value in data.items() if key != _DIGEST}
    whole = {**said, _DIGEST: _digest(said)}
    return json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _digest(data: dict[str, Any]) -> str:
    """The SHA-256 of the JSON value, independent of its layout."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _read(project: Path) -> dict[str, Any]:
    path = project / MANIFEST
    if path.exists() and not path.is_file():  # a device or a pipe might never end
        raise ProjectError("is no regular file", where=str(path), hint="generate again")
    try:
        place = checked_json.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ProjectError(
            "is not a generated project: it has no microgen.json",
            where=str(project),
            hint="run `microgen generate MODEL -b BOARD -o DIR` first",
        ) from error
    except ModelError as error:
        raise ProjectError(error.what, where=str(path), hint="generate again") from error
    if not place.is_object():
        raise ProjectError("is no JSON object", where=str(path), hint="generate again")
    return dict(place.value)
