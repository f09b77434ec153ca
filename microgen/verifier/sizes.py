"""The firmware's sizes, and the checks that compare them with board and budgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from microgen.base.manifest import ConstantRecord, Manifest
from microgen.project.firmware.stack_size import Stack
from microgen.target import projects
from microgen.target.board import Board, Memory
from microgen.verifier.checks.memory import BUFFER_NAME
from microgen.verifier.elf.elf import Elf, Section, Symbol
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_TOP = 5  # contributors in a message


@dataclass(frozen=True, slots=True)
class Contributor:
    """A symbol that takes ``nbytes`` bytes of the memory "flash" or "ram"."""

    memory: str
    name: str
    nbytes: int

    def __str__(self) -> str:
        return f"{self.name} {self.nbytes}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a built firmware.

    ``flash``: the image, which is code, read-only data and initial values. ``ram``: everything in
    writable memories, including ``stack``, the firmware's reserve.
    ``arena``: the workspace pools. ``weights``: the manifest's constants (weights, biases,
    requantization tables). ``code``: ``flash`` minus ``weights``. ``contributors``: sized symbols,
    largest first.
    """

    flash: int
    ram: int
    stack: int
    arena: int
    weights: int
    code: int
    contributors: tuple[Contributor, ...]

    def top(self, memory: str) -> str:
        """The largest contributors to "flash" or "ram", as text."""
        return ", ".join(map(str, self.largest(memory)))

    def largest(self, memory: str) -> list[Contributor]:
        """The largest contributors to "flash" or "ram"."""
        return [c for c in self.contributors if c.memory == memory][:_TOP]


def measure(elf: Elf, manifest: Manifest) -> Sizes:
    """The sizes of an ELF file. Raises BoardError if the manifest's board is damaged."""
    board = board_of(elf, manifest)
    flash = sum(s.size for s in elf.sections if s.has_bytes)
    # The section of the stack is left out, because the whole reserve is added below.
    ram = sum(
        s.size for s in elf.sections if _is_ram(board, s) and not is_only_stack(elf, board, s)
    )
    constants = [(m, constant) for m in manifest.modules for constant in m.constants]
    weights = sum(_weight(elf, manifest.seen_from(m), constant) for m, constant in constants)
    return Sizes(
        flash=flash,
        ram=ram + board.stack_bytes,
        stack=board.stack_bytes,
        arena=sum(_size_of(elf, name) for name in _arenas(manifest)) + _in_front(manifest),
        weights=weights,
        code=flash - weights,
        contributors=tuple(sorted(_contributors(elf, board), key=lambda c: (-c.nbytes, c.name))),
    )


def board_of(elf: Elf, manifest: Manifest) -> Board:
    """The board, with the stack that the ELF reserves if that is more than planned: builds reserve
    more if the code of the compiler takes more. A stack that the user or the board's file chose is
    kept. Raises BoardError if the manifest's board is damaged."""
    board = projects.of_project(manifest.board)
    if board.is_host or not planned_stack(manifest).is_computed:
        return board
    reserved = [s.size for s in elf.sections if is_only_stack(elf, board, s)]
    return replace(board, stack_bytes=max(board.stack_bytes, *reserved, 0))


def planned_stack(manifest: Manifest) -> Stack:
    """The stack that the project's linker script reserves."""
    estimate, nbytes = manifest.estimate, projects.of_project(manifest.board).stack_bytes
    return Stack(estimate.stack_bound, estimate.stack_margin, nbytes)


def _arenas(manifest: Manifest) -> list[str]:
    """The objects of the pools. An object that several models share is listed once."""
    common = manifest.shared_workspace
    sharing = common.modules if common else ()
    own = [
        pool.symbol or manifest.seen_from(module).pool_array(pool.name)
        for module in manifest.modules
        if module.module not in sharing
        for pool in module.plan.pools
        if not pool.port
    ]
    return [*own, common.symbol] if common else own


def _in_front(manifest: Manifest) -> int:
    """The bytes that the caller provides in front of inputs. They are part of the caller's arrays,
    but are counted as workspace."""
    return sum(pool.before for module in manifest.modules for pool in module.plan.pools)


def _weight(elf: Elf, manifest: Manifest, constant: ConstantRecord) -> int:
    if constant.symbol:
        return _size_of(elf, constant.symbol)
    # A constant that the caller passes is in main's array, if main is the project's.
    return constant.nbytes if elf.named(manifest.pool_array(constant.pool)) else 0


def _size_of(elf: Elf, name: str) -> int:
    return max((symbol.size for symbol in elf.named(name)), default=0)


def _is_ram(board: Board, section: Section) -> bool:
    if board.is_host:
        return section.writable
    return any(m.origin <= section.address < m.origin + m.length for m in board.rams)


def _stack_top(elf: Elf, board: Board) -> int:
    """The initial stack pointer; 0 if there is none."""
    return 0 if board.is_host else architecture_of(board).stack_top(elf, board)


def is_only_stack(elf: Elf, board: Board, section: Section) -> bool:
    """Whether the section is only for the stack: the initial stack pointer is in it or at its
    end, and it has no objects."""
    top = _stack_top(elf, board)
    if section.has_bytes or not section.address < top <= section.end:
        return False
    return not any(s.size and s.section == section.name for s in elf.symbols)


def _contributors(elf: Elf, board: Board) -> Iterator[Contributor]:
    sections = {section.name: section for section in elf.sections}
    for symbol in elf.symbols:
        section = sections.get(symbol.section)
        # Planned buffers are in the arena, whose bytes are counted once.
        if section is None or not symbol.size or _is_planned_buffer(symbol):
            continue
        if _is_ram(board, section):
            yield Contributor("ram", symbol.name, symbol.size)
        if section.has_bytes:
            yield Contributor("flash", symbol.name, symbol.size)
    if board.stack_bytes:
        yield Contributor("ram", "stack", board.stack_bytes)


def _is_planned_buffer(symbol: Symbol) -> bool:
    return (
        (symbol.file.endswith("_memory.S") or not symbol.file)  # without it after `strip -g`
        and symbol.binding == "local"
        and BUFFER_NAME.fullmatch(symbol.name) is not None
    )


def sections_fit(subject: Subject) -> Finding:
    """Each section ends inside the memory it starts in, totals fit flash and RAM, and the stack
    has the bytes that are reserved.

    Reads: sections, load addresses; board.
    """
    if subject.board.is_host:
        return not_applicable("the host has no fixed memories")
    problems = [p for s in subject.elf.sections for p in _overrun(subject, s)]
    reserved = _reserved_stack(subject)
    if reserved is not None and reserved < subject.board.stack_bytes:
        problems.append(
            f"only {reserved} bytes are left for the stack of {subject.board.stack_bytes}"
        )
    used = measure(subject.elf, subject.manifest)
    takes = _takes(subject.board, subject.elf, used)
    problems += [
        f"{n} bytes in {m.name}, which has {m.length}; largest: {used.top(kind)}"
        for m, n, kind in takes
        if n > m.length
    ]
    limits = ", ".join(f"{memory.length} in {memory.name}" for memory, _, _ in takes)
    expected = f"at most these bytes: {limits} with a stack of {subject.board.stack_bytes}"
    actual = ", ".join(f"{n} in {m.name}" for m, n, _ in takes)
    memories = [{"name": m.name, "used": n, "capacity": m.length, "kind": k} for m, n, k in takes]
    left = {} if reserved is None else {"stack_left": reserved}
    stack = subject.board.stack_bytes
    return judged(expected, problems, actual, memories=memories, stack_reserve=stack, **left)


def _takes(board: Board, elf: Elf, used: Sizes) -> list[tuple[Memory, int, str]]:
    """Each memory with the number of its bytes in use, and their kind, "flash" or "ram"."""
    others = []
    # Further memories have their own bytes. All other bytes are in the board's flash and RAM.
    left = {"flash": used.flash, "ram": used.ram}
    for memory in board.memories:
        if memory.name in (board.flash, board.ram):
            continue
        kind = "ram" if memory in board.rams else "flash"
        nbytes = sum(s.size for s in elf.sections if _lies_in(memory, s, kind))
        left[kind] -= nbytes
        if nbytes:
            others.append((memory, nbytes, kind))
    flash, ram = board.memory(board.flash), board.memory(board.ram)
    return [(flash, left["flash"], "flash"), *others, (ram, left["ram"], "ram")]


def _lies_in(memory: Memory, section: Section, kind: str) -> bool:
    address = section.address if kind == "ram" else section.load
    is_there = memory.origin <= address < memory.origin + memory.length
    return is_there and (kind == "ram" or section.has_bytes)


def _overrun(subject: Subject, section: Section) -> Iterator[str]:
    places = {section.address, section.load} if section.has_bytes else {section.address}
    for start in sorted(places):
        memory = subject.board.memory_at(start)
        if memory is not None and start + section.size > memory.origin + memory.length:
            over = start + section.size - memory.origin - memory.length
            yield f"{section.name} ends {over} bytes past the end of {memory.name}"


def _reserved_stack(subject: Subject) -> int | None:
    """Bytes from the initial stack pointer down to the next object or section; None if the pointer
    is outside of RAM, which ``vector_table`` reports."""
    elf, ram = subject.elf, subject.board.memory(subject.board.ram)
    top = _stack_top(elf, subject.board)
    if not ram.origin < top <= ram.origin + ram.length:
        return None
    # A section that ends at the top is the stack's own.
    below = [s.end for s in elf.sections if s.size and ram.origin <= s.address and s.end < top]
    below += [s.end for s in elf.symbols if s.size and ram.origin <= s.address and s.end <= top]
    return top - max(below, default=ram.origin)


def flash_budget(subject: Subject) -> Finding:
    """The image is within the budget.

    Reads: sections; ``--flash`` or the manifest.
    """
    return _budget(subject, "flash", subject.flash or subject.manifest.estimate.flash_budget)


def ram_budget(subject: Subject) -> Finding:
    """RAM, the reserved stack included, is within the budget.

    Reads: sections; ``--ram`` or the manifest.
    """
    return _budget(subject, "ram", subject.ram or subject.manifest.estimate.ram_budget)


def _budget(subject: Subject, memory: str, budget: int) -> Finding:
    if not budget:
        return not_applicable("no budget was given")
    if subject.board.is_host:
        return not_applicable("the host's memory is not the firmware's")
    used = measure(subject.elf, subject.manifest)
    nbytes = used.flash if memory == "flash" else used.ram
    actual = f"{nbytes} bytes; largest: {used.top(memory)}"
    problems = [actual] if nbytes > budget else []
    largest = [{"name": c.name, "nbytes": c.nbytes} for c in used.largest(memory)]
    expected = f"at most {budget} bytes"
    return judged(expected, problems, actual, used=nbytes, budget=budget, largest=largest)
