"""The stack that a firmware reserves: the measured need of its code, and a margin.

The code needs the entry path from the reset handler to the runner, the deepest operator, and one
exception. ``kernels/measured/stack_bytes.json`` has all of them for cores and toolchains.
``verify`` proves from the ELF that the reserve suffices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from microgen.base.errors import BoardError
from microgen.base.formats.c_layout import aligned
from microgen.kernels import stack
from microgen.kernels.stack import MeasuredColumn
from microgen.options import STACK_UNIT, Options
from microgen.planner.program.control import Control, InnerFunction
from microgen.planner.program.types import KernelCall, PrimFunc, Program
from microgen.project.firmware import code_size, entry_stack
from microgen.target.board import Board
from microgen.target.cpu import Cpu

_ALIGNMENT = {"arm": 8, "riscv": 16}  # of the stack pointer, by the procedure call standards
_FED = {"arm": 48, "riscv": 96}  # the most measured was 32 and 80, with GCC
_PORTS = 2  # in which tensors may lie, before it is known
_PER_KERNEL = 8  # of each further kernel in one function
# Assumed of code that no kernel is: other code generators' functions, runtimes of modules, drivers.
_FOREIGN = 2048  # bytes
# For a build whose compiler or flags were not measured: levels of calls between the kernels'
# functions and between the platform's functions (2 and 7 were found without optimization), and
# bytes of functions of GCC's library (48 were found).
_KERNEL_NESTING = 6
_PLATFORM_NESTING = 10
_LIBRARY = 128


@dataclass(frozen=True, slots=True)
class Stack:
    """Bytes of stack: the ``bound`` that the code is expected to need, the ``margin`` for nested
    exceptions, and the reserve, which is usually their sum. All are 0 on the host."""

    bound: int = 0
    margin: int = 0
    reserve: int = 0

    @property
    def is_computed(self) -> bool:
        """Whether the reserve is the sum of bound and margin. Such a reserve grows in a build if
        the compiled code needs more stack; a reserve that the user chose is kept."""
        return self.reserve == reserve(self.bound + self.margin)

    @property
    def doubt(self) -> str:
        """A remark if the reserve is below the stack that may be needed; empty otherwise."""
        needed = self.bound + self.margin
        if needed <= self.reserve:
            return ""
        return (
            f"the stack of {self.reserve:,} bytes may be too small: it needs up to {self.bound:,} "
            f"and a margin of {self.margin:,}"
        )


def of(programs: Sequence[Program], board: Board, options: Options) -> Stack:
    """The stack of a firmware with the programs of its models, which run one after the other. It
    reserves the bytes of ``--stack``, or else of the board, or else the bound and the margin.

    Raises BoardError if the options request a stack on the host."""
    if board.is_host:
        if options.stack is not None:
            raise BoardError(
                f"{board.name} is the host, whose stack is not reserved",
                where="--stack",
                hint="leave it out",
            )
        return Stack()
    deepest = max(bound(program, board.cpu, options) for program in programs)
    margin = options.stack_margin
    if is_computed(board, options):
        return Stack(deepest, margin, reserve(deepest + margin))
    return Stack(deepest, margin, options.stack or board.stack_bytes)


def is_fitted(board: Board) -> bool:
    """Whether a build may reserve more stack than planned, because neither the user nor the board's
    file chose it."""
    return not (board.is_host or board.has_stack)


def template_values(board: Board, toolchain: str, margin: int) -> dict[str, int]:
    """The numbers in the project's build files from which a build computes the stack."""
    return {
        "is_fitted": is_fitted(board),
        "measured_release": stack.RELEASES[toolchain],
        "kernel_nesting": _KERNEL_NESTING,
        "platform_nesting": _PLATFORM_NESTING,
        "library_stack": _LIBRARY,
        "stack_margin": margin,
    }


def is_computed(board: Board, options: Options) -> bool:
    """Whether the code decides the reserve."""
    return not (board.is_host or board.has_stack or options.stack)


def around(board: Board, options: Options, ports: int) -> int:
    """The reserve without the calls of operators: all of it, if the code does not decide.
    ``ports`` is the number of inputs and outputs."""
    if board.is_host:
        return 0
    if not is_computed(board, options):
        return options.stack or board.stack_bytes
    column = stack.column(board.cpu, options.toolchain)
    entry = column.entry(f"{code_size.runner(options)} call")
    entry += entry_stack.until_runner(ports, options) + _PORTS * entry_stack.KEPT
    frame = board.cpu.exception_frame + column.entry("handler") + _ALIGNMENT[board.cpu.architecture]
    thread = entry + entry // stack.DOUBT + _fed(board.cpu, options)
    return thread + frame + options.stack_margin + STACK_UNIT


def _fed(cpu: Cpu, options: Options) -> int:
    """The additional stack of ``main``, the runner and its first call if they feed rows."""
    return _FED.get(cpu.architecture, 0) if options.input_rows else 0


def calls(program: Program, board: Board, options: Options) -> int:
    """The reserve for the calls of operators: 0 if the code does not decide."""
    ports = entry_stack.count(program)
    return max(0, of([program], board, options).reserve - around(board, options, ports))


def reserve(nbytes: int) -> int:
    """The least bytes that a linker script can reserve for ``nbytes`` bytes."""
    return aligned(nbytes, STACK_UNIT)


def bound(program: Program, cpu: Cpu, options: Options) -> int:
    """The most bytes of stack that the firmware is expected to take, without a margin."""
    column = stack.column(cpu, options.toolchain)
    thread = max(_runner(program, column, options), *_others(program, column, options))
    thread += _fed(cpu, options) + thread // stack.DOUBT
    unit = _ALIGNMENT[cpu.architecture]
    return aligned(thread, unit) + cpu.exception_frame + aligned(column.entry("handler"), unit)


def _runner(program: Program, column: MeasuredColumn, options: Options) -> int:
    """The path to the deepest operator."""
    entry = column.entry(f"{code_size.runner(options)} call")
    deepest = max((_operator(f, column) for f in program.functions), default=0)
    return entry + entry_stack.until_call(program, options) + deepest


def _others(program: Program, column: MeasuredColumn, options: Options) -> Iterator[int]:
    """The paths without operators: input and output, the check of packed arguments, the loader of
    modules, and the drivers of devices."""
    runner = code_size.runner(options)
    own = entry_stack.above(entry_stack.count(program), options)
    if runner == "packed":
        own = entry_stack.until_call(program, options)
    yield column.entry(f"{runner} other") + own
    if program.runtime_modules or program.devices:
        yield _FOREIGN


def _operator(function: PrimFunc, column: MeasuredColumn) -> int:
    """The most bytes of stack of an operator's call."""
    if function.made is not None:
        return _FOREIGN
    if function.control:
        return _control(function, function.control, column)
    if not function.kernels:
        return _FOREIGN
    deepest = max(_kernel(kernel, function, column) for kernel in function.kernels)
    if function.rolling:
        most = max(len(part.parameters) for part in function.rolling.parts)
        # A patch is one more function between the loop and the parts, with the row's number.
        patches = function.rolling.patches
        inner = (column.rolled + stack.arguments(len(p.parameters) + 1) for p in patches)
        return column.rolled + stack.arguments(most) + deepest + max(inner, default=0)
    return deepest + _PER_KERNEL * (len(function.body) - 1)


def _control(function: PrimFunc | InnerFunction, control: Control, column: MeasuredColumn) -> int:
    """The most bytes of stack of a function that calls others in a loop or a branch."""
    own = column.rolled + stack.arguments(len(function.parameters))
    deepest = 0
    for called in {call.function for call in control.every}:
        if called.control:
            nbytes = _control(called, called.control, column)
        else:
            kernels = [_kernel(kernel, called, column) for kernel in called.body]
            nbytes = max(kernels) + _PER_KERNEL * (len(kernels) - 1)
        deepest = max(deepest, nbytes + stack.arguments(len(called.parameters)))
    return own + deepest


def _kernel(kernel: KernelCall, function: PrimFunc | InnerFunction, column: MeasuredColumn) -> int:
    one = stack.has_one_batch(kernel.params)
    nbytes = column.kernel(kernel.code.stem, is_shared=kernel.is_shared, one_batch=one)
    # The out-of-line form gets the parameters of the kernel in addition to the operator's own.
    return nbytes + stack.arguments(len(function.parameters) + 2) * kernel.is_shared
