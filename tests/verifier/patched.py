"""A built firmware whose code and constants a test changes, by their addresses at run time."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from microgen.base import manifest
from microgen.building.builder import disassemble
from microgen.target import board as boards
from microgen.target.board import Board
from microgen.verifier import CHECKS
from microgen.verifier.elf import elf as elf_reader
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions.architectures import instructions
from microgen.verifier.instructions.instruction import NOTHING, Instruction
from microgen.verifier.runner_walk import plan as plans
from microgen.verifier.runner_walk.check import runner_of
from microgen.verifier.runner_walk.plan import CallPlan
from microgen.verifier.runner_walk.walk import Runner, RunnerWalk
from microgen.verifier.subject import Subject
from tests.tamper.elf32 import Elf32
from tests.tamper.encodings import riscv_call, thumb_call, word

_CALLS = ("bl", "jal", "jalr")


@dataclass(frozen=True)
class Built:
    """A project that was built once, and whose ELF is never changed itself."""

    root: Path
    board_name: str
    prefix: str = "tvmgen_default"

    @cached_property
    def board(self) -> Board:
        return boards.load(self.board_name)

    @property
    def path(self) -> Path:
        return self.root / "build" / "firmware.elf"

    @cached_property
    def elf(self) -> Elf:
        return elf_reader.load(self.path)

    @cached_property
    def code(self) -> dict[int, Instruction]:
        return dict(instructions(self.board, disassemble(self.path, self.board)))

    @property
    def is_arm(self) -> bool:
        return self.board.cpu.architecture == "arm"

    def address(self, name: str) -> int:
        (symbol,) = self.elf.named(name)
        return self.elf.code_address(symbol) if symbol.kind == "func" else symbol.address

    def body(self, name: str) -> list[Instruction]:
        """The instructions of a function in order."""
        (symbol,) = self.elf.named(name)
        start = self.elf.code_address(symbol)
        return [self.code[a] for a in sorted(self.code) if start <= a < start + symbol.size]

    @property
    def main(self) -> list[Instruction]:
        return self.body(f"{self.prefix}___tvm_main__")

    def calls(self, *names: str) -> list[Instruction]:
        """The direct calls of the runner, of 4 bytes each, whose target has one of these parts of
        a name."""
        found = [i for i in self.main if i.mnemonic in _CALLS and i.size == 4]
        return [i for i in found if any(n in i.operands[-1] for n in names or ("",))]

    def patched(self, to: Path, *changes: tuple[int, bytes]) -> Path:
        """The ELF with other bytes at these addresses."""
        elf = Elf32(self.path.read_bytes())
        for address, new in changes:
            assert elf.get(address, len(new)) != new
            elf.put(address, new)
        to.write_bytes(elf.data)
        return to

    def renamed(self, to: Path, first: str, second: str) -> Path:
        """The ELF in which two functions have exchanged their names."""
        pairs = [f"--redefine-sym={a}={b}" for a, b in ((first, second), (second, first))]
        tool = f"{self.board.toolchain}objcopy"
        subprocess.run([tool, *pairs, str(self.path), str(to)], check=True)
        return to

    def found(self, elf: Path) -> str:
        """What the check says about an ELF that it refuses."""
        finding = CHECKS["runner"](self.subject(elf))
        assert finding.status == "failed", finding
        return finding.found

    def subject(self, elf: Path) -> Subject:
        record = manifest.load(self.root)
        return Subject(
            project=self.root,
            elf=elf_reader.load(elf),
            manifest=record,
            board=self.board,
            parameters=dict,
            disassembly=lambda: disassemble(elf, self.board),
            readers=dict,
            functions=list,
        )

    def literals(self, value: int) -> list[int]:
        """Where the runner's literal pool has a word."""
        last = self.main[-1].next
        return [a for a in range(last & ~3, last + 256, 4) if self.elf.word(a) == value]

    def needless(self) -> list[str]:
        """The runner's instructions that may do nothing without anything being wrong. The effect
        of ``it`` is in the instructions after it."""
        own = [*self.main, *self.body(f"{self.prefix}_run")]
        own = [i for i in own if not i.mnemonic.startswith(("nop", "it"))]
        return [f"{i.address:#x}: {i}" for i in own if not self.without(i)]

    @cached_property
    def runner(self) -> tuple[Runner, CallPlan]:
        subject = self.subject(self.path)
        plan = plans.of_model(subject.manifest, self.elf)
        return runner_of(subject, self.address(f"{self.prefix}_run"), plan), plan

    def without(self, left_out: Instruction) -> list[str]:
        """What is wrong with the runner if an instruction does nothing."""
        runner, plan = self.runner
        nop = replace(left_out, mnemonic="nop", operands=(), condition="", effect=NOTHING)
        walk = RunnerWalk(replace(runner, instructions={**self.code, left_out.address: nop}), plan)
        walk.run()
        return [*walk.problems.values()]

    def call(self, at: int, to: int) -> bytes:
        """The instruction of 4 bytes that calls a function."""
        return thumb_call(at, to) if self.is_arm else riscv_call(at, to)


def with_immediate(code: int, change: int) -> bytes:
    """``addi`` or ``lw`` of RISC-V whose immediate is changed by a number."""
    value = (code >> 20) + change
    return word(code & 0xFFFFF | (value & 0xFFF) << 20)
