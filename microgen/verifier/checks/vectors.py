"""Checks of the start of a core: the entry point, the vectors, the initial stack pointer."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions.architecture import Architecture
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.stack import call_graph
from microgen.verifier.subject import Finding, Subject, judged, not_applicable


def entry_point(subject: Subject) -> Finding:
    """The entry is a function symbol in executable memory; on a board it is also where the core
    starts: the reset vector on Arm, the start of flash on RISC-V."""
    entry = subject.elf.entry
    names = [s.name for s in subject.elf.functions() if s.address == entry]
    problems = []
    if not names:
        problems.append(f"no function symbol at the entry point {entry:#x}")
    if not _is_code(subject, entry):
        problems.append(f"the entry point {entry:#x} is not in an executable section")
    if not subject.board.is_host:
        reset = architecture_of(subject.board).reset(subject.elf, subject.board)
        if entry != reset:
            problems.append(f"the entry point is {entry:#x}, but the reset vector is {reset:#x}")
    expected = "a function" if subject.board.is_host else "the reset handler, a function"
    return judged(expected, problems, f"{', '.join(names)} at {entry:#x}", address=entry)


def vector_table(subject: Subject) -> Finding:
    """Arm: the initial stack pointer is in RAM and aligned to 8; reset, the faults and all
    other vectors of the core that are not 0 have the Thumb bit and lead to the start of a
    function. RISC-V: the stack pointer is in RAM and aligned to 16, and ``mtvec`` is set, only
    to starts of functions that are aligned to 4."""
    if subject.board.is_host:
        return not_applicable("the host has no vector table")
    arch = architecture_of(subject.board)
    ram = subject.board.memory(subject.board.ram)
    top = arch.stack_top(subject.elf, subject.board)
    problems = []
    # A full descending stack: the pointer may be the end of RAM, because it moves down first.
    if not ram.origin < top <= ram.origin + ram.length:
        problems.append(f"the initial stack pointer {top:#x} is outside {ram.name}")
    if top % arch.stack_alignment:
        problems.append(
            f"the initial stack pointer {top:#x} is not aligned to {arch.stack_alignment}"
        )
    handlers = arch.vectors(subject.elf, subject.board, lambda: _installed(subject))
    for name, address in handlers.items():
        problems += _vector_problems(subject, arch, name, address)
    expected = (
        f"stack pointer in {ram.name} and aligned to {arch.stack_alignment}; "
        f"{', '.join(handlers)} in code"
    )
    found = ", ".join(f"{name} {address:#x}" for name, address in handlers.items())
    return judged(expected, problems, f"stack pointer {top:#x}, {found}", stack_pointer=top)


def _installed(subject: Subject) -> set[int]:
    """The trap handlers that code sets, from the reset on."""
    graph = call_graph(subject)
    graph.depth(graph.code.reset)
    return graph.handlers()


def _vector_problems(
    subject: Subject, arch: Architecture, name: str, address: int
) -> Iterator[str]:
    problem = arch.vector_problem(address)
    if problem:
        yield f"the {name} vector {address:#x} {problem}"
    elif not _is_code(subject, address & ~1):
        yield f"the {name} vector {address:#x} is not in an executable section"
    elif inside := _inside(subject.elf, address & ~1):
        yield f"the {name} vector {address:#x} is not the start of {inside}"


def _inside(elf: Elf, address: int) -> str:
    """The function that contains the address, but does not start there; "a function" if there is
    none at all. Empty if a function starts there and no other contains it."""
    starts = [(elf.code_address(s), s) for s in elf.functions()]
    around = [s.name for start, s in starts if start < address < start + s.size]
    return around[0] if around else "" if address in dict(starts) else "a function"


def _is_code(subject: Subject, address: int) -> bool:
    section = subject.elf.section_at(address)
    return section is not None and section.executable
