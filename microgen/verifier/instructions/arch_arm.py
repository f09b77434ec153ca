"""Arm's M profile for ``verify``: Thumb code, vector table, build attributes.

Sources: Armv7-M Architecture Reference Manual (DDI 0403), procedure call standard (IHI 0042).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from microgen.target.board import Board
from microgen.target.cpu import Cpu, Feature
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions import disassembly
from microgen.verifier.instructions.architecture import CallStandard, Code, Control, InlineTable
from microgen.verifier.instructions.arm_registers import register_list
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.instructions.machine import ENTRY, Registers, StackValue

# Exception numbers of the vector table; Armv6-M and the baseline of Armv8-M have only the first two
# faults. DDI 0403, B1.5.2; DDI 0553, B3.8.
_RESET = 1
_FAULTS = {2: "NMI", 3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault"}
_OTHERS = {7: "SecureFault", 11: "SVCall", 12: "DebugMonitor", 14: "PendSV", 15: "SysTick"}
_SMALL_FAULTS = (2, 3)
_VECTORS = 16  # the core's own; a board's interrupts are never enabled
_V6M = ("v6-M", "v6S-M")
_SMALL = (*_V6M, "v8-M.baseline")  # without MemManage, BusFault and UsageFault

# The architectures that run the code of another one. DDI 0419, 0403, 0553: v8-M.baseline is v6-M
# with more instructions, and v8-M.mainline includes v7-M and the baseline. It has v7E-M's DSP
# instructions as an extension, which the compiler's flags of a core name.
_MAINLINE = ("v8-M.mainline", "v8.1-M.mainline")
_ABOVE_V6M = (*_V6M, "v7", "v7E-M", "v8-M.baseline", *_MAINLINE)
_INCLUDED_IN = {
    "v6-M": _ABOVE_V6M,
    "v6S-M": _ABOVE_V6M,
    "v7": ("v7E-M", *_MAINLINE),
    "v7E-M": _MAINLINE,
    "v8-M.baseline": _MAINLINE,
    "v8-M.mainline": ("v8.1-M.mainline",),
    "v8.1-M.mainline": (),
}

# The linker's notes if any object uses an extension. IHI 0045, section 3.3.
_NONE, _INTEGER_MVE = "none", "MVE Integer only"
_E_FLAGS = "e_flags"
# The version of the ABI; how floats are passed. IHI 0044, section 4.4.2.
_EABI5, _SOFT_FLOAT, _HARD_FLOAT = 0x05000000, 0x200, 0x400
_EXTENSIONS = {
    "Tag_FP_arch": Feature.FPU,
    "Tag_DSP_extension": Feature.DSP,
    "Tag_MVE_arch": Feature.MVE,
}

_NEXT = Control("next")
_TABLE_CALL = re.compile(r"__gnu_thumb1_case_([us])(q|h|)i")


class Arm:
    """Armv6-M to Armv8.1-M."""

    elf_machine = "EM_ARM"
    stack_alignment = 8  # AAPCS, at every public interface
    calls = CallStandard(
        arguments=("r0", "r1", "r2", "r3"),
        result="r0",
        link="lr",
        preserved=frozenset({*(f"r{i}" for i in range(4, 10)), "sl", "fp"})
        | {f"s{i}" for i in range(16, 32)},
    )
    adds_parts = False
    code_bit = 1  # bit 0 of a pointer to code selects Thumb
    falls_through_unless_last = frozenset({"bl", "blx", "bkpt", "svc"})

    def parse(self, text: str) -> dict[int, Instruction]:
        """As in ``Architecture``."""
        return disassembly.parse(text)

    def entry(self, _code: Code, _start: int) -> Registers:
        """The stack pointer: hardware loads it before the reset handler runs."""
        return ENTRY

    def control(self, instruction: Instruction, registers: Registers, code: Code) -> Control:
        """As in ``Architecture``."""
        flow = instruction.effect.flow
        match flow.kind:
            case "next":
                return _NEXT
            case "call":
                return _direct_call(instruction, code)
            case "branch" | "jump":
                return Control(flow.kind, StackValue("const", instruction.target))
            case "switch":
                width = 1 if instruction.mnemonic == "tbb" else 2
                # Entries are unsigned and count halfwords from the end of the instruction.
                table = InlineTable(instruction.next, width, 2, signed=False)
                return Control("switch", table=table)
            case "stop" | "return":
                return Control(flow.kind)
        target = code.machine.pointed(flow.target, registers) if flow.target else None
        if flow.kind == "indirect call":
            return Control("call", target)
        if inline := _clangs_table(instruction, target, code):
            return Control("switch", table=inline)
        return Control("return") if _is_popped(instruction, code) else Control("jump", target)

    def vector_table(self, board: Board) -> int:
        """The start of flash, or the end of a boot block there."""
        return board.vectors

    def reset(self, elf: Elf, board: Board) -> int:
        """The reset vector."""
        return self._vector(elf, board, _RESET)

    def stack_top(self, elf: Elf, board: Board) -> int:
        """The first word of the vector table."""
        return self._vector(elf, board, 0)

    def vectors(
        self, elf: Elf, board: Board, _installed: Callable[[], Iterable[int]]
    ) -> Mapping[str, int]:
        """The vectors of reset and of the faults that the CPU has, and all others except 0."""
        is_small = dict(board.cpu.attributes).get("Tag_CPU_arch") in _SMALL
        numbers = _SMALL_FAULTS if is_small else _FAULTS
        names = {_RESET: "Reset", **{n: _FAULTS[n] for n in numbers}}
        for number in range(_RESET + 1, _VECTORS):
            if self._vector(elf, board, number):  # 0: reserved, or never taken
                name = {**_FAULTS, **_OTHERS}.get(number, f"exception {number}")
                names.setdefault(number, name)
        return {name: self._vector(elf, board, number) for number, name in names.items()}

    def handlers(self, elf: Elf, board: Board, _installed: Iterable[int]) -> Iterable[int]:
        """Every vector of the core except reset, if it is not 0."""
        numbers = range(_RESET + 1, _VECTORS)
        return {self._vector(elf, board, number) & ~1 for number in numbers} - {0}

    def vector_problem(self, address: int) -> str:
        """As in ``Architecture``. Without the Thumb bit, a core faults before the handler runs."""
        return "" if address & 1 else "has no Thumb bit"

    def attributes(self, cpu: Cpu, elf: Elf) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Architecture, profile, float calling convention, and extensions that the core lacks. The
        ELF need not use all extensions of the core. v7E-M includes DSP instructions, so the
        attributes do not name them."""
        wanted = {
            **dict(cpu.attributes),
            "Tag_ABI_VFP_args": "VFP registers" if cpu.is_hard_float else "AAPCS",
            **{tag: _NONE for tag, feature in _EXTENSIONS.items() if feature not in cpu.features},
        }
        if Feature.MVE in cpu.features and Feature.MVE_FLOAT not in cpu.features:
            wanted["Tag_MVE_arch"] = _INTEGER_MVE
        wanted[_E_FLAGS] = hex(_EABI5 | (_HARD_FLOAT if cpu.is_hard_float else _SOFT_FLOAT))
        # An attribute with the value 0 is not written into the file.
        absent = {"Tag_ABI_VFP_args": "AAPCS", **dict.fromkeys(_EXTENSIONS, _NONE)}
        return wanted, {**absent, **elf.attributes, _E_FLAGS: hex(elf.flags)}

    def flags_problem(self, elf: Elf) -> str:
        """As in ``Architecture``. Older linkers set no flag of floats."""
        is_hard = elf.attributes.get("Tag_ABI_VFP_args") == "VFP registers"
        # Older linkers set no flag of floats.
        usual = (_HARD_FLOAT,) if is_hard else (_SOFT_FLOAT, 0)
        wanted = [hex(_EABI5 | flag) for flag in usual]
        actual = hex(elf.flags)
        return "" if actual in wanted else f"e_flags are {actual}, expected {' or '.join(wanted)}"

    def abi_problem(self, flags: Iterable[str], elf: Elf) -> str:
        """As in ``Architecture``. Without a flag it is "soft"."""
        abis = [flag for flag in flags if flag.startswith("-mfloat-abi=")]
        # GCC's default without a flag.
        asked = abis[-1] if abis else "-mfloat-abi=soft"
        wanted = elf.attributes.get("Tag_ABI_VFP_args", "AAPCS")
        passed = "VFP registers" if asked == "-mfloat-abi=hard" else "AAPCS"
        return "" if passed == wanted else f"{asked}, and the ELF passes floats by {wanted}"

    def missing(self, cpu: Cpu, elf: Elf) -> str:
        """The linker has merged the attributes of all objects, so the architecture may be one that
        includes the CPU's. The float calling convention is the same in all objects of a link."""
        wanted = dict(cpu.attributes)["Tag_CPU_arch"]
        architecture = elf.attributes.get("Tag_CPU_arch", "")
        is_m = elf.attributes.get("Tag_CPU_arch_profile") == "Microcontroller"
        # The linker has merged the attributes of all objects, so the architecture may include the
        # CPU's.
        return "" if is_m and architecture in (wanted, *_INCLUDED_IN.get(wanted, ())) else wanted

    def _vector(self, elf: Elf, board: Board, number: int) -> int:
        return elf.word(self.vector_table(board) + 4 * number) or 0


def _direct_call(instruction: Instruction, code: Code) -> Control:
    target = StackValue("const", instruction.target)
    if _is_far_jump(instruction, code):
        return Control("jump", target)
    table = _TABLE_CALL.fullmatch(code.functions.get(instruction.target, ""))
    return Control("call", target, _table_after(instruction, table) if table else None)


def _table_after(instruction: Instruction, name: re.Match[str]) -> InlineTable:
    """The table through which libgcc's helper of that name jumps."""
    width = {"q": 1, "h": 2, "": 4}[name[2]]
    base = (instruction.next + 2) & ~3 if width == 4 else instruction.next
    return InlineTable(base, width, 1 if width == 4 else 2, signed=name[1] == "s")


def _clangs_table(
    instruction: Instruction, target: StackValue | None, code: Code
) -> InlineTable | None:
    """The table after the jump of a switch, in clang's form for Armv6-M: words that are addresses,
    or offsets from the place where the program counter is read."""
    name, operands = instruction.mnemonic, instruction.operands
    if name == "mov":
        # The words of the table are aligned.
        base = (instruction.next + 3) & ~3
        follows = target == StackValue("table", base)
        return InlineTable(base, 4, 1, signed=False, origin=0) if follows else None
    width = _offset_bytes(instruction, code) if name == "add" and len(operands) == 2 else 0
    # In Thumb code the program counter reads as the instruction's address plus 4.
    origin = instruction.address + 4
    return InlineTable(instruction.next, width, 2, False, origin) if width else None


def _offset_bytes(instruction: Instruction, code: Code) -> int:
    """The size of the offsets if the jump ends the sequence ``add r, pc; ldrb r, [r, #4];
    lsls r, r, #1``, which the table follows; otherwise 0."""
    register = instruction.operands[1]
    before = [code.instructions.get(instruction.address - n) for n in (6, 4, 2)]
    sequence = [(i.mnemonic, i.operands) for i in before if i is not None]
    for mnemonic, width in (("ldrb", 1), ("ldrh", 2)):
        if sequence == [
            ("add", (register, "pc")),
            (mnemonic, (register, f"[{register}, #4]")),
            ("lsls", (register, register, "#1")),
        ]:
            return width
    return 0


def _is_far_jump(instruction: Instruction, code: Code) -> bool:
    """Whether a ``bl`` is only a branch."""
    # Armv6-M has no other branch that reaches farther than 2 KB, so GCC uses `bl` like this inside
    # a function that has saved the link register.
    if code.elf.attributes.get("Tag_CPU_arch") not in _V6M:
        return False
    target = instruction.target
    is_inside = code.owner(target) == code.owner(instruction.address)
    return is_inside and target not in code.functions


def _is_popped(instruction: Instruction, code: Code) -> bool:
    """Whether the instruction ends the sequence ``pop {r3}; add sp, #8; bx r3``. Armv6-M returns
    like this from a function that has put arguments on the stack below the return address."""
    before = code.instructions.get(instruction.address - 2)
    if before is not None and before.mnemonic == "add" and before.operands[0] == "sp":
        before = code.instructions.get(before.address - 2)
    if instruction.mnemonic != "bx" or before is None or before.mnemonic != "pop":
        return False
    return register_list(before.operands[-1]) == [*instruction.operands]
