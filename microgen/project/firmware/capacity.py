"""Judges before a program is compiled whether it fits a board: surely, surely not, or perhaps.

Every part that takes memory has a lower bound and, if one is known, an upper bound. If the sum of
the lower bounds does not fit, the program is refused. If only the sum of the upper bounds does not
fit, the project is generated with a remark, and ``verify`` measures the ELF later.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from microgen.base.errors import BoardError, CapacityError
from microgen.base.manifest import EstimateRecord
from microgen.base.names import cnames
from microgen.options import Options
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import Program
from microgen.project.firmware import code_size, stack_size
from microgen.project.firmware.stack_size import Stack
from microgen.target.board import Board
from microgen.target.cpu import Feature

# Estimates that are shown. If the costs of all kernels are known: the size of the operators,
# relative to the sum of their costs, and the bytes beside them. Both are above what was measured,
# so that the firmware is not larger than it was said to be.
_OF_OPERATORS = 1.08
_BESIDE = {"c": 2300, "packed": 5400, "graph": 10300}
_BESIDE_FUNCTION = 60
# Otherwise typical sizes of code in bytes.
_CODE = {"c": 2560, "packed": 4200, "graph": 10500}
_CODE_PER_FUNCTION = 450  # a typical operator compiled for its own shape
_CODE_SHARED = 120  # a typical operator that calls a shared kernel
_SOFT_FLOAT = 1800  # libgcc's functions for float32 without an FPU
_TIMES_THUMB = {"riscv": 1.35}  # code size on other cores, relative to Cortex-M
# The host has no fixed memories. Its programs are for trying out programs for boards, so they get
# several times the memory of the largest board. In C source, constants take five times their size.
_HOST_RAM = 2**28
_HOST_FLASH = 2**30
STATIC_DATA = 64  # .data and .bss of the runtime, at most
_IO_ALIGNMENT = 16  # the alignment of main's buffers
_VECTORS = 64  # the least bytes of an Arm core's vectors
_MOST_NAMED = 3  # largest parts in a message
_NO_STACK = Stack()


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a memory's contents: its least, likely and greatest number of bytes (None: not
    known)."""

    memory: str
    name: str
    least: int
    likely: int
    most: int | None


_Parts = tuple[_Part, ...]


def _sum(parts: _Parts) -> _Part:
    known = [part.most for part in parts if part.most is not None]
    return _Part(
        "",
        "",
        sum(part.least for part in parts),
        sum(part.likely for part in parts),
        # If a part has no upper bound, the sum has no upper bound.
        sum(known) if len(known) == len(parts) else None,
    )


@dataclass(frozen=True, slots=True)
class Footprint:
    """The things that must fit: a program and its plan, or several ``modules`` together.

    ``stored`` is the number of bytes in read-only memory that the graph executor reads, ``code``
    the likely bytes of the operators' code if the costs of all kernels are known.
    """

    program: Program
    plan: MemoryPlan
    options: Options
    modules: int = 1
    stored: int = 0
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The record for the manifest, and a sentence for each memory or budget that may be too
    small."""

    record: EstimateRecord
    doubts: tuple[str, ...]


def check_regions(plan: MemoryPlan, board: Board) -> None:
    """Raise BoardError for a pool in a memory that the board does not have, or that pools cannot
    be in."""
    for pool in (*plan.pools, *plan.constant_pools):
        fit = [m.name for m in board.memories if (m in board.rams) is not pool.is_constant]
        if pool.memory and pool.memory not in fit:
            raise BoardError(
                f"{board.name} has no memory {pool.memory!r} for this pool",
                where=f"--pool {pool.name}",
                hint=f"choose from {', '.join(fit)}" if fit else "leave memory= out for the host",
            )


_ALIGNED = 3  # objects that are aligned in most models: the workspace, an input and an output


def ram_limit(board: Board, options: Options, ports: int, modules: int = 1) -> int:
    """The bytes that schedules of all models may have for pools, inputs, outputs and the calls of
    operators: ``buffers_limit`` without the stack around these calls. ``ports`` is the number of
    inputs and outputs."""
    return buffers_limit(board, options, modules) - stack_size.around(board, options, ports)


def budget(options: Options) -> int:
    """The budget of RAM in bytes. Without a budget it is a number that no RAM exceeds."""
    # So callers compare with one number, whether or not there is a budget.
    return options.ram or sys.maxsize


def buffers_limit(board: Board, options: Options, modules: int = 1) -> int:
    """The bytes that pools, inputs and outputs of all models and the stack may have together, which
    is ``--ram`` or the size of the board's memories, minus the bytes of other data."""
    # The memory of the caller's own pools is not known.
    if board.is_host or options.pool:
        return budget(options)
    names = {board.ram, board.buffers, board.arena, board.large_buffers} - {""}
    there = sum(board.memory(name).length for name in names)
    return min(there, budget(options)) - modules * (STATIC_DATA + _ALIGNED * _IO_ALIGNMENT)


def placed(footprint: Footprint, board: Board) -> Board:
    """The board with memories chosen for the model's constants, the workspace and main's buffers.
    Each is in the board's usual memory for it, unless it may not fit there."""
    if board.is_host:
        return board
    flash = board.memory(board.flash).length
    if board.large_constants and _sum(_flash(footprint, board)).likely > flash:
        board = replace(board, constants=board.large_constants)
    return next((b for b in _arranged(board) if _holds(footprint, b)), board)


def _arranged(board: Board) -> Iterator[Board]:
    """The ways to place buffers, best first: with as few buffers as possible in the slower memory,
    and the workspace there last."""
    yield board
    if board.large_buffers:
        yield replace(board, buffers=board.large_buffers)
        yield replace(board, arena=board.large_buffers)
        yield replace(board, arena=board.large_buffers, buffers=board.large_buffers)


def _holds(footprint: Footprint, board: Board) -> bool:
    return all(
        (part.likely if part.most is None else part.most) <= board.memory(name).length
        for name, part in (
            (name, _sum(parts)) for name, parts in _by_memory(_ram(footprint, board)).items()
        )
    )


def _by_memory(parts: _Parts) -> dict[str, _Parts]:
    names = dict.fromkeys(part.memory for part in parts)
    return {name: tuple(part for part in parts if part.memory == name) for name in names}


def check(footprint: Footprint, board: Board, stack: Stack = _NO_STACK) -> Estimate:
    """Bounds and estimates of flash and RAM in bytes. ``board`` has the stack that is reserved.

    Raises CapacityError, with the needed bytes, the available bytes and advice, if a memory of the
    board or a budget is certainly too small. Memories that may be too small are among the doubts.
    """
    options, parts = footprint.options, {"RAM": _ram(footprint, board)}
    parts["flash"] = _flash(footprint, board)
    doubts = [_judged(footprint, *limit) for limit in _limits(parts, board, options)]
    doubts.append(stack.doubt)
    ram, flash = _sum(parts["RAM"]), _sum(parts["flash"])
    record = EstimateRecord(
        flash=flash.likely,
        ram=ram.likely,
        flash_budget=options.flash,
        ram_budget=options.ram,
        flash_least=flash.least,
        flash_most=flash.most or 0,
        ram_least=ram.least,
        ram_most=ram.most or 0,
        stack_bound=stack.bound,
        stack_margin=stack.margin,
    )
    return Estimate(record, tuple(filter(None, doubts)))


def least_ram(footprint: Footprint, board: Board) -> int:
    """The least bytes of RAM that a firmware needs. ``board`` has the stack that is reserved."""
    return _sum(_ram(footprint, board)).least


def _limits(
    parts: Mapping[str, _Parts], board: Board, options: Options
) -> Iterator[tuple[str, _Parts, int, str]]:
    """Parts of one kind of memory with the bytes available for them, and the memory or budget that
    provides these, as text."""
    for kind, every in () if board.is_host else parts.items():
        for name, own in _by_memory(every).items():
            yield kind, own, board.memory(name).length, f"{board.name}'s {name} has"
    if board.is_host:
        yield "RAM", parts["RAM"], _HOST_RAM, "a program on the host gets"
        yield "flash", parts["flash"], _HOST_FLASH, "a program on the host gets"
    if options.ram:
        yield "RAM", parts["RAM"], options.ram, "the --ram budget is"
    if options.flash:
        yield "flash", parts["flash"], options.flash, "the --flash budget is"


def _judged(footprint: Footprint, kind: str, parts: _Parts, there: int, whose: str) -> str:
    """The remark; empty if everything fits. Raises CapacityError if it cannot fit."""
    need = _sum(parts)
    if need.least > there:
        # The name decides between equal parts, so that messages are the same on every run.
        largest = sorted(parts, key=lambda part: (-part.least, part.name))[:_MOST_NAMED]
        listed = ", ".join(f"{part.name} {part.least:,}" for part in largest if part.least)
        raise CapacityError(
            f"needs at least {need.least:,} bytes of {kind}, but {whose} {there:,} "
            f"({need.least - there:,} too many); largest: {listed}",
            kind=kind,
            needed=need.least,
            there=there,
            hint=_help(footprint, kind),
        )
    if (need.likely if need.most is None else need.most) <= there:
        return ""
    needed = f"{need.least:,} bytes of {kind} or more"
    if need.most is not None:
        needed = f"{need.least:,} to {need.most:,} bytes of {kind}"
    return f"may not fit: it needs {needed}, and {whose} {there:,}"


def _help(footprint: Footprint, kind: str) -> str:
    if kind == "flash":
        return "use fewer or narrower layers, or a board with more flash"
    step, names = _peak_step(footprint.program, footprint.plan)
    return (
        f"the workspace peaks at call {step + 1} of {len(footprint.program.calls)} ({names}): "
        "use narrower layers, a smaller input, or a board with more RAM"
    )


def _peak_step(program: Program, plan: MemoryPlan) -> tuple[int, str]:
    """The call with the most live bytes, and the largest tensors that are live there."""
    if not plan.workspace:
        return 0, "nothing but inputs and outputs"
    best = _peak_time(plan)
    tensors = {buffer.name: buffer.tensor for buffer in program.buffers}
    live = [p for p in plan.workspace if p.first <= best <= p.last]
    largest = sorted(live, key=lambda p: -p.nbytes)[:2]
    named = [f"{_named(tensors.get(p.name, ''))} {p.nbytes:,}" for p in largest]
    more = [f"{len(live) - len(largest)} more"] if len(live) > len(largest) else []
    return min(best // 2, len(program.calls) - 1), ", ".join([*named, *more])


def _named(tensor: str) -> str:
    return f'"{cnames.public(tensor)}"' if tensor else "scratch"


def _peak_time(plan: MemoryPlan) -> int:
    """The first half step with the largest number of live bytes."""

    def live(time: int) -> int:
        return sum(p.nbytes for p in plan.workspace if p.first <= time <= p.last)

    # Only where a lifetime begins there are more live bytes than just before.
    return max(sorted({p.first for p in plan.workspace}), key=live)


def _ram(footprint: Footprint, board: Board) -> _Parts:
    program, plan = footprint.program, footprint.plan
    ports = [("input", p) for p in program.inputs] + [("output", p) for p in program.outputs]
    sizes = program.io_sizes
    is_known = not (program.external_modules or program.devices)
    other = STATIC_DATA * footprint.modules
    return (
        *_pools(plan, board),
        *(
            _exactly(board.buffers, f"what is in front of {pool.port}", pool.before)
            for pool in plan.port_pools
            if pool.before
        ),
        *(
            _aligned(board.buffers, f'{kind} "{cnames.short(p.public_name)}"', sizes[p.name])
            for kind, p in ports
            if p.name in sizes
        ),
        _exactly(board.ram, "stack", board.stack_bytes),
        _Part(board.ram, "static data", 0, STATIC_DATA, other if is_known else None),
    )


def _pools(plan: MemoryPlan, board: Board) -> Iterator[_Part]:
    pools = [pool for pool in plan.pools if not pool.port]
    for pool in pools:
        memory = pool.memory or (board.arena if pool.is_internal else board.buffers)
        name = "workspace" if len(pools) == 1 else f"pool {pool.name}"
        yield _aligned(memory, name, pool.nbytes, pool.alignment)


def _aligned(memory: str, name: str, nbytes: int, alignment: int = _IO_ALIGNMENT) -> _Part:
    """The part of an object. At most, it also contains the bytes that align the object."""
    # The upper bound includes the bytes before the object that align it.
    return _Part(memory, name, nbytes, nbytes, nbytes + alignment - 1)


def _exactly(memory: str, name: str, nbytes: int) -> _Part:
    return _Part(memory, name, nbytes, nbytes, nbytes)


def _flash(footprint: Footprint, board: Board) -> _Parts:
    program, options = footprint.program, footprint.options
    blob = sum(len(code.payload) for _, code in program.runtime_modules)
    block = board.boot_block
    vectors = _VECTORS if board.cpu.architecture == "arm" else 0
    likely = _likely_code(footprint, board)
    most = code_size.most(program, board.cpu, options, footprint.modules)
    code = _Part(board.flash, "code", code_size.LEAST + vectors, likely, most)
    return (
        *_constants(footprint, board),
        _exactly(board.constants, "the executor's graph", footprint.stored),
        _exactly(board.flash, "modules of the blob", blob),
        *([_exactly(board.flash, "boot block", block.nbytes)] if block else []),
        code,
    )


def _constants(footprint: Footprint, board: Board) -> Iterator[_Part]:
    plan, alignment = footprint.plan, footprint.options.constant_alignment
    pools = {pool.name: pool for pool in plan.constant_pools}
    places = plan.constant_places
    for constant in footprint.program.constants:
        place, nbytes = places.get(constant.name), constant.array.nbytes
        pool = pools[place.pool] if place else None
        unit = max(alignment, pool.alignment if pool else 0, constant.array.itemsize)
        yield _Part(
            (pool.memory if pool else "") or board.constants,
            f'"{cnames.short(constant.origin)}" {constant.name}',
            nbytes,
            nbytes + -nbytes % alignment - -nbytes % 4,
            nbytes + unit - 1,
        )


def _likely_code(footprint: Footprint, board: Board) -> int:
    program, options = footprint.program, footprint.options
    runner = code_size.runner(options)
    if footprint.code is not None:
        beside = footprint.modules * _BESIDE[runner] + _BESIDE_FUNCTION * len(program.functions)
    else:
        # Functions with rows and patches have several kernels each.
        kernels = program.kernel_calls
        shared = sum(kernel.is_shared for kernel in kernels)
        own = max(len(program.functions), len(kernels)) - shared
        beside = _CODE[runner] + _CODE_PER_FUNCTION * own + _CODE_SHARED * shared
    if Feature.FPU not in board.cpu.features and code_size.computes_floats(program):
        beside += _SOFT_FLOAT
    beside = round(beside * _TIMES_THUMB.get(board.cpu.architecture, 1))
    return beside + round(_OF_OPERATORS * (footprint.code or 0))
