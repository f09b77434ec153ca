"""The records of a manifest, about one model and about the firmware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from microgen.base.manifest.calls import CallRecord
from microgen.base.manifest.schedule import FeedRecord, KernelSource, ScheduleRecord


def _check_alignment(alignment: int) -> None:
    if alignment < 1:
        raise ValueError(f"the alignment {alignment} is invalid")


@dataclass(frozen=True, slots=True)
class PortRecord:
    """An input or output. ``name`` is the C field, ``tensor`` the model's name, ``aliases`` are
    further names for arrays. Quantization is per tensor, with scale 0 if there is none. ``fixed``,
    if not empty, is the only value, flat, that the model's shapes allow an input, which the
    firmware ignores. ``buffer`` is its planned buffer, if tensors may lie in the memory that the
    caller passes for it. ``over`` names the input in whose buffer an output lies."""

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    scale: float
    zero_point: int
    fixed: tuple[int, ...] = ()
    buffer: str = ""
    over: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A device: its C field, its target's kind, and its hooks in the order of their calls."""

    name: str
    target: str
    hooks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """A workspace pool: the ELF symbol of the arena, its output section, size, alignment.

    A pool that the caller passes has neither symbol nor section. ``memory`` names the requested
    memory of the board. ``targets`` names the targets whose calls may use the pool (empty: all).
    ``port`` names the input or output in whose buffer the pool lies; the buffer is aligned to
    ``promised`` bytes. The first ``before`` bytes of the pool lie in front of the port.
    """

    name: str
    symbol: str
    section: str
    nbytes: int
    alignment: int
    capacity: int | None = None
    memory: str = ""
    targets: tuple[str, ...] = ()
    port: str = ""
    promised: int = 0
    before: int = 0

    def __post_init__(self) -> None:
        _check_alignment(self.alignment)
        # 0 means that no port promises anything, which is no alignment to check.
        _check_alignment(self.promised or 1)


@dataclass(frozen=True, slots=True)
class BufferRecord:
    """A planned buffer (``sid_<n>`` or ``scratch_<call>``): offset in its pool and lifetime in
    half steps, both ends included (see ``program.plan.Placement``). ``is_state``: it keeps its
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
class OverlapRecord:
    """An input that dies, and the output that takes its bytes. With a ``lag`` of 0 both begin at
    one address, otherwise the output begins that many bytes before the input, rounded up to the
    pool's alignment."""

    input: str
    output: str
    lag: int = 0


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
    in_place: tuple[OverlapRecord, ...]


@dataclass(frozen=True, slots=True)
class ConstantRecord:
    """A constant of the firmware: its ELF symbol and size. The function ``transform`` of the
    kernel's module makes its bytes from ``sources``, names in ``model/parameters/<module>.params``.
    A constant in a pool that the caller passes has no symbol, but an ``offset`` in ``pool`` and the
    ``name`` that calls use for it."""

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
    name: str = ""


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
    constants that are passed to its module before the first call."""

    symbol: str
    inputs: tuple[TypeRecord, ...]
    outputs: tuple[TypeRecord, ...]
    constants: tuple[HeldRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalRecord:
    """The result of an external code generator.

    ``kind`` is "c", "runtime" or "kernels" (the built-in kernels are used instead). C has a
    ``source``, a path below the project. A module for a runtime is in the blob. It has a
    ``type_key``, the size and SHA-256 of its payload, and the ``prefix`` of the runtime's C
    functions.
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
    """The module blob: ELF symbol, section, bytes, SHA-256, and the pool into which modules are
    loaded."""

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
    needs at least ``least`` and at most ``most`` (0: unknown). Its code is expected to take at most
    ``stack_bound`` bytes of stack. The board's ``stack_bytes`` are reserved, and ``stack_margin``
    of them must be left."""

    flash: int
    ram: int
    flash_budget: int
    ram_budget: int
    flash_least: int = 0
    flash_most: int = 0
    ram_least: int = 0
    ram_most: int = 0
    stack_bound: int = 0
    stack_margin: int = 0


@dataclass(frozen=True, slots=True)
class DeadChannelsRecord:
    """The channels of a layer's result ``tensor`` that the firmware does not compute, because they
    are constant or nothing reads them. The model's tensor has ``channels`` channels. The firmware
    computes the channels in ``kept``, which ascend. Because of the missing channels of the result
    and of the layer's input, an inference needs ``weights`` fewer weights of the layer and
    ``products`` fewer of its products.
    """

    layer: str
    op: str
    tensor: str
    channels: int
    kept: tuple[int, ...]
    weights: int
    products: int

    @property
    def removed(self) -> int:
        """The number of channels that are not computed."""
        return self.channels - len(self.kept)


@dataclass(frozen=True, slots=True)
class SharedRecord:
    """The memory that several modules' workspaces share: its ELF symbol, output section, bytes,
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
    """One model of the firmware. ``options`` are the options of ``generate``. ``kernels`` are the C
    symbols of kernels whose code the operators contain or call. ``passed_pools`` are the pools that
    the caller passes, in the order of their structure. ``external`` and ``blob`` are from external
    code generators, if there are any. ``dead_channels`` has the layers that compute less than in
    the model, in order. ``feed``: the only input is fed in rows. ``schedule`` and, with their
    headers and modules, ``kernel_sources`` are empty in projects of earlier versions."""

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
    passed_pools: tuple[str, ...] = ()
    external: tuple[ExternalRecord, ...] = ()
    blob: BlobRecord | None = None
    schedule: ScheduleRecord | None = None
    dead_channels: tuple[DeadChannelsRecord, ...] = ()
    feed: FeedRecord | None = None
    kernel_sources: tuple[KernelSource, ...] = ()

    @property
    def entry(self) -> str:
        """The function that runs the model: it checks its arguments and calls the runner."""
        return f"{self.prefix}_feed" if self.feed else f"{self.prefix}_run"

    @property
    def intervals(self) -> int:
        """The number of runs of the timer in an inference of ``src/main.c``: while rows are fed."""
        return self.feed.count if self.feed else 1

    def passed_bytes(self, port: PortRecord) -> int:
        """Bytes of the buffer that the caller passes for an input or output at a time."""
        return self.feed.nbytes if self.feed and port in self.inputs else port.nbytes

    @property
    def prefix(self) -> str:
        """``tvmgen_<module>``, with which every symbol of the model begins."""
        return f"tvmgen_{self.module}"

    @property
    def loaded(self) -> tuple[ExternalRecord, ...]:
        """The modules in the blob."""
        return tuple(module for module in self.external if module.kind == "runtime")
