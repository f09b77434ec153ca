"""The stack that one function uses, and its calls with their depths, from its instructions.

Control flow is followed from the first instruction, so neither symbols nor frame descriptions are
needed. Assembler code, libgcc and stripped symbols are treated alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microgen.target.board import Board
from microgen.verifier.elf.elf import Elf, Symbol
from microgen.verifier.instructions.architecture import Code, Control, InlineTable
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.instructions.machine import (
    HANDLER,
    Machine,
    Registers,
    StackValue,
    UnknownStackPointerError,
    depth,
    has_stack,
    joined,
)

_NOWHERE = -1  # no address of an instruction

# More visits of one instruction, each with a deeper stack, mean a loop that pushes.
_MAX_VISITS = 64


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A call, or a jump that ends the function: its address, the target, the caller's depth."""

    site: int
    target: int
    depth: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A function: its deepest own stack in bytes, its calls, the problems in following it, and the
    trap handlers that it installs."""

    start: int
    depth: int
    edges: tuple[Edge, ...]
    problems: tuple[str, ...]
    handlers: tuple[int, ...] = ()


# The only function that calls by an index of the registry. It is never inlined.
_CALLS_BY_REGISTRY = "TVMGraphExecutor_RunNode"


def code_of(
    elf: Elf,
    board: Board,
    instructions: Mapping[int, Instruction],
    registry: int = 0,
    from_reset: bool = True,
) -> Code:
    """Everything needed to follow an ELF's instructions. ``registry`` is the address of the table
    of packed functions that the graph executor calls, 0 if there is none. ``from_reset=False``: no
    code may set the stack pointer to the top of the stack."""
    arch = architecture_of(board)
    functions = {elf.code_address(symbol): symbol.name for symbol in elf.functions()}
    stack_top = arch.stack_top(elf, board) if from_reset else 0
    machine = Machine(lambda address: constant(elf, address), stack_top, arch.adds_parts)
    reset = arch.reset(elf, board) & ~1 if from_reset else _NOWHERE
    return Code(arch, elf, board, instructions, machine, functions, reset, registry)


def constant(elf: Elf, address: int) -> int | None:
    """The word at an address of memory that nothing writes; None elsewhere."""
    section = elf.section_at(address)
    is_constant = section is not None and section.has_bytes and not section.writable
    return elf.word(address) if is_constant else None


def frame(code: Code, start: int) -> Frame:
    """Follow the function that starts at an address."""
    walk = _Walk(code, start)
    walk.run()
    edges, handlers = tuple(sorted(walk.edges)), tuple(sorted(walk.handlers))
    return Frame(start, walk.depth, edges, tuple(walk.problems.values()), handlers)


def _is_padding(instruction: Instruction) -> bool:
    """Whether the instruction is padding: ``nop``, or two zero bytes, which clang puts before
    literals."""
    # `movs r0, r0` is encoded as 0x0000.
    zeros = instruction.mnemonic == "movs" and instruction.operands == ("r0", "r0")
    return zeros or instruction.mnemonic == "nop"


@dataclass(slots=True)
class _Walk:
    """A worklist over the instructions of one function."""

    code: Code
    start: int
    depth: int = 0
    edges: set[Edge] = field(default_factory=set)
    handlers: set[int] = field(default_factory=set)
    problems: dict[int, str] = field(default_factory=dict)
    states: dict[int, Registers] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    work: list[int] = field(default_factory=list)

    def run(self) -> None:
        if self.start not in self.code.instructions:
            self.problem(self.start, "no instruction at this address")
            return
        self.reach(self.start, self.code.arch.entry(self.code, self.start))
        while self.work:
            address = self.work.pop()
            try:
                self.visit(self.code.instructions[address], self.states[address])
            except UnknownStackPointerError as error:
                self.problem(address, f"cannot follow the stack pointer through `{error}`")

    def problem(self, address: int, what: str) -> None:
        """Note an instruction that cannot be followed. Only the first note for each is kept."""
        self.problems.setdefault(address, f"{self.code.name(self.start)} at {address:#x}: {what}")

    def reach(self, address: int, state: Registers) -> None:
        """Continue at an address of this function."""
        self.depth = max(self.depth, depth(state))
        old = self.states.get(address)
        if old == state:
            return
        new = state if old is None else joined(old, state)
        if new == old:
            return
        # The lattice has no bottom: a loop that pushes finds a deeper stack each time.
        self.visits[address] = self.visits.get(address, 0) + 1
        if self.visits[address] > _MAX_VISITS:
            self.problem(address, "the stack grows in a loop")
            return
        self.states[address] = new
        self.work.append(address)

    def jump(self, instruction: Instruction, target: int, state: Registers) -> None:
        """Follow a branch inside the function, or to another one, which returns to the caller."""
        # A tail call: the other function returns to this function's caller, at this depth.
        if target in self.code.functions and target != self.start:
            self.edge(instruction, target, state)
        elif target in self.code.instructions:
            self.reach(target, state)
        else:
            self.problem(instruction.address, f"jumps to {target:#x}, where there is no code")

    def fall_through(self, instruction: Instruction, state: Registers) -> None:
        if self.continues(instruction.next):
            self.reach(instruction.next, state)
        elif not self.follows_call(instruction):  # otherwise the called function does not return
            self.jump(instruction, instruction.next, state)

    def continues(self, address: int) -> bool:
        return address in self.code.instructions and address not in self.code.functions

    def follows_call(self, instruction: Instruction) -> bool:
        """Whether it is a call or breakpoint, or only alignment after one."""
        while _is_padding(instruction):
            # The instruction before has 2 or 4 bytes, so there are two candidates. One of them ends
            # here.
            before = [self.code.instructions.get(instruction.address - n) for n in (2, 4)]
            previous = next((i for i in before if i and i.next == instruction.address), None)
            if previous is None:
                return False
            instruction = previous
        return instruction.mnemonic in self.code.arch.falls_through_unless_last

    def visit(self, instruction: Instruction, state: Registers) -> None:
        control = self.code.arch.control(instruction, state, self.code)
        if HANDLER in state and has_stack(state):
            self.handlers.update(self.pointers(state[HANDLER]))
        if control.kind == "next":
            self.advance(instruction, state)
        elif control.kind == "call":
            self.call(instruction, control, state)
        elif control.kind == "branch":
            self.jumps(instruction, control, state)
            self.fall_through(instruction, state)
        elif control.kind == "switch":
            self.switch(instruction, control.table, state)
        elif control.kind in ("jump", "return"):
            self.leave(instruction, control, state)
            self.pass_over(instruction, state)
        elif control.kind != "stop":
            if control.kind == "handler":
                self.install(instruction, control, state)
            self.advance(instruction, state)

    def install(self, instruction: Instruction, control: Control, state: Registers) -> None:
        """Follow an instruction that sets the trap handler. Before there is a stack, any later
        instruction may jump there, with only the handler's address known."""
        arch, targets = self.code.arch, self.targets(instruction, control)
        if has_stack(state) or control.target is None:
            return
        for target in targets:
            problem = arch.vector_problem(target)
            if problem or target not in self.code.instructions:
                what = problem or "leads to no code"
                self.problem(instruction.address, f"the trap vector {target:#x} {what}")
                continue
            # At a reset no register is known, and the stack pointer is not set.
            nothing = arch.entry(self.code, self.code.reset)
            self.reach(target, {**nothing, HANDLER: control.target})

    def advance(self, instruction: Instruction, state: Registers) -> None:
        self.fall_through(instruction, self.code.machine.step(instruction, state))
        self.pass_over(instruction, state)

    def pass_over(self, instruction: Instruction, state: Registers) -> None:
        """Continue as if the instruction's condition is not met."""
        if instruction.is_conditional:
            self.jump(instruction, instruction.skip_to, state)

    def call(self, instruction: Instruction, control: Control, state: Registers) -> None:
        for target in self.targets(instruction, control):
            self.edge(instruction, target, state)
        after = self.after_call(state)
        if control.table:
            self.switch(instruction, control.table, after)
        else:
            self.fall_through(instruction, after)

    def after_call(self, state: Registers) -> Registers:
        """The registers that the procedure call standard preserves."""
        # A called function may change all other registers.
        standard = self.code.arch.calls
        kept = {"sp", *standard.preserved, *standard.fixed}
        return {name: known for name, known in state.items() if name in kept}

    def edge(self, instruction: Instruction, target: int, state: Registers) -> None:
        """Record that another function runs from here. Without a stack, that is a problem."""
        if not has_stack(state):
            raise UnknownStackPointerError(str(instruction))
        # A caller adds its depth to the target's: the stack beyond the call belongs to the target.
        self.edges.add(Edge(instruction.address, target, depth(state)))

    def leave(self, instruction: Instruction, control: Control, state: Registers) -> None:
        """Follow a jump or a return."""
        if control.kind == "jump":
            self.jumps(instruction, control, state)
            return
        after = self.code.machine.step(instruction, state)
        if not has_stack(after):
            raise UnknownStackPointerError(str(instruction))
        # A stack that is higher than at the entry is right: libgcc's soft float returns on behalf
        # of its caller.
        if depth(after) > 0:
            self.problem(instruction.address, f"returns {depth(after)} bytes off")

    def jumps(self, instruction: Instruction, control: Control, state: Registers) -> None:
        for target in self.targets(instruction, control):
            self.jump(instruction, target, state)

    def switch(self, instruction: Instruction, table: InlineTable | None, state: Registers) -> None:
        """Follow a jump through a table of offsets that follows the instruction."""
        assert table is not None
        at = table.base
        if at in self.code.instructions:
            self.problem(instruction.address, "its jump table is code")
        origin = table.base if table.origin is None else table.origin
        # The table ends where instructions begin again. A byte of padding is an offset into the
        # table itself, where there is no code.
        while at not in self.code.instructions:
            data = self.code.elf.read(at, table.width)
            if data is None:
                self.problem(instruction.address, "its jump table has no end")
                return
            # The low bit is Thumb's, as in every pointer to code.
            offset = int.from_bytes(data, "little", signed=table.signed)
            target = origin + table.unit * offset & ~1
            if target in self.code.instructions:
                self.reach(target, state)
            at += table.width

    def targets(self, instruction: Instruction, control: Control) -> list[int]:
        """Possible targets: a constant, or every word of a constant table. For the graph executor,
        which reaches the registry's table through a pointer, every function of the registry."""
        # Sorted, so that reports do not depend on how sets are hashed.
        places = sorted(self.pointers(control.target))
        if not places and self.code.name(self.start) == _CALLS_BY_REGISTRY:
            places = sorted(self.table(self.code.registry, 0))
        if not places:
            what = f"unknown indirect {control.kind} `{instruction}`"
            self.problem(instruction.address, what)
        return places

    def pointers(self, value: StackValue | None) -> set[int]:
        """The possible targets of a value as a function pointer; empty if they are not known."""
        if value is None:
            return set()
        if value.base == "const":
            return {value.offset & ~1}
        if value.base == "table":
            return self.table(value.offset, 0)
        return self.table(value.offset, value.offset) if value.base == "offsets" else set()

    def table(self, address: int, base: int) -> set[int]:
        """Every pointer of a constant table, whose words are relative to ``base``. An object must
        contain nothing else. A compiler's own table, for a switch, ends where its words no longer
        lead into the function, because the next table may follow."""
        if not self.may_be_table(address):
            return set()
        symbol = self.object_at(address)
        end = symbol.end if symbol else None
        targets: set[int] = set()
        at = address
        while end is None or at < end:
            word = constant(self.code.elf, at)
            target = -1 if word is None else (base + word) % 2**32 & ~1
            if end is None and not self.is_inside(target):
                return targets
            # One word is not a code pointer, so the object is not a table, and nothing is known.
            if target not in self.code.instructions:
                return set()
            targets.add(target)
            at += 4
        return targets

    def is_inside(self, address: int) -> bool:
        """Whether an address belongs to the function."""
        later = (start for start in self.code.functions if start > self.start)
        is_own = self.start <= address < min(later, default=2**32)
        return is_own and address in self.code.instructions

    def may_be_table(self, address: int) -> bool:
        """Whether there are data at the address that are not the vector table. Vectors and code are
        at small addresses, and an index in a register looks like one.

        In the project's firmware, data has sections of its own. Other linkers may put everything
        into one section.
        """
        section = self.code.elf.section_at(address)
        if section is None:
            return False
        if self.code.reset == _NOWHERE and section.executable:
            return not self.is_function(address) and not self.starts_with_data(address)
        vectors = self.code.arch.vector_table(self.code.board)
        has_vectors = vectors is not None and section.holds(vectors)
        return not section.executable and not has_vectors

    def is_function(self, address: int) -> bool:
        """Whether an instruction of a function is there."""
        elf = self.code.elf
        starts = ((elf.code_address(s), s.size) for s in elf.functions())
        has_symbol = any(start <= address < start + size for start, size in starts)
        # objdump decodes data as instructions, too, if neither an object's symbol nor a mapping
        # symbol says that it is data.
        return has_symbol and address in self.code.instructions

    def starts_with_data(self, address: int) -> bool:
        """Whether the object at the address has anything but code pointers first, as a vector table
        has the stack pointer."""
        symbol = self.object_at(address)
        first = None if symbol is None else constant(self.code.elf, symbol.address)
        return first is not None and first & ~1 not in self.code.instructions

    def object_at(self, address: int) -> Symbol | None:
        """The object that contains the address."""
        objects = (s for s in self.code.elf.symbols if s.kind == "object")
        return next((s for s in objects if s.address <= address < s.end), None)
