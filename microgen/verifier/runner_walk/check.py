"""The check ``runner``: on every path, the AOT runner makes the calls of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from microgen.base.manifest import ModuleRecord
from microgen.verifier.instructions.architecture import Code
from microgen.verifier.instructions.architectures import architecture_of, instructions
from microgen.verifier.instructions.flow import code_of, constant, frame
from microgen.verifier.runner_walk import callers
from microgen.verifier.runner_walk import plan as plans
from microgen.verifier.runner_walk.execution import RunnerMemory
from microgen.verifier.runner_walk.plan import CallPlan
from microgen.verifier.runner_walk.values import STACK, SymbolicValue, const
from microgen.verifier.runner_walk.walk import Runner, RunnerWalk
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_GLOBAL_POINTER = "__global_pointer$"


def runner(subject: Subject) -> Finding:
    """The AOT runner makes the plan's calls in the plan's order, each with the planned
    pointers, the devices' hooks included, on every path.

    Reads: disassembly, constants of the image, symbols; calls of the manifest.
    """
    module = subject.manifest
    if subject.board.is_host:
        return not_applicable("the host's instructions are not followed")
    if module.options.get("executor") == "graph":
        return _of_graph(subject, module)
    plan = plans.of_model(module, subject.elf)
    walk, problems = _walked(subject, module.entry, plan)
    if walk is not None:
        problems += _caller_problems(subject, walk.runner)
    problems += _wrapper_problems(subject, module)
    expected = f"{len(plan.steps)} calls as planned, with their pointers, on every path"
    count, paths = len(plan.steps), walk.paths if walk else 0
    actual = f"{count} calls, {paths} paths"
    return judged(expected, problems, actual, calls=count, paths=paths)


def _of_graph(subject: Subject, module: ModuleRecord) -> Finding:
    if module.devices:
        return not_applicable("the graph executor makes the calls, with contexts in variables")
    count = len({call.packed for call in module.calls})
    expected = f"{count} packed functions that pass the data of their tensors on"
    return judged(expected, _wrapper_problems(subject, module), f"{count}", functions=count)


def _caller_problems(subject: Subject, runner: Runner) -> Iterator[str]:
    """Problems of the functions from the reset to the entry point."""
    module, elf = subject.manifest, subject.elf
    pools = callers.pool_ranges(module.modules, elf)
    yield from callers.problems(runner, module, pools)
    # In another firmware the reset is not known, so anything may call the entry point.
    if subject.scope == "model":
        return
    if not is_reached(code_of(elf, subject.board, runner.instructions), runner.start):
        yield f"the program never calls {module.entry}"


def _wrapper_problems(subject: Subject, module: ModuleRecord) -> list[str]:
    """Problems of the packed functions, each by its first call: each calls one function."""
    # Reversed, so that the dictionary keeps the first call of each function.
    first = {(call.packed, call.function): call for call in reversed(module.calls) if call.packed}
    return [
        problem
        for (name, _), call in first.items()
        for problem in _walked(subject, name, plans.of_wrapper(call, module, subject.elf))[1]
    ]


def _walked(subject: Subject, name: str, plan: CallPlan) -> tuple[RunnerWalk | None, list[str]]:
    """The walk through a function, and the problems. The walk is None if the ELF lacks the
    function."""
    functions = subject.elf.named(name, "func")
    if len(functions) != 1:
        return None, [f"{len(functions)} functions {name}"]
    walk = RunnerWalk(runner_of(subject, subject.elf.code_address(functions[0]), plan), plan)
    walk.run()
    return walk, [f"{name} {what}" for what in walk.problems.values()]


def runner_of(subject: Subject, start: int, plan: CallPlan) -> Runner:
    """The code and data of a walk that begins at an address."""
    elf, board = subject.elf, subject.board
    arch = architecture_of(board)
    registers = {"sp": SymbolicValue(STACK)}
    if pointer := elf.named(_GLOBAL_POINTER):
        registers["gp"] = const(pointer[0].address)
    # Further parameters are on the stack, above the stack pointer at the entry.
    on_stack = max(plan.parameters - len(arch.calls.arguments), 0)
    return Runner(
        arch=arch,
        memory=RunnerMemory(partial(_constant, subject), 4 * on_stack),
        instructions=instructions(board, subject.disassembly()),
        functions={elf.code_address(symbol): symbol.name for symbol in elf.functions()},
        start=start,
        registers=registers,
    )


def _constant(subject: Subject, address: int) -> int | None:
    """The word at an address that nothing writes; None elsewhere."""
    # In another firmware a section may have the flags of its other parts, but nothing writes flash.
    memory = subject.board.memory_at(address) if subject.scope == "model" else None
    if memory is not None and memory not in subject.board.rams:
        return subject.elf.word(address)
    return constant(subject.elf, address)


def is_reached(code: Code, start: int) -> bool:
    """Whether a path of calls leads from the reset to the function at ``start``. Only calls that
    are reached inside their functions count, and the functions below ``start`` are not read."""
    seen, work = {code.reset}, [code.reset]
    while work:
        # Breadth first: the way from the reset to main is short, and libraries are deep.
        targets = {edge.target for edge in frame(code, work.pop(0)).edges} - seen
        if start in targets:
            return True
        seen |= targets
        work += sorted(targets)
    return False
