"""The worst-case stack: a bound from the ELF's own instructions, and the check of this bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from microgen.base.formats.c_layout import aligned
from microgen.base.manifest import Manifest
from microgen.options import STACK_UNIT
from microgen.verifier import sizes
from microgen.verifier.again.build_settings import STACK
from microgen.verifier.checks import registry
from microgen.verifier.instructions.architecture import Code
from microgen.verifier.instructions.architectures import instructions
from microgen.verifier.instructions.flow import Frame, code_of, frame
from microgen.verifier.instructions.listing import unread
from microgen.verifier.report import Check
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_Found = TypeVar("_Found", Finding, Check)


@dataclass(frozen=True, slots=True)
class StackBound:
    """``nbytes`` is a bound of the stack in every run. ``path`` has the functions of the deepest
    path, as ``name depth-at-its-call``. With ``problems``, ``nbytes`` is not a bound."""

    nbytes: int
    path: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class CallGraph:
    """Frames of every function that is reached, and the deepest path from each function."""

    code: Code
    frames: dict[int, Frame] = field(default_factory=dict)
    deepest: dict[int, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    active: list[int] = field(default_factory=list)

    def depth(self, start: int) -> tuple[int, tuple[str, ...]]:
        """The most bytes of stack that a call of the function takes, and the path to them."""
        if start in self.deepest:
            return self.deepest[start]
        if start in self.active:
            cycle = [*self.active[self.active.index(start) :], start]
            names = " -> ".join(self.code.name(address) for address in cycle)
            self.problems.append(f"recursion: {names}")
            return 0, ()
        # A cycle is a call of an active function: its depth has no bound.
        self.active.append(start)
        self.deepest[start] = self._deepest_path(start)
        self.active.pop()
        return self.deepest[start]

    def handlers(self) -> set[int]:
        """The trap handlers that the functions reached so far install."""
        return {handler for own in self.frames.values() for handler in own.handlers}

    def _deepest_path(self, start: int) -> tuple[int, tuple[str, ...]]:
        own = self.frames[start] = frame(self.code, start)
        self.problems += own.problems
        name = self.code.name(start)
        best: tuple[int, tuple[str, ...]] = own.depth, (f"{name} {own.depth}",)
        for edge in own.edges:
            below, path = self.depth(edge.target)
            if edge.depth + below > best[0]:
                best = edge.depth + below, (f"{name} {edge.depth}", *path)
        return best


def call_graph(subject: Subject, *, from_reset: bool = True) -> CallGraph:
    """The call graph of a board's firmware. It is computed when depths are needed. Code that
    could not be read is among its problems from the start. ``from_reset=False``: start-up code,
    which sets the stack pointer, is not part of it, and other code need not be readable, because
    other linkers mix it with data. Raises ToolError if objdump is missing."""
    code_by_address = instructions(subject.board, subject.disassembly())
    tables = [s.address for s in subject.elf.named(registry.FUNCTIONS, "object")]
    known = tables[0] if len(tables) == 1 else 0
    code = code_of(subject.elf, subject.board, code_by_address, known, from_reset)
    # Other linkers mix code with data, so not all of another firmware need be readable.
    return CallGraph(code, problems=[*unread(subject.elf, code_by_address)] if from_reset else [])


def bound(subject: Subject) -> StackBound:
    """The deepest path from the reset handler, one exception frame, and the deepest handler."""
    graph = call_graph(subject)
    arch = graph.code.arch
    thread, path = graph.depth(graph.code.reset)
    handlers = sorted(arch.handlers(subject.elf, subject.board, graph.handlers()))
    # One exception is enough, because no fault handler returns and no interrupt is enabled.
    handler = max((graph.depth(start) for start in handlers), default=(0, ()))
    frame_bytes = subject.board.cpu.exception_frame
    problems = [*graph.problems, *unknown_modules(subject, graph)]
    # The stack is aligned at an exception: on Arm by the core (Armv7-M Architecture Reference
    # Manual, B1.5.7), on RISC-V by the procedure call standard.
    thread_bytes, handler_bytes = (
        aligned(nbytes, arch.stack_alignment) for nbytes in (thread, handler[0])
    )
    return StackBound(
        nbytes=thread_bytes + frame_bytes + handler_bytes,
        path=(*path, f"exception frame {frame_bytes}", *handler[1]),
        problems=tuple(dict.fromkeys(problems)),
    )


_CREATE = ("TVMGraphExecutor_CreateIn", "TVMGraphExecutor_Create")


def unknown_modules(subject: Subject, graph: CallGraph) -> Iterator[str]:
    """Calls that create a graph executor outside of the generated code."""
    names = ("graph_executor", "run")
    known = {f"{m.prefix}_{name}" for m in subject.manifest.modules for name in names}
    for caller, own in graph.frames.items():
        called = {graph.code.name(edge.target) for edge in own.edges}
        # The caller chooses the functions that the executor calls. Only the generated code is known
        # to choose the program's own.
        if called.intersection(_CREATE) and graph.code.name(caller) not in known:
            yield f"{graph.code.name(caller)} creates a graph executor of unknown functions"


def stack(subject: Subject) -> Finding:
    """All code was read as the ELF has it; the worst-case stack is bounded, is within the
    reserve with the margin for nested exceptions, and is not below the measured high-water mark
    if one is given.

    Reads: disassembly, code, vectors, constant tables.
    """
    if subject.board.is_host:
        return not_applicable("the host's stack is not the firmware's")
    result = bound(subject)
    problems = list(result.problems)
    actual = f"{result.nbytes} bytes: {' -> '.join(result.path)}"
    limit, margin = subject.board.stack_bytes, subject.manifest.estimate.stack_margin
    needed = result.nbytes + margin
    if not problems and needed > limit:
        missing = _missing(subject.manifest, result.nbytes)
        problems.append(f"{missing}: {' -> '.join(result.path)}")
    expected = f"at most {limit - margin} bytes"
    if margin:
        expected += f", which leaves {margin} of {limit} for nested exceptions"
    expected += ", no recursion, no unknown call"
    values = {"bound": result.nbytes, "margin": margin, "reserve": limit}
    finding = judged(expected, problems, actual, **values)
    used = subject.painted_stack
    return finding if used is None else with_use(finding, used)


def _missing(manifest: Manifest, nbytes: int) -> str:
    """A message with the bytes that are needed, and the option that reserves them."""
    what, margin = f"{nbytes} bytes", manifest.estimate.stack_margin
    if margin:
        what += f", with the margin {nbytes + margin}"
    enough = aligned(nbytes + margin, STACK_UNIT)
    if sizes.planned_stack(manifest).is_computed:
        return f"{what}; `microgen build` reserves it, and CMake with -D{STACK}={enough}"
    return f"{what}; generate again with --stack {enough}"


def with_use(finding: _Found, used: int) -> _Found:
    """The finding of ``stack`` after a run has measured the bytes of stack in use. It is failed if
    the bound is less."""
    expected = f"{finding.expected}, and at least the {used} that a run used"
    values = {**finding.values, "used": used}
    if finding.status != "ok" or used <= finding.values["bound"]:
        return replace(finding, expected=expected, values=values)
    actual = f"a run used {used} bytes, more than the bound of {finding.values['bound']}"
    return replace(finding, status="failed", expected=expected, found=actual, values=values)
