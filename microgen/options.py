"""The options of ``generate``, with their defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from microgen.errors import MicrogenError, UnsupportedError
from microgen.names import cnames
from microgen.planner import pools
from microgen.program.plan import Pool
from microgen.target import targets
from microgen.target.targets import Targets

PLANNERS = ("optimal", "greedy", "on-demand")
NUMERICS = ("litert", "tflm")
OPTIMIZE = ("speed", "balanced", "ram", "flash")
EXECUTORS = ("aot", "graph")
INTERFACES = ("c", "packed")
CONSTANT_ALIGNMENTS = (4, 8, 16, 32, 64, 128, 256)
TOOLCHAINS = ("gcc", "llvm")
EMITS = ("", "llvm-ir")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of ``generate``. ``ram`` and ``flash`` are budgets in bytes, 0 for none. ``pool``
    are declarations for ``planner.pools``, ``targets`` for ``target.targets``.

    ``signature`` names one of the networks in a model's file; empty means the first.

    ``codegen``: code generators, best first; the built-in kernels take the rest.
    ``codegen_option``: ``NAME.KEY=VALUE``, each for one of them. ``codegen_path``: a folder
    with more of them. ``composite``: they may take patterns of several operators.
    ``merge_regions``: neighbouring parts that one of them takes become one.

    ``schedule`` is the path of a file with a schedule, which decides instead of ``optimize``; empty
    for none.

    ``unpacked_api``: operators take plain pointers, not packed arguments; None means the default
    of ``interface``. ``alignment`` is the workspace's, ``constant_alignment`` the constants', in
    bytes.

    Raises MicrogenError (at creation) for a value that does not exist, UnsupportedError for one
    that this version does not support yet.
    """

    name: str = "default"
    executor: str = "aot"
    interface: str = "c"
    codegen: tuple[str, ...] = ("builtin",)
    codegen_option: tuple[str, ...] = ()
    codegen_path: str = ""
    composite: bool = False
    merge_regions: bool = False
    planner: str = "optimal"
    schedule: str = ""
    numerics: str = "litert"
    optimize: str = "balanced"
    toolchain: str = "gcc"
    emit: str = ""
    alignment: int = 16
    constant_alignment: int = 4
    unpacked_api: bool | None = None
    link_params: bool = True
    ram: int = 0
    flash: int = 0
    pool: tuple[str, ...] = ()
    workspace_io: bool = False
    targets: tuple[str, ...] = ()
    signature: str = ""

    def __post_init__(self) -> None:
        cnames.module_name(self.name)
        targets.parse(self.targets)
        _one_of("--planner", self.planner, PLANNERS)
        _one_of("--numerics", self.numerics, NUMERICS)
        _one_of("--optimize", self.optimize, OPTIMIZE)
        _available("--executor", self.executor, EXECUTORS)
        _available("--interface", self.interface, INTERFACES)
        _one_of("--toolchain", self.toolchain, TOOLCHAINS)
        _one_of("--emit", self.emit, EMITS)
        if self.alignment not in {1 << bits for bits in range(9)}:
            raise MicrogenError(
                f"{self.alignment} is not an alignment: expected a power of two from 1 to 256",
                where="--alignment",
                hint="16 is the default",
            )
        if self.constant_alignment not in CONSTANT_ALIGNMENTS:
            raise MicrogenError(
                f"{self.constant_alignment} is not an alignment of constants: expected one of "
                f"{', '.join(map(str, CONSTANT_ALIGNMENTS))}",
                where="--constant-alignment",
                hint="4 is the default",
            )
        self._check_conventions()
        for flag, value in (("--ram", self.ram), ("--flash", self.flash)):
            if value < 0:
                raise MicrogenError(f"{value} bytes is not a budget", where=flag)
        object.__setattr__(self, "pool", tuple(self.pool))  # a command line gives a list
        self._check_pools()

    def _check_conventions(self) -> None:
        if self.interface == "c" and self.unpacked_api is False:
            raise MicrogenError(
                'Either need interface_api == "packed" (got: c) or unpacked-api == true (got: 0) '
                "when targeting c runtime",
                where="--unpacked-api",
                hint="leave it out, or ask for --interface packed",
            )
        if self.executor == "graph" and (self.interface != "c" or self.unpacked_api is not None):
            raise UnsupportedError(
                "the graph executor has one interface: it calls packed functions, and "
                "tvmgen_<name>_run of the C interface or TVMGraphExecutor_Run runs it",
                where="--interface" if self.interface != "c" else "--unpacked-api",
                hint="leave it out",
            )
        if self.executor == "graph":
            self._check_graph()
        if not self.link_params:
            raise UnsupportedError(
                f"'off' leaves the parameters out of the firmware, but the {self.executor} "
                f"executor cannot load them",
                where="--link-params",
                hint="use 'on'",
            )

    def _check_graph(self) -> None:
        """Refuse options that would have no effect."""
        unused = {
            "planner": "the graph itself has the storages, and not a plan",
            "alignment": "it aligns every storage to 16 bytes",
            "constant_alignment": "a parameter file aligns each array to its elements",
        }
        for name, why in unused.items():
            default = type(self).__dataclass_fields__[name].default
            if getattr(self, name) != default:
                raise UnsupportedError(
                    f"has no effect on the graph executor: {why}",
                    where=f"--{name.replace('_', '-')}",
                    hint="leave it out",
                )

    @property
    def is_unpacked(self) -> bool:
        """Whether operators take plain pointers. The graph executor's are packed functions."""
        if self.executor == "graph":
            return False
        return self.interface == "c" if self.unpacked_api is None else self.unpacked_api

    @property
    def target_map(self) -> Targets:
        """The targets in addition to the host."""
        return targets.parse(self.targets)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The memory pools, declared or by default, in spill order."""
        return pools.parse(self.pool, self.alignment)

    def _check_pools(self) -> None:
        declared = pools.parse(self.pool, self.alignment)
        if self.executor != "aot" and (self.pool or self.workspace_io):
            raise UnsupportedError(
                "the graph executor has one memory, which its caller passes",
                where="--pool" if self.pool else "--workspace-io",
                hint="leave it out, or use --executor aot",
            )
        if self.interface != "c" and (
            self.workspace_io or not all(p.is_internal for p in declared)
        ):
            raise UnsupportedError(
                "packed arguments are tensors: they have no place for a caller's pools",
                where="--workspace-io" if self.workspace_io else "--pool",
                hint="use --interface c, or internal pools",
            )

    def to_json(self) -> dict[str, Any]:
        """Plain data for the manifest."""
        promised: dict[str, Any] = {"unpacked_api": self.is_unpacked}
        # Their values may be paths on this machine.
        promised["codegen_option"] = [text.partition("=")[0] for text in self.codegen_option]
        promised |= {"codegen_path": "", "schedule": ""}
        if self.executor == "graph":
            # A parameter file aligns each array to its elements, not to more.
            promised["constant_alignment"] = 1
        return {**asdict(self), **promised}


def _one_of(flag: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise MicrogenError(f"{value!r} is not one of {', '.join(filter(None, known))}", where=flag)


def _available(flag: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnsupportedError(
            f"{value!r} is not available in this version",
            where=flag,
            hint=f"available: {', '.join(known)}",
        )
