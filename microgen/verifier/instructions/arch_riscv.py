"""RISC-V, RV32 with M and C, for ``verify``: control flow, trap vector, build attributes.

A core starts at the start of flash without a stack. Code sets ``sp``, and sets ``mtvec`` to the
trap handler. A trap pushes nothing. The handler runs on the program's stack, or sets a stack of its
own. Sources: The RISC-V Instruction Set Manual, volumes I and II; RISC-V ELF psABI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from microgen.target.board import Board
from microgen.target.cpu import Cpu
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions import riscv
from microgen.verifier.instructions.architecture import CallStandard, Code, Control
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.instructions.machine import ENTRY, Registers, StackValue

_STACK_TOP = "__stack_top"  # from the linker script
_GLOBAL_POINTER = "__global_pointer$"  # from the linker script, if gp is used

_NEXT = Control("next")
_VECTOR_ALIGNMENT = 4  # the lowest two bits are the mode: 0 is one handler for all traps

# Parts of I, M and A that later versions of the manual, or the compiler, name separately.
_IMPLIED = frozenset({"zicsr", "zifencei", "zmmul", "zaamo", "zalrsc", "zca"})
# e_flags: compressed code, and two bits of how floats are passed. psABI, "File Header".
_RVC, _FLOAT_ABI, _SINGLE = 1, 6, 2
_ABI_LETTERS = {"soft": "", "single": "f", "double": "d"}
_VERSION = re.compile(r"\d+p\d+")
_CANONICAL_ORDER = "iemafdqlcbkjtpvh"


class RiscV:
    """RV32 with M and C, optionally A and F; machine mode."""

    elf_machine = "EM_RISCV"
    stack_alignment = 16  # psABI, at the entry of every function
    calls = CallStandard(
        arguments=tuple(f"a{i}" for i in range(8)),
        result="a0",
        link="ra",
        preserved=frozenset(f"s{i}" for i in range(12)),
        fixed=frozenset({"gp", "tp"}),  # psABI: no function changes them
    )
    adds_parts = True
    code_bit = 0
    falls_through_unless_last = frozenset({"jal", "jalr", "ebreak", "ecall"})

    def parse(self, text: str) -> dict[int, Instruction]:
        """As in ``Architecture``."""
        return riscv.parse(text)

    def entry(self, code: Code, start: int) -> Registers:
        """The return address; the global pointer if the program has one; a stack pointer, except
        at the reset."""
        known = {**ENTRY, "ra": StackValue("link", 0)}
        if start == code.reset:
            # A constant is not a stack: start-up code has to set the pointer before it uses one.
            return {"sp": StackValue("const", 0)}
        gp = code.elf.named(_GLOBAL_POINTER)
        return {**known, "gp": StackValue("const", gp[0].address)} if gp else known

    def control(self, instruction: Instruction, registers: Registers, code: Code) -> Control:
        """As in ``Architecture``."""
        flow = instruction.effect.flow
        match flow.kind:
            case "branch" | "jump":
                return Control(flow.kind, StackValue("const", instruction.target))
            case "return" | "stop":
                return Control(flow.kind)
            case "next" if instruction.effect.operation == "install":
                return Control("handler", _installed(instruction, registers))
            case "next":
                return _NEXT
        target = code.machine.pointed(flow.target, registers) if flow.target else None
        if flow.kind == "indirect jump":
            # An unknown `ra` was loaded from the stack, whose contents are not followed.
            is_unknown = target is None and instruction.operands == ("ra",)
            is_return = is_unknown or target == StackValue("link", 0)
            return Control("return") if is_return else Control("jump", target)
        if flow.link != "ra":  # libgcc's -msave-restore, whose functions change the caller's stack
            return Control("call")
        is_direct = flow.kind == "call"
        return Control("call", StackValue("const", instruction.target) if is_direct else target)

    def vector_table(self, _board: Board) -> None:
        """None, because RISC-V has no table: ``mtvec`` has the handler's address."""
        return

    def reset(self, _elf: Elf, board: Board) -> int:
        """The start of flash."""
        return board.vectors

    def stack_top(self, elf: Elf, _board: Board) -> int:
        """The linker script's symbol. The walk through the program proves that the program sets
        ``sp`` to this address."""
        symbols = elf.named(_STACK_TOP)
        return symbols[0].address if symbols else 0

    def vectors(
        self, elf: Elf, board: Board, installed: Callable[[], Iterable[int]]
    ) -> Mapping[str, int]:
        """Reset, and every value that ``mtvec`` is set to; 0 if it is never set."""
        traps = sorted(installed()) or [0]
        return (
            {"reset": self.reset(elf, board)}
            | {riscv.TRAP_VECTOR: traps[0]}
            | {f"{riscv.TRAP_VECTOR} ({n})": trap for n, trap in enumerate(traps[1:], 2)}
        )

    def handlers(self, _elf: Elf, _board: Board, installed: Iterable[int]) -> Iterable[int]:
        """The handlers that the program installs."""
        return installed

    def vector_problem(self, address: int) -> str:
        """As in ``Architecture``. The hardware ignores the lowest bits, or uses them as a mode."""
        # The hardware ignores the lowest bits, or uses them as a mode.
        return "is not aligned to 4" if address % _VECTOR_ALIGNMENT else ""

    def attributes(self, cpu: Cpu, elf: Elf) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The instruction set without versions and implied names, because the linker merges these
        with libgcc's; the stack's alignment; the float calling convention."""
        wanted = {
            **dict(cpu.attributes),
            "float ABI": "single" if cpu.is_hard_float else "soft",
            "e_flags": hex(_RVC | (_SINGLE if cpu.is_hard_float else 0)),
        }
        # The linker merges versions and implied names with libgcc's.
        return _canonical(wanted), {**_canonical(elf.attributes), "e_flags": hex(elf.flags)}

    def flags_problem(self, elf: Elf) -> str:
        """As in ``Architecture``: RV32E, which has fewer registers, and bits that are not known."""
        known = elf.flags & ~(_RVC | _FLOAT_ABI) == 0
        return "" if known else f"e_flags are {elf.flags:#x}, expected RV32I's"

    def abi_problem(self, flags: Iterable[str], elf: Elf) -> str:
        """As in ``Architecture``. Compilers have different default ABIs."""
        abis = [flag for flag in flags if flag.startswith("-mabi=")]
        asked, wanted = abis[-1] if abis else "no -mabi", elf.attributes["float ABI"]
        is_same = asked == f"-mabi=ilp32{_ABI_LETTERS.get(wanted)}"
        return "" if is_same else f"{asked}, and the ELF's float ABI is {wanted}"

    def missing(self, cpu: Cpu, elf: Elf) -> str:
        """The linker must have merged every extension of the CPU into the attribute."""
        wanted = _letters(dict(cpu.attributes)["Tag_RISCV_arch"])
        merged = _letters(elf.attributes.get("Tag_RISCV_arch", ""))
        return ", ".join(sorted(wanted - merged))


def _letters(architecture: str) -> set[str]:
    """The base and the extensions. ``g`` is spelled out, and implied extensions are left out."""
    base, *longer = extensions(architecture).split("_")
    letters = base[4:].replace("g", "imafd")
    return {base[:4], *letters, *longer}


def _installed(instruction: Instruction, registers: Registers) -> StackValue | None:
    if instruction.mnemonic != "csrw":
        return None
    value = registers.get(instruction.operands[-1])
    # With bit 0 set (vectored mode), interrupts go to a table instead of this address.
    is_direct = value is not None and value.base == "const" and value.offset % 2 == 0
    return value if is_direct else None


def _canonical(attributes: Mapping[str, str]) -> dict[str, str]:
    architecture = attributes.get("Tag_RISCV_arch", "")
    return {**attributes, "Tag_RISCV_arch": extensions(architecture)}


def extensions(architecture: str) -> str:
    """``rv32i2p1_m2p0_c2p0_zmmul1p0`` as ``rv32imc``: without versions and implied extensions."""
    first, *others = (_VERSION.sub("", name) for name in architecture.split("_"))
    width, letters = first[:4], [*first[4:], *(name for name in others if len(name) == 1)]
    letters.sort(key=_CANONICAL_ORDER.find)
    longer = sorted({name for name in others if len(name) > 1} - _IMPLIED)
    return "_".join([width + "".join(letters), *longer])
