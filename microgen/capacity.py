"""Whether a program can fit a board, as far as that is certain before it is compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from microgen import cnames
from microgen.errors import BoardError, CapacityError
from microgen.ir.graph import DType
from microgen.manifest import EstimateRecord
from microgen.options import Options
from microgen.program import MemoryPlan, Program
from microgen.target.board import Board
from microgen.target.cpu import Feature

# What start-up, semihosting, main and the smallest operators are sure to need, in bytes, measured
# with the smallest firmware (one copy operator, -O2, Cortex-M0 to M55) and rounded down.
_LEAST_CODE = 1024
_CODE = 2560  # what they typically need
_CODE_PER_FUNCTION = 450  # a typical operator compiled for its own shape
_CODE_SHARED = 120  # a typical operator that calls a shared kernel
_SOFT_FLOAT = 1800  # libgcc's, for float32 without an FPU
_TIMES_THUMB = {"riscv": 1.35}  # how much larger code is on other cores than on Cortex-M
# A program of the host, which has no memories of its own: it is made to try out what is for boards,
# and gets several times what the largest of those has. As C, constants take five times their size.
_HOST_RAM = 2**28
_HOST_FLASH = 2**26
_OTHER_RAM = ("other data", 64)  # .data and .bss of the runtime


@dataclass(frozen=True, slots=True)
class _Need:
    """Bytes needed of one memory, what they are made of, and what would help."""

    memory: str
    total: int
    parts: tuple[tuple[str, int], ...]
    help: str


def check_regions(plan: MemoryPlan, board: Board) -> None:
    """Raises BoardError for a pool in a memory which the board has not, or not for that."""
    for pool in (*plan.pools, *plan.constant_pools):
        fit = [m.name for m in board.memories if ("w" in m.access) is not pool.is_constant]
        if pool.memory and pool.memory not in fit:
            raise BoardError(
                f"{board.name} has no memory {pool.memory!r} for it",
                where=f"--pool {pool.name}",
                hint=f"memories: {', '.join(fit)}" if fit else "leave memory= out for the host",
            )


def placed(program: Program, plan: MemoryPlan, board: Board, options: Options) -> Board:
    """The board with the memories chosen that take the model's constants, the workspace and
    main's buffers: each where the board has it, unless it certainly does not fit there."""
    if board.is_host:
        return board
    flash = board.memory(board.flash).length
    if board.large_constants and _flash(program, board, options).total > flash:
        board = replace(board, constants=board.large_constants)
    return next((b for b in _arranged(board) if _fits(program, plan, b)), board)


def _arranged(board: Board) -> Iterator[Board]:
    """The ways to place buffers: as few as can be in the slower memory, the workspace last."""
    yield board
    if board.large_buffers:
        yield replace(board, buffers=board.large_buffers)
        yield replace(board, arena=board.large_buffers)
        yield replace(board, arena=board.large_buffers, buffers=board.large_buffers)


def _fits(program: Program, plan: MemoryPlan, board: Board) -> bool:
    needs = _by_memory(program, plan, board)
    return all(need.total <= board.memory(name).length for name, need in needs.items())


def check(program: Program, plan: MemoryPlan, board: Board, options: Options) -> EstimateRecord:
    """Estimate flash and RAM in bytes.

    Raises CapacityError, naming bytes needed, bytes there and the largest contributors, if the
    board or a budget is certainly too small. What is not certain is left to the linker.
    """
    parts = _ram_parts(program, plan, board)
    ram = _ram(program, plan, [part for _, part in parts], "RAM")
    flash = _flash(program, board, options)
    if not board.is_host:
        for name, need in _by_memory(program, plan, board).items():
            _refuse(need, board.memory(name).length, f"{board.name} has", 0)
        uncertain = _code(program, board, options) - _LEAST_CODE
        names = {board.flash, board.constants, *(p.memory for p in plan.constant_pools)} - {""}
        there = sum(board.memory(name).length for name in names)
        _refuse(flash, there, f"{board.name} has", uncertain)
    else:
        _refuse(ram, _HOST_RAM, "a program of the host gets", 0)
        _refuse(flash, _HOST_FLASH, "a program of the host gets", 0)
    if options.ram:
        _refuse(ram, options.ram, "the --ram budget is", 0)
    if options.flash:
        _refuse(
            flash,
            options.flash,
            "the --flash budget is",
            _code(program, board, options) - _LEAST_CODE,
        )
    return EstimateRecord(flash.total, ram.total, options.flash, options.ram)


def _refuse(need: _Need, there: int, who: str, uncertain: int) -> None:
    if need.total - uncertain <= there:
        return
    largest = sorted(need.parts, key=lambda part: (-part[1], part[0]))[:4]
    listed = ", ".join(f"{name} {nbytes:,}" for name, nbytes in largest)
    raise CapacityError(
        f"needs {need.total:,} bytes of {need.memory}, {who} {there:,} "
        f"({need.total - there:,} too many); largest: {listed}",
        hint=need.help,
    )


def _ram_parts(
    program: Program, plan: MemoryPlan, board: Board
) -> list[tuple[str, tuple[str, int]]]:
    """The memory, name and bytes of each thing that takes RAM."""
    is_only = len(plan.pools) == 1
    parts = [
        (
            pool.memory or (board.arena if pool.is_internal else board.buffers),
            ("workspace" if is_only else f"pool {pool.name}", pool.nbytes),
        )
        for pool in plan.pools
    ]
    for kind, ports in (("input", program.inputs), ("output", program.outputs)):
        for p in ports:
            if not p.buffer:
                name = f'{kind} "{cnames.short(p.tensor)}"'
                parts.append((board.buffers, (name, p.type.nbytes)))
    return [*parts, (board.ram, ("stack", board.stack_bytes)), (board.ram, _OTHER_RAM)]


def _by_memory(program: Program, plan: MemoryPlan, board: Board) -> dict[str, _Need]:
    """What each memory must hold; the board's RAM first."""
    parts = _ram_parts(program, plan, board)
    names = dict.fromkeys([board.ram, *(name for name, _ in parts)])
    return {
        name: _ram(
            program,
            plan,
            [part for memory, part in parts if memory == name],
            "RAM" if name == board.ram else name,
        )
        for name in names
    }


def _ram(
    program: Program, plan: MemoryPlan, parts: Sequence[tuple[str, int]], memory: str
) -> _Need:
    step, names = _peak_step(program, plan)
    return _Need(
        memory,
        sum(nbytes for _, nbytes in parts),
        tuple(parts),
        f"the workspace peaks at call {step + 1} of {len(program.calls)} ({names}): a smaller "
        "input or narrower layers there would help, or a board with more RAM",
    )


def _peak_step(program: Program, plan: MemoryPlan) -> tuple[int, str]:
    """The call with most live bytes, and the tensors that live there."""
    tensors = {buffer.name: buffer.tensor for buffer in program.buffers}

    def live(tick: int) -> list[str]:
        return [p.name for p in plan.placements if p.first <= tick <= p.last]

    ticks = range(2 * len(program.calls))
    if not plan.placements:
        return 0, "nothing but inputs and outputs"
    best = max(ticks, key=lambda t: (sum(plan.by_name[n].nbytes for n in live(t)), -t))
    named = [f'"{cnames.short(tensors.get(n, n))}" {plan.by_name[n].nbytes:,}' for n in live(best)]
    return best // 2, ", ".join(named)


def _flash(program: Program, board: Board, options: Options) -> _Need:
    constants = [
        (f'"{cnames.short(c.origin)}" {c.name}', c.array.nbytes) for c in program.constants
    ]
    padding = _padding(program, options)
    blob = sum(len(code.payload) for _, code in program.runtime_modules)
    parts = (
        *constants,
        *((("--constant-alignment", padding),) if padding else ()),
        *((("modules of the blob", blob),) if blob else ()),
        ("code, about", _code(program, board, options)),
    )
    return _Need(
        "flash",
        sum(nbytes for _, nbytes in parts),
        parts,
        "fewer or narrower layers would help, or a board with more flash",
    )


def _padding(program: Program, options: Options) -> int:
    """Bytes that constants take because they are aligned to more than words."""
    sizes = [constant.array.nbytes for constant in program.constants]
    return sum(-size % options.constant_alignment - -size % 4 for size in sizes)


def _code(program: Program, board: Board, options: Options) -> int:
    each = _CODE_PER_FUNCTION if options.specialises else _CODE_SHARED
    thumb = _CODE + each * len(program.functions)
    if Feature.FPU not in board.cpu.features and _computes_floats(program):
        thumb += _SOFT_FLOAT
    return round(thumb * _TIMES_THUMB.get(board.cpu.architecture, 1))


def _computes_floats(program: Program) -> bool:
    return any(call.tensor_type.dtype is DType.FLOAT32 for call in program.calls)
