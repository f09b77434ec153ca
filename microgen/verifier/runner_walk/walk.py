"""Follows every path of a runner, and compares its calls and its result with the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from microgen.verifier.instructions.architecture import Architecture
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.runner_walk import values
from microgen.verifier.runner_walk.arguments import argument_problems, unpacked
from microgen.verifier.runner_walk.execution import Onward, RunnerMemory, execute
from microgen.verifier.runner_walk.plan import CallPlan
from microgen.verifier.runner_walk.values import (
    RETURN,
    STACK,
    CannotFollowError,
    PathState,
    SymbolicValue,
    UndecidedError,
    Value,
    const,
    result,
)

# Instructions on all paths: enough for each call and for the path of its failure.
_MAX_STEPS = 20_000
_MAX_STEPS_PER_CALL = 500
_MAX_PROBLEMS = 8  # a report prints the first three

# Functions that belong to the runner although they have a name: the parts of generated code that a
# compiler need not inline, and code that compilers and linkers put between a call and its function.
_OWN = re.compile(
    r"tvmgen_\w+___tvm_main__|run_operators|first_error|__riscv_(save|restore)_\d+"
    r"|OUTLINED_FUNCTION_\d+|__\w+_veneer|__(Thumb|ARM|LongThunk)\w*"
)


@dataclass(frozen=True, slots=True)
class Runner:
    """The code and data that a walk reads. ``functions`` are names by address. The walk begins at
    ``start``."""

    arch: Architecture
    memory: RunnerMemory
    instructions: Mapping[int, Instruction]
    functions: Mapping[int, str]
    start: int
    registers: Mapping[str, SymbolicValue]

    def execute(self, instruction: Instruction, state: PathState) -> Onward:
        """Change the state as an instruction does."""
        return execute(instruction, state, self.memory, self.arch.calls)


@dataclass(slots=True)
class RunnerWalk:
    """The paths of a runner. ``problems`` are by address; ``paths`` is the number of paths that
    return."""

    runner: Runner
    plan: CallPlan
    problems: dict[int, str] = field(default_factory=dict)
    paths: int = 0
    steps: int = 0
    work: list[PathState] = field(default_factory=list)

    def run(self) -> None:
        """Follow all paths until they return, or until there are enough problems."""
        standard = self.runner.arch.calls
        # Each register has a value of its own, so that a return with another register's value is
        # noticed.
        registers = {name: SymbolicValue(("register", name)) for name in standard.preserved}
        registers |= {standard.link: SymbolicValue(RETURN), **self.runner.registers}
        state = PathState(self.runner.start, registers, equal=self.plan.equal)
        for i in range(self.plan.parameters):
            self.pass_argument(state, i)
        self.work.append(state)
        while self.work and len(self.problems) < _MAX_PROBLEMS:
            self.follow(self.work.pop())

    def pass_argument(self, state: PathState, index: int) -> None:
        """Put a parameter in the register or on the stack, as the caller does."""
        names = self.runner.arch.calls.arguments
        if index < len(names):
            state.registers[names[index]] = values.parameter(index)
        else:
            state.stack[4 * (index - len(names))] = values.parameter(index)

    def follow(self, state: PathState) -> None:
        """Follow one path up to its end or to where it divides."""
        while True:
            address = state.pc
            instruction = self.runner.instructions.get(address)
            if instruction is None:
                self.problem(address, "no code is there")
                return
            self.steps += 1
            if self.steps > _MAX_STEPS + _MAX_STEPS_PER_CALL * len(self.plan.steps):
                self.problem(address, f"has no end after {self.steps} instructions")
                return
            try:
                onward = self.runner.execute(instruction, state)
                # An exception may come after any instruction, and pushes its frame there.
                state.forget_below_stack()
                if not self.go_on(state, instruction, onward):
                    return
            except UndecidedError as error:
                self.divide(state, instruction, error.value)
                return
            except (CannotFollowError, LookupError, ValueError) as error:
                why = f": it {error}" if isinstance(error, CannotFollowError) and error.args else ""
                self.problem(address, f"cannot follow `{instruction}`{why}")
                return

    def divide(self, state: PathState, instruction: Instruction, value: SymbolicValue) -> None:
        """Continue on two paths, if the runner may depend on the value."""
        if not self.plan.may_test(value):
            self.problem(state.pc, f"`{instruction}` depends on {value}")
            return
        # Both paths are followed, because the value is known only at run time.
        self.work += [state.divided(value, is_zero=False), state.divided(value, is_zero=True)]

    def problem(self, address: int, what: str) -> None:
        """Note a problem. Only the first note for each address is kept."""
        self.problems.setdefault(address, f"at {address:#x}: {what}")

    def go_on(self, state: PathState, instruction: Instruction, onward: Onward) -> bool:
        """Move the path to the place at which an instruction continues. False if the path ends."""
        if onward.kind == "next":
            return self.arrive(state, const(instruction.next))
        if onward.kind == "call":
            state.registers[onward.link] = const(instruction.next | self.runner.arch.code_bit)
        return self.arrive(state, onward.target)

    def arrive(self, state: PathState, target: Value) -> bool:
        """Continue at an address, past the calls of functions that are not the runner's own."""
        functions, runner = self.runner.functions, self.runner
        while True:
            if target == SymbolicValue(RETURN):
                self.returns(state)
                return False
            if target is None or not target.is_constant:
                raise CannotFollowError("goes to an unknown address")
            address = target.offset & ~1  # without Thumb's bit
            name = functions.get(address)
            if name is None or address == runner.start or _OWN.fullmatch(name.split(".")[0]):
                state.pc = address
                return True
            target = state.registers.get(runner.arch.calls.link)
            if not self.fills(state, name) and not self.call(state, address, name):
                return False

    def call(self, state: PathState, address: int, name: str) -> bool:
        """The call of a function at an address. False if it is not the next in the plan."""
        number, wrong = next_step(self.plan, state)
        if number is None or address not in self.plan.steps[number].addresses:
            planned = wrong or (
                "although nothing more is planned"
                if number is None
                else f"planned {self.plan.steps[number].function}"
            )
            self.problem(state.pc, f"calls {name}, {planned}")
            return False
        step = self.plan.steps[number]
        passed = self.passed(state, step.words)
        problems = argument_problems(step, passed, state, self.runner.memory)
        for what in problems:
            self.problem(state.pc, f"call of {name}: {what}")
        if problems:
            return False
        words = step.words
        if step.form == "unpack":
            words = unpacked(step, passed, state, self.runner.memory)
        state.made += 1
        if step.can_fail:
            state.pending = (*state.pending, number)
        self.forget(state, values.result(number), words)
        return True

    def passed(self, state: PathState, count: int) -> list[Value]:
        """The first ``count`` words that are passed, in registers and on the stack."""
        names = self.runner.arch.calls.arguments
        sp = state.registers.get("sp")
        if sp is None or sp.base != STACK:
            raise CannotFollowError("calls with an unknown stack pointer")
        on_stack = range(max(count - len(names), 0))
        return [
            *(state.registers.get(name) for name in names[:count]),
            *(state.stack.get(sp.offset + 4 * i) for i in on_stack),
        ]

    def fills(self, state: PathState, name: str) -> bool:
        """Whether a call is one with which a compiler initialises the runner's own variables."""
        if name not in ("memset", "memcpy"):
            return False
        to, source, size = self.passed(state, 3)
        if name == "memset":
            self.runner.memory.fill(state, to, source, size)
        else:
            self.runner.memory.copy(state, to, source, size)
        self.forget(state, to, 3)
        return True

    def forget(self, state: PathState, result: Value, words: int) -> None:
        """Forget all that a function that has returned may have changed: registers, and the stack
        up to the words that it was passed there."""
        standard = self.runner.arch.calls
        kept = {*standard.preserved, *standard.fixed, "sp"}
        state.registers = {n: v for n, v in state.registers.items() if n in kept}
        state.set(standard.result, result)
        state.flags = None  # no procedure call standard preserves them
        end = state.registers["sp"].offset + 4 * max(words - len(standard.arguments), 0)
        state.stack = {offset: v for offset, v in state.stack.items() if offset >= end}

    def returns(self, state: PathState) -> None:
        """The end of a path."""
        self.paths += 1
        standard = self.runner.arch.calls
        for what in return_problems(self.plan, state, state.registers.get(standard.result)):
            self.problem(state.pc, what)
        if state.registers.get("sp") != SymbolicValue(STACK):
            self.problem(state.pc, "returns with another stack pointer")
        for name in standard.preserved:
            if state.registers.get(name) != SymbolicValue(("register", name)):
                self.problem(state.pc, f"returns without the caller's {name}")


# kTvmErrorFunctionCallWrongArgType: a pointer is NULL; kTvmErrorFunctionCallInvalidArg: a pool is
# misaligned.
_REFUSALS = (const(0x0801), const(0x0803))


def failures(state: PathState) -> list[int | None]:
    """The calls that may be the first failed one, from the path's decisions so far. None in the
    list means that no call failed."""
    if state.failed is None:
        return [*state.pending, None]
    # A call before it whose status is not decided may have failed, too, and was the first then.
    return [*(number for number in state.pending if number < state.failed), state.failed]


def following(plan: CallPlan, state: PathState, failed: int | None) -> int | None:
    """The number of the call that comes next if that call has failed; None: the runner returns."""
    if failed is None:
        return state.made if state.made < len(plan.steps) else None
    clean_up = plan.after_failure(failed)
    position = state.made - failed - 1
    return clean_up[position] if position < len(clean_up) else None


def next_step(plan: CallPlan, state: PathState) -> tuple[int | None, str]:
    """The number of the only call that may come next, None if there is none; and the problem of any
    call now, empty if there is none."""
    possible = failures(state)
    numbers = {following(plan, state, failed) for failed in possible}
    if state.has_refused:
        return None, "after it has refused an argument"
    if len(numbers) > 1:
        unknown = next(plan.steps[n].function for n in possible if n is not None)
        return None, f"without a look at the status of {unknown}"
    return numbers.pop(), ""


def return_problems(plan: CallPlan, state: PathState, value: Value) -> Iterator[str]:
    """The problems of a return of a value here."""
    returned = "an unknown value" if value is None else str(value)
    if state.has_refused:
        if state.made:
            yield "refuses an argument after it has called something"
        if value not in _REFUSALS:
            yield f"returns {returned} although it has refused an argument"
        return
    for failed in failures(state):
        missing = following(plan, state, failed)
        if missing is not None:
            yield f"returns before it calls {plan.steps[missing].function}"
        elif failed is not None and value != result(failed):
            yield f"returns {returned}, not the status of {plan.steps[failed].function}"
        elif failed is None and not _is_success(state, value):
            yield f"returns {returned} after success"
    if unseen := [pointer for pointer in plan.pointers if not _is_seen(state, pointer)]:
        yield f"never compares {unseen[0]} with NULL"
    if unseen := sorted((plan.equal | plan.apart) - state.zeros.keys()):
        yield f"never looks at {unseen[0]}"


def _is_seen(state: PathState, pointer: SymbolicValue) -> bool:
    """Whether a pointer, or an equal pointer, was compared with NULL."""
    equal = [d for d, is_zero in state.zeros.items() if is_zero and d.base[0] == "apart"]
    same = {other for d in equal if pointer in d.base for other in d.base[1:]}
    return not state.zeros.keys().isdisjoint({pointer, *same})


def _is_success(state: PathState, value: Value) -> bool:
    """Whether the value is 0, or the status of a call. The status is 0 if no call has failed."""
    return value == const(0) or value in [result(number) for number in state.pending]
