"""A memory plan: pools, and the place of each buffer and constant in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a planned buffer, and the time in which it is live.

    Time is counted in half steps: call k reads at 2k and has written by 2k+1. ``first`` and
    ``last`` are inclusive. Two buffers may share bytes only if their intervals do not overlap. An
    in-place pair does not overlap: the input's last is 2k, the output's first is 2k+1. A buffer
    that is live until the next inference has the last half step of a call after the last one.
    """

    name: str
    pool: str
    offset: int
    nbytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Pool:
    """A workspace pool, or with ``is_constant`` a pool of read-only memory.

    ``nbytes`` are planned, at most ``capacity`` (None: no limit). ``alignment`` applies to every
    offset and to the pool itself. A pool that is not internal is memory of the caller. Only
    calls of ``targets`` may use it (empty: all). ``memory`` names a memory of the
    board; empty means the board's memory for buffers, or for constants.

    ``port`` names the input or output in whose buffer the pool lies, which the caller aligns to
    ``promised`` bytes. That may be less than ``alignment``. The first ``before`` bytes of the pool
    lie in front of the port, and count as workspace.
    """

    name: str
    nbytes: int
    alignment: int
    capacity: int | None = None
    is_internal: bool = True
    is_constant: bool = False
    targets: tuple[str, ...] = ()
    memory: str = ""
    port: str = ""
    promised: int = 0
    before: int = 0

    def allows(self, targets: Iterable[str]) -> bool:
        """Whether calls of all these targets may use the pool."""
        return not self.targets or set(targets) <= set(self.targets)


@dataclass(frozen=True, slots=True)
class ConstantPlacement:
    """The pool of a constant, and its offset in it. In an internal pool the linker chooses the
    offset."""

    name: str
    pool: str
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """Buffers that share bytes in the call that reads ``input`` for the last time and writes
    ``output``. ``lag`` is the call's requirement: see ``InPlace``."""

    input: str
    output: str
    lag: int = 0


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The plan for one call order, alignment and aliasing.

    ``pools`` are the workspace's, and then pools in buffers of inputs and outputs. ``lower_bound``
    counts only workspace bytes (ports that the caller owns add as much to the peak). ``proof``
    gives the reason for the gap. ``in_place`` are pairs of buffers that share bytes. Constants
    without a placement are in no pool.
    """

    algorithm: str
    pools: tuple[Pool, ...]
    placements: tuple[Placement, ...]
    in_place: tuple[Overlap, ...]
    lower_bound: int
    proof: str
    by_name: Mapping[str, Placement] = field(repr=False, compare=False)
    constant_pools: tuple[Pool, ...] = ()
    constants: tuple[ConstantPlacement, ...] = ()

    @property
    def peak(self) -> int:
        """Workspace bytes over all pools, without buffers of inputs and outputs."""
        return sum(pool.before if pool.port else pool.nbytes for pool in self.pools)

    @property
    def gap(self) -> int:
        """Bytes by which the peak exceeds the lower bound."""
        return self.peak - self.lower_bound

    @property
    def used_pools(self) -> tuple[Pool, ...]:
        """The pools with contents, the workspace's first."""
        return tuple(pool for pool in (*self.pools, *self.constant_pools) if pool.nbytes)

    @property
    def passed_pools(self) -> tuple[Pool, ...]:
        """The used pools that the caller passes, in the order of the C struct's fields."""
        return tuple(pool for pool in self.used_pools if not (pool.is_internal or pool.port))

    @property
    def workspace(self) -> tuple[Placement, ...]:
        """The buffers in the workspace, without the buffers inside inputs and outputs."""
        ports = {pool.name for pool in self.pools if pool.port}
        return tuple(p for p in self.placements if p.pool not in ports)

    @property
    def port_pools(self) -> tuple[Pool, ...]:
        """The pools in buffers of inputs and outputs."""
        return tuple(pool for pool in self.pools if pool.port)

    @property
    def constant_places(self) -> Mapping[str, ConstantPlacement]:
        """The constants in pools, by name."""
        return {place.name: place for place in self.constants}

    def pool(self, name: str) -> Pool:
        """The workspace or constant pool of that name. Raises StopIteration if there is none."""
        return next(p for p in (*self.pools, *self.constant_pools) if p.name == name)
