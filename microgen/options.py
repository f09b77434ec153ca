"""The options of ``generate``, with their defaults."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.base.formats import arguments
from microgen.base.names import cnames
from microgen.planner import pools
from microgen.planner.program.plan import Pool
from microgen.target import targets
from microgen.target.targets import Targets

PLANNERS = ("optimal", "greedy", "on-demand")
NUMERICS = ("litert", "tflm", "onnx")
OPTIMIZE = ("speed", "balanced", "ram", "flash")
EXECUTORS = ("aot", "graph")
INTERFACES = ("c", "packed")
CONSTANT_ALIGNMENTS = (4, 8, 16, 32, 64, 128, 256)
TOOLCHAINS = ("gcc", "llvm")
EMITS = ("", "llvm-ir")
STACK_MARGIN = 512  # bytes for exceptions that interrupt one another
STACK_UNIT = 16  # stacks in linker scripts are a multiple of this
_LEAST_STACK = 256  # bytes


@dataclass(frozen=True, slots=True)
class Options:
    """Options of ``generate``. ``ram`` and ``flash`` are budgets in bytes, 0 for none. ``pool``
    are declarations for ``planner.pools``, ``targets`` for ``target.targets``.

    ``stack`` are the bytes that the linker script reserves; None: the bytes that the code is
    expected to take, and ``stack_margin``.

    ``signature`` names one of the networks in a model's file; empty means the first. ``dim`` are
    sizes of symbolic dimensions (``NAME=N``), ``bind`` are values of inputs that become constants
    (``INPUT=FILE.npy`` or ``INPUT=NUMBERS``). ``max_rounds`` are the most rounds of loops whose
    number of rounds depends on data (``LAYER=N``). ``state`` are pairs of an output and an input
    (``OUT=IN``): the output's value is the input's in the next inference.

    ``codegen``: code generators, best first; the built-in kernels take the rest.
    ``codegen_option``: ``NAME.KEY=VALUE``, each for one of them. ``codegen_path``: a folder
    with more of them. ``composite``: they may take patterns of several operators.
    ``merge_regions``: neighbouring parts that one of them takes become one.

    ``schedule`` is a path: of a file with a schedule, or of a front, followed by ``#`` and a
    number. The schedule decides instead of ``optimize``; empty for none.

    ``input_rows``: the number of rows of the input that the caller feeds at a time; 0: it passes
    whole inputs.

    ``numerics``: empty for the profile of the model's format.
    ``unpacked_api``: operators take plain pointers, not packed arguments; None means the default
    of ``interface``. ``output_workspace``: tensors may lie in an output's buffer until the output
    is written; None means that ``optimize`` decides. ``input_consumed``: they may lie in an input's
    buffer after its last reader, and in ``input_headroom`` bytes in front of it.
    ``output_overlay``: the only output lies in the only input's buffer. ``alignment`` is the
    workspace's, ``constant_alignment`` the constants', in
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
    numerics: str = ""
    optimize: str = "balanced"
    toolchain: str = "gcc"
    emit: str = ""
    alignment: int = 16
    constant_alignment: int = 4
    unpacked_api: bool | None = None
    link_params: bool = True
    ram: int = 0
    flash: int = 0
    stack: int | None = None
    stack_margin: int = STACK_MARGIN
    pool: tuple[str, ...] = ()
    workspace_io: bool = False
    input_rows: int = 0
    output_workspace: bool | None = None
    input_consumed: bool = False
    input_headroom: int = 0
    output_overlay: bool = False
    targets: tuple[str, ...] = ()
    signature: str = ""
    dim: tuple[str, ...] = ()
    bind: tuple[str, ...] = ()
    max_rounds: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    @staticmethod
    def of(given: Mapping[str, Any]) -> Options:
        """The options with these names and values. Raises UsageError for an unknown name."""
        arguments.check_known(given.keys(), list(_kinds()))
        return Options(**given)

    def __post_init__(self) -> None:
        for name, kind in _kinds().items():
            value = getattr(self, name)
            if name == "codegen" and isinstance(value, str):  # as on the command line
                value = tuple(value.split(","))
            # The class is frozen, and values from Python may be of similar types.
            object.__setattr__(self, name, arguments.typed(name, kind, value))
        cnames.module_name(self.name)
        # For their errors only: the stages that need targets and pools parse them again.
        targets.parse(self.targets)
        _one_of("--planner", self.planner, PLANNERS)
        _one_of("--numerics", self.numerics or NUMERICS[0], NUMERICS)
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
        self._check_stack()
        self._check_pools()
        self._check_ports()
        self._check_rows()

    def _check_stack(self) -> None:
        stack = self.stack
        if stack is not None and (stack < _LEAST_STACK or stack % STACK_UNIT):
            raise MicrogenError(
                f"{stack} bytes is not a stack: expected {_LEAST_STACK} or more, and a multiple of "
                f"{STACK_UNIT}",
                where="--stack",
                hint="leave it out, and the stack is what the code takes and a margin",
            )
        if self.stack_margin < 0:
            raise MicrogenError(
                f"{self.stack_margin} bytes is not a margin: expected 0 or more",
                where="--stack-margin",
                hint=f"{STACK_MARGIN} is the default",
            )

    def _check_conventions(self) -> None:
        if self.interface == "c" and self.unpacked_api is False:
            raise MicrogenError(
                # TVM's sentence for this combination.
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
                    where=arguments.flag(name),
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

    @property
    def uses_outputs(self) -> bool:
        """Whether tensors may lie in an output's buffer until the output is written."""
        # Only if it works: an option that was not given must not be refused.
        if self.output_workspace is None and self.optimize == "ram":
            return self.is_unpacked and not (self.workspace_io or self.pool)
        return bool(self.output_workspace)

    def _check_ports(self) -> None:
        """Refuse tensors in the caller's buffers where nothing could tell the caller, or the
        calls."""
        given = {
            "--output-workspace": bool(self.output_workspace),
            "--input-consumed": self.input_consumed,
            "--output-overlay": self.output_overlay,
        }
        flags = [flag for flag, is_given in given.items() if is_given]
        why = ""
        if self.executor == "graph":
            why = "the graph itself has the storages, and none is an input's or an output's"
        elif self.workspace_io:
            why = "inputs and outputs are in the workspace, and their bytes are reused anyway"
        elif not self.is_unpacked:
            why = "operators take tensors, and those between layers are part of the firmware"
        elif self.interface == "packed" and flags[-1:] != ["--output-workspace"]:
            why = "packed arguments are tensors: nothing says that the caller's may be overwritten"
        if flags and why:
            raise UnsupportedError(why, where=flags[-1], hint="leave it out")
        if self.input_headroom and not (self.input_consumed or self.output_overlay):
            raise UnsupportedError(
                "is for inputs that may be overwritten",
                where="--input-headroom",
                hint="use --input-consumed",
            )
        if self.output_overlay and self.output_workspace is False:
            raise UnsupportedError(
                "an output in an input's buffer cannot be kept until it is written",
                where="--output-workspace",
                hint="leave it out",
            )

    def _check_rows(self) -> None:
        if self.input_rows < 0:
            raise MicrogenError(
                f"{self.input_rows} is not a number of rows: expected at least 1",
                where="--input-rows",
            )
        if self.input_rows == 0:
            return
        for where, is_given, why in (
            ("--executor", self.executor != "aot", "the graph executor takes whole inputs"),
            ("--interface", self.interface != "c", "a packed function takes whole tensors"),
            ("--workspace-io", self.workspace_io, "it plans the whole input in the workspace"),
            ("--input-consumed", self.input_consumed, "the caller has no whole input"),
            ("--output-overlay", self.output_overlay, "the caller has no whole input"),
            ("--target", self.targets, "devices would be opened for each of the rows"),
        ):
            if is_given:
                raise UnsupportedError(
                    f"cannot be used with {where}: {why}",
                    where="--input-rows",
                    hint="leave out one of the two",
                )

    def to_json(self) -> dict[str, Any]:
        """Plain data for the manifest."""
        promised: dict[str, Any] = {
            "unpacked_api": self.is_unpacked,
            "output_workspace": self.uses_outputs or self.output_overlay,
        }
        # Their values may be paths on this machine.
        promised["codegen_option"] = [text.partition("=")[0] for text in self.codegen_option]
        promised |= {"codegen_path": "", "schedule": ""}
        # The project's model contains them.
        promised |= {"dim": (), "bind": ()}
        if self.executor == "graph":
            # A parameter file aligns each array to its elements, not to more.
            promised["constant_alignment"] = 1
        return {**asdict(self), **promised}


@functools.cache
def _kinds() -> dict[str, Any]:
    """The type of each option."""
    return get_type_hints(Options)


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
