"""What a user can ask of ``generate``, with the defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from microgen import cnames
from microgen.errors import MicrogenError, UnsupportedError
from microgen.target import targets
from microgen.target.targets import Targets

PLANNERS = ("optimal", "greedy", "on-demand")
NUMERICS = ("litert", "tflm")
OPTIMIZE = ("speed", "balanced", "ram", "flash")
EXECUTORS = ("aot",)
INTERFACES = ("c",)
TOOLCHAINS = ("gcc", "llvm")
EMITS = ("", "llvm-ir")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of ``generate``; ``ram`` and ``flash`` are budgets in bytes, 0 for none; ``targets``
    are declarations as ``target.targets`` has them.

    Raises MicrogenError (at creation) for a value that does not exist, UnsupportedError for one
    that this version does not have yet.
    """

    name: str = "default"
    executor: str = "aot"
    interface: str = "c"
    codegen: tuple[str, ...] = ("builtin",)
    planner: str = "optimal"
    numerics: str = "litert"
    optimize: str = "balanced"
    toolchain: str = "gcc"
    emit: str = ""
    alignment: int = 16
    ram: int = 0
    flash: int = 0
    targets: tuple[str, ...] = ()

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
        for flag, value in (("--ram", self.ram), ("--flash", self.flash)):
            if value < 0:
                raise MicrogenError(f"{value} bytes is not a budget", where=flag)

    @property
    def target_map(self) -> Targets:
        """The targets besides the host."""
        return targets.parse(self.targets)

    @property
    def specialises(self) -> bool:
        """Whether each operator gets a body compiled for its own shape."""
        return self.optimize != "flash"

    def to_json(self) -> dict[str, Any]:
        """Plain data for the manifest."""
        return asdict(self)


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
