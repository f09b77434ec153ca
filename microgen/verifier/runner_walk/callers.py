"""The known buffers that a program's functions pass to the entry point of a model. They must not
lie inside the model's memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from microgen.base.manifest import ModuleRecord, PortRecord
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.runner_walk.arguments import VALUE_BYTES
from microgen.verifier.runner_walk.execution import Onward, RunnerMemory
from microgen.verifier.runner_walk.values import (
    STACK,
    CannotFollowError,
    PathState,
    SymbolicValue,
    UndecidedError,
    Value,
    const,
    moved,
)
from microgen.verifier.runner_walk.walk import Runner

_POINTER_BYTES = 4
_MAX_VISITS = 20_000  # of instructions; after more, nothing is reported
_PLACE = re.compile(r"[0-9a-f]+ <.*>")  # the last operand of a branch


class Lenient(RunnerMemory):
    """The memory of a program that may write anywhere. Only values that it writes through a pointer
    to the stack are known afterwards."""

    def store(self, state: PathState, at: Value, value: Value, size: int = _POINTER_BYTES) -> None:
        """Store a value on the stack as ``RunnerMemory`` does. Other stores have no effect."""
        # A caller's stack frame has no known size, so every offset is its own.
        if at is not None and at.base == STACK:
            RunnerMemory.store(replace(self, on_stack=2**31), state, at, value, size)


@dataclass(slots=True)
class Survey:
    """Collects the facts that hold at each instruction of a function on all paths to it."""

    runner: Runner
    states: dict[int, PathState] = field(default_factory=dict)
    work: list[int] = field(default_factory=list)

    @property
    def fixed(self) -> frozenset[str]:
        """The registers that no function changes."""
        return self.runner.arch.calls.fixed | {"sp"}

    def run(self) -> None:
        """Follow the function until the facts no longer change."""
        self.reach(PathState(self.runner.start, dict(self.runner.registers)), self.runner.start)
        for _ in range(_MAX_VISITS):
            if not self.work:
                return
            state = self.states[self.work.pop()]
            instruction = self.runner.instructions[state.pc]
            for onward, after in self.outcomes(instruction, state):
                self.go_on(instruction, onward, after)
        self.states = {}  # nothing is known, so nothing is reported

    def reach(self, state: PathState, address: int) -> None:
        """Continue at an address of the function."""
        if address not in self.runner.instructions:
            return
        old = self.states.get(address)
        new = replace(state, pc=address) if old is None else _common(old, state)
        if new != old:
            self.states[address] = new
            self.work.append(address)

    def outcomes(
        self, instruction: Instruction, state: PathState
    ) -> Iterator[tuple[Onward, PathState]]:
        """The places to which an instruction may lead, and the state at each."""
        after = _copy(state)
        try:
            yield self.runner.execute(instruction, after), after
        except UndecidedError as error:
            # Nothing is planned about a caller, so both ways are followed.
            for is_zero in (False, True):
                yield from self.outcomes(instruction, state.divided(error.value, is_zero=is_zero))
        except (CannotFollowError, LookupError, ValueError):
            yield from self.unknown_outcomes(instruction, state)

    def unknown_outcomes(
        self, instruction: Instruction, state: PathState
    ) -> Iterator[tuple[Onward, PathState]]:
        """The outcomes of an instruction that cannot be followed."""
        if instruction.condition:
            yield Onward("jump", const(instruction.skip_to)), _copy(state)
            yield from self.outcomes(replace(instruction, condition=""), state)
        elif instruction.operands and _PLACE.fullmatch(instruction.operands[-1]):
            yield Onward("jump", const(instruction.target)), _copy(state)
            yield Onward("next"), _copy(state)
        else:
            # After it, only the stack pointer and the registers that no function changes are known.
            yield Onward("next"), replace(state, registers=_only(state, self.fixed), flags=None)

    def go_on(self, instruction: Instruction, onward: Onward, after: PathState) -> None:
        """Continue at the places to which an instruction leads inside the function. Calls are
        passed over."""
        if onward.kind == "next":
            self.reach(after, instruction.next)
        elif onward.kind == "call":
            known = _only(after, self.fixed | self.runner.arch.calls.preserved)
            self.reach(PathState(after.pc, known, after.stack), instruction.next)
        elif onward.target is not None and onward.target.is_constant:
            address = onward.target.offset & ~1
            if address not in self.runner.functions:  # otherwise a tail call
                self.reach(after, address)


def _only(state: PathState, names: frozenset[str]) -> dict[str, SymbolicValue]:
    return {name: value for name, value in state.registers.items() if name in names}


def _copy(state: PathState) -> PathState:
    return replace(state, registers=dict(state.registers), stack=dict(state.stack))


def _common(a: PathState, b: PathState) -> PathState:
    """The facts that hold in both states."""
    registers = dict(a.registers.items() & b.registers.items())
    stack = dict(a.stack.items() & b.stack.items())
    zeros = dict(a.zeros.items() & b.zeros.items())
    return PathState(a.pc, registers, stack, a.flags if a.flags == b.flags else None, zeros)


def buffers(
    runner: Runner, module: ModuleRecord, target: int
) -> Iterator[tuple[int, PortRecord, int]]:
    """The buffers that are known where the function calls the model's entry point at ``target``:
    the address of the call, the port, and the address of the buffer."""
    survey = Survey(runner)
    survey.run()
    for site, state in sorted(survey.states.items()):
        if _goes_to(runner.instructions[site], target):
            passed = _tensors if module.options.get("interface") == "packed" else _members
            for port, pointer in passed(runner, module, state):
                if pointer is not None and pointer.is_constant:
                    yield site, port, pointer.offset


def _members(
    runner: Runner, module: ModuleRecord, state: PathState
) -> Iterator[tuple[PortRecord, Value]]:
    """The pointers in the structures of inputs and outputs. Fed rows are passed without one."""
    registers = runner.arch.calls.arguments
    inputs: tuple[PortRecord, ...] = module.inputs
    if module.feed:
        yield inputs[0], state.registers.get(registers[0])
        inputs = ()
    for register, ports in zip(registers, (inputs, module.outputs), strict=False):
        for i, port in enumerate(ports):
            place = moved(state.registers.get(register), i * _POINTER_BYTES)
            yield port, runner.memory.load(state, place)


def _tensors(
    runner: Runner, module: ModuleRecord, state: PathState
) -> Iterator[tuple[PortRecord, Value]]:
    """The data of the tensors that are passed by the packed convention."""
    values = state.registers.get(runner.arch.calls.arguments[0])
    for i, port in enumerate((*module.inputs, *module.outputs)):
        tensor = runner.memory.load(state, moved(values, i * VALUE_BYTES))
        yield port, runner.memory.load(state, tensor)


def _goes_to(instruction: Instruction, target: int) -> bool:
    is_direct = instruction.effect.flow.kind in ("jump", "call")
    return is_direct and instruction.target == target


def calling(runner: Runner, target: int) -> list[int]:
    """The functions that call the entry point directly."""
    starts = sorted(runner.functions)
    # Only direct calls are seen. Indirect calls prove nothing.
    sites = [a for a, i in runner.instructions.items() if _goes_to(i, target)]
    return sorted({max((s for s in starts if s <= site), default=-1) for site in sites} - {-1})


def problems(runner: Runner, module: ModuleRecord, pools: Mapping[str, range]) -> Iterator[str]:
    """Buffers of the callers that overlap a pool. ``runner`` is the model's, ``pools`` have the
    addresses of each pool by its symbol."""
    if module.options.get("workspace_io"):
        return  # inputs and outputs are planned there
    memory = Lenient(runner.memory.constant, 0)
    for start in calling(runner, runner.start):
        caller = replace(runner, start=start, memory=memory)
        for site, port, address in buffers(caller, module, runner.start):
            for name, pool in pools.items():
                end = address + module.passed_bytes(port)
                if address < pool.stop and pool.start < end:
                    yield f"at {site:#x}: {port.name} is passed at {address:#x}, inside {name}"


def pool_ranges(modules: Iterable[ModuleRecord], elf: Elf) -> dict[str, range]:
    """The addresses of the pools that are part of the firmware."""
    pools = [pool for module in modules for pool in module.plan.pools if pool.symbol]
    symbols = [symbol for pool in pools for symbol in elf.named(pool.symbol)]
    return {symbol.name: range(symbol.address, symbol.end) for symbol in symbols}
