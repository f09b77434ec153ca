"""The stack that one function uses, and whom it calls at which depth, from its instructions.

Control flow is followed from the first instruction, so neither symbols nor frame descriptions are
needed: assembler code, libgcc and stripped symbols are all alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from microgen.verifier import registers as regs
from microgen.verifier.disassembly import Instruction, is_conditional_branch
from microgen.verifier.elf import Elf
from microgen.verifier.registers import Machine, Registers, UnknownStackPointerError, Value

# More visits of one instruction than this, each with a deeper stack: a loop that pushes.
_MAX_VISITS = 64
_LOOP_ENDS = ("cbz", "cbnz", "le", "letp", "wls", "wlstp")
_TABLE_CALL = re.compile(r"__gnu_thumb1_case_([us])(q|h|)i")


@dataclass(frozen=True, slots=True)
class Edge:
    """A call, or a jump that ends the function: its address, the target, the caller's depth."""

    site: int
    target: int
    depth: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A function: deepest own stack in bytes, calls, and what could not be followed."""

    start: int
    depth: int
    edges: tuple[Edge, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A program's instructions and what is needed to follow them."""

    elf: Elf
    instructions: Mapping[int, Instruction]
    machine: Machine
    functions: Mapping[int, str]
    vector_table: int

    def name(self, address: int) -> str:
        """The function at or before the address, for messages."""
        return self.functions.get(self.owner(address), f"{address:#x}")

    def owner(self, address: int) -> int:
        """Where the function at or before the address starts; -1 if there is none."""
        return max((start for start in self.functions if start <= address), default=-1)

    def is_far_jump(self, instruction: Instruction) -> bool:
        """Whether a ``bl`` is only a branch: Armv6-M has no other that reaches beyond 2 KB, and
        GCC uses it so inside of a function that has saved the link register."""
        target = instruction.target
        is_inside = self.owner(target) == self.owner(instruction.address)
        is_v6m = self.elf.attributes.get("Tag_CPU_arch") in ("v6-M", "v6S-M")
        return is_v6m and is_inside and target not in self.functions


def code_of(elf: Elf, instructions: Mapping[int, Instruction], vector_table: int) -> Code:
    """Collect what following an ELF's instructions takes; ``vector_table`` is its address."""
    stack_top = elf.word(vector_table) or 0
    functions = {elf.code_address(symbol): symbol.name for symbol in elf.functions()}
    machine = Machine(lambda address: _constant(elf, address), stack_top)
    return Code(elf, instructions, machine, functions, vector_table)


def _constant(elf: Elf, address: int) -> int | None:
    section = elf.section_at(address)
    is_constant = section is not None and section.has_bytes and not section.writable
    return elf.word(address) if is_constant else None


def frame(code: Code, start: int) -> Frame:
    """Follow the function that starts at an address."""
    walk = _Walk(code, start)
    walk.run()
    edges = tuple(sorted(walk.edges, key=_by_site))
    return Frame(start, walk.depth, edges, tuple(walk.problems.values()))


def _by_site(edge: Edge) -> tuple[int, int, int]:
    return edge.site, edge.target, edge.depth


@dataclass(slots=True)
class _Walk:
    """A worklist over the instructions of one function."""

    code: Code
    start: int
    depth: int = 0
    edges: set[Edge] = field(default_factory=set)
    problems: dict[int, str] = field(default_factory=dict)
    states: dict[int, Registers] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    work: list[int] = field(default_factory=list)

    def run(self) -> None:
        if self.start not in self.code.instructions:
            self.problem(self.start, "no instruction there")
            return
        self.reach(self.start, regs.ENTRY)
        while self.work:
            address = self.work.pop()
            try:
                self.visit(self.code.instructions[address], self.states[address])
            except UnknownStackPointerError as error:
                self.problem(address, f"cannot follow the stack pointer through `{error}`")

    def problem(self, address: int, what: str) -> None:
        """Note what cannot be followed; the first of an instruction is enough."""
        self.problems.setdefault(address, f"{self.code.name(self.start)} at {address:#x}: {what}")

    def reach(self, address: int, state: Registers) -> None:
        """Continue at an address of this function."""
        self.depth = max(self.depth, regs.depth(state))
        old = self.states.get(address)
        new = state if old is None else regs.joined(old, state)
        if new == old:
            return
        self.visits[address] = self.visits.get(address, 0) + 1
        if self.visits[address] > _MAX_VISITS:
            self.problem(address, "the stack grows in a loop")
            return
        self.states[address] = new
        self.work.append(address)

    def jump(self, instruction: Instruction, target: int, state: Registers) -> None:
        """A branch: inside the function, or to another one for good."""
        if target in self.code.functions and target != self.start:
            self.edges.add(Edge(instruction.address, target, regs.depth(state)))
        elif target in self.code.instructions:
            self.reach(target, state)
        else:
            self.problem(instruction.address, f"jumps to {target:#x}, where no code is")

    def fall_through(self, instruction: Instruction, state: Registers) -> None:
        if self.follows_call(instruction) and not self.continues(instruction.next):
            return  # the called function does not return
        self.jump(instruction, instruction.next, state)

    def continues(self, address: int) -> bool:
        return address in self.code.instructions and address not in self.code.functions

    def follows_call(self, instruction: Instruction) -> bool:
        """Whether it is a call or breakpoint, or only alignment after one."""
        while instruction.mnemonic == "nop":
            before = [self.code.instructions.get(instruction.address - n) for n in (2, 4)]
            found = next((i for i in before if i and i.next == instruction.address), None)
            if found is None:
                return False
            instruction = found
        return instruction.mnemonic in ("bl", "blx", "bkpt", "svc")

    def visit(self, instruction: Instruction, state: Registers) -> None:
        name = instruction.mnemonic
        if name == "bl" and self.code.is_far_jump(instruction):
            self.jump(instruction, instruction.target, regs.after_call(state))
        elif name in ("bl", "blx"):
            self.call(instruction, state)
        elif is_conditional_branch(name) or name in _LOOP_ENDS:
            self.jump(instruction, instruction.target, state)
            self.fall_through(instruction, state)
        elif name == "b":
            self.jump(instruction, instruction.target, state)
            self.unless_taken(instruction, state)
        elif name in ("tbb", "tbh"):
            width = 1 if name == "tbb" else 2
            self.switch(instruction, state, instruction.next, width, 2, "u")
        elif name == "udf":
            pass
        elif _leaves(instruction):
            self.leave(instruction, state)
            self.unless_taken(instruction, state)
        else:
            self.advance(instruction, state)

    def advance(self, instruction: Instruction, state: Registers) -> None:
        after = self.code.machine.step(instruction, state)
        if instruction.is_conditional:
            after = regs.joined(state, after)
        self.fall_through(instruction, after)

    def unless_taken(self, instruction: Instruction, state: Registers) -> None:
        if instruction.is_conditional:
            self.fall_through(instruction, state)

    def call(self, instruction: Instruction, state: Registers) -> None:
        if instruction.mnemonic == "bl":
            targets = [instruction.target]
        else:
            targets = self.indirect(instruction, instruction.operands[0], state)
        for target in targets:
            self.edges.add(Edge(instruction.address, target, regs.depth(state)))
        table = _TABLE_CALL.fullmatch(self.code.functions.get(next(iter(targets), 0), ""))
        if table:
            width = {"q": 1, "h": 2, "": 4}[table[2]]
            base = (instruction.next + 2) & ~3 if width == 4 else instruction.next
            self.switch(instruction, state, base, width, 1 if width == 4 else 2, table[1])
        else:
            self.fall_through(instruction, regs.after_call(state))

    def switch(
        self,
        instruction: Instruction,
        state: Registers,
        base: int,
        width: int,
        unit: int,
        sign: str,
    ) -> None:
        """A jump through a table of offsets that stands behind the instruction.

        The table ends where instructions begin again; a byte of padding is an offset into the
        table itself, where no code is.
        """
        at = base
        while at not in self.code.instructions:
            data = self.code.elf.read(at, width)
            if data is None:
                self.problem(instruction.address, "its jump table has no end")
                return
            target = base + unit * int.from_bytes(data, "little", signed=sign == "s")
            if target in self.code.instructions:
                self.reach(target, state)
            at += width

    def leave(self, instruction: Instruction, state: Registers) -> None:
        """A return, or a jump through a register or a table."""
        if _is_return(instruction):
            after = state
            if instruction.mnemonic not in ("bx", "mov"):
                after = self.code.machine.step(instruction, state)
            # Higher than at its entry is safe: libgcc's soft float returns for its caller so.
            if regs.depth(after) > 0:
                self.problem(instruction.address, f"returns {regs.depth(after)} bytes off")
            return
        if instruction.mnemonic in ("bx", "mov"):
            source = instruction.operands[-1]
            for target in self.indirect(instruction, source, state):
                self.jump(instruction, target, state)
        else:
            self.problem(instruction.address, f"unknown jump `{instruction}`")

    def indirect(self, instruction: Instruction, register: str, state: Registers) -> list[int]:
        """Where a register may lead: its constant, or every word of its constant table."""
        value = state.get(regs.register_name(register))
        targets = sorted(self.pointers(value))
        if not targets:
            what = "call" if instruction.mnemonic == "blx" else "jump"
            self.problem(instruction.address, f"unknown indirect {what} `{instruction}`")
        return targets

    def pointers(self, value: Value | None) -> set[int]:
        """Where a value leads as a function pointer; nothing if that is not known."""
        if value is None or value.base == "sp":
            return set()
        if value.base == "const":
            return {value.offset & ~1}
        return self.table(value.offset)

    def table(self, address: int) -> set[int]:
        """Every pointer of a constant table. An object must hold nothing else; a compiler's own
        table, for a switch, ends where its words no longer lead to code.

        The table is data, and not the vector table: both are at small addresses, which an index
        in a register looks like.
        """
        section = self.code.elf.section_at(address)
        if section is None or section.executable or section.holds(self.code.vector_table):
            return set()
        end = self.object_end(address)
        targets: set[int] = set()
        at = address
        while end is None or at < end:
            word = _constant(self.code.elf, at)
            if word is None or word & ~1 not in self.code.instructions:
                return targets if end is None else set()
            targets.add(word & ~1)
            at += 4
        return targets

    def object_end(self, address: int) -> int | None:
        """The end of the object that holds the address; None if no object does."""
        objects = (s for s in self.code.elf.symbols if s.kind == "object")
        return next((s.end for s in objects if s.address <= address < s.end), None)


def _leaves(instruction: Instruction) -> bool:
    """Whether it writes the program counter."""
    name, operands = instruction.mnemonic, instruction.operands
    if name in ("bx", "bxns"):
        return True
    if name.startswith(("pop", "ldm")):
        return "pc" in regs.register_list(operands[-1])
    return name.startswith(("mov", "ldr", "add")) and operands[0] == "pc"


def _is_return(instruction: Instruction) -> bool:
    name, operands = instruction.mnemonic, instruction.operands
    if name in ("bx", "mov"):
        return operands[-1] == "lr"
    if name == "ldr":
        return operands[1] == "[sp]" and len(operands) == 3
    return name.startswith(("pop", "ldm"))
