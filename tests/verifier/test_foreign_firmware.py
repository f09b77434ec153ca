"""A model in a firmware that is not the project's: other sections, start-up code and C library."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

import microgen
from microgen.base.manifest import load
from microgen.interface.cli import main
from microgen.target import board as boards
from microgen.target.board import Board
from microgen.verifier import CHECKS, VerifyReport, verify
from microgen.verifier.elf import elf
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.scopes import IS_FOREIGN, NOT_LOOKED_AT, NOT_OURS, is_foreign
from microgen.verifier.table import not_in_model
from tests.support.each_compiled import each_compiled
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC, NEEDS_RISCV_GCC
from tests.tamper.elf32 import Elf32
from tests.tamper.tampers import put

SOURCES = Path(__file__).parent / "foreign"
DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_int8.tflite"
MODEL = "model/codegen/host/src"
SOFTMAX = "    static const mg_softmax_s8_"  # the parameters of any kernel

ARM = pytest.param("mps2_an386", marks=NEEDS_ARM_GCC)
RISCV = pytest.param("qemu_riscv32", marks=NEEDS_RISCV_GCC)

WHOLE_FIRMWARE = {row.name for row in CHECKS.values() if row.in_model is not_in_model}
NOT_IN_MODEL = {
    *("device_hooks", "registry", "graph", "module_blob", "module_loaders"),
    *("external_functions", "shared_workspace", "reproduce"),
}


@dataclass
class Foreign:
    """A copy of a project, and the application around its model."""

    project: Path
    board: Board
    script: str = "merged.ld"
    edits: tuple[tuple[str, str], ...] = ()  # of the linker script

    @property
    def elf(self) -> Path:
        return self.project / "application.elf"

    def edit(self, name: str, old: str, new: str) -> Foreign:
        """Replaces a text, a regular expression, in a source of the model."""
        path = self.project / MODEL / name
        text, count = re.subn(old, new, path.read_text())
        assert count
        path.write_text(text)
        return self

    def in_operator(self, code: str, *declared: str) -> Foreign:
        """Puts C code into the last operator, which may also call what is declared."""
        start = (self.project / MODEL / "default_lib1.c").read_text()
        text = start.replace(SOFTMAX, f"    {code}\n{SOFTMAX}").replace(
            "/* probabilities */", "\n".join(declared)
        )
        assert text.count(code) == 1
        (self.project / MODEL / "default_lib1.c").write_text(text)
        return self

    def link(self) -> Foreign:
        """Builds the application with flags of its own."""
        sources = [p for p in (self.project / MODEL).iterdir() if p.suffix in (".c", ".S")]
        folders = [self.project / name for name in ("model/codegen/host/include", "crt/include")]
        flags = [*self.board.cpu.cflags, "-O2", "-ffunction-sections", "-Wl,--gc-sections"]
        given, script = self._flags_of_host()
        command = [f"{self.board.toolchain}gcc", *flags, *given]
        included = [*command, *(f"-I{folder}" for folder in folders)]
        own = [SOURCES / "main.c", *self._start()]
        objects = each_compiled(included, [*own, *sources], self.project)
        linked = [*command, *script, *map(str, objects), "-o", str(self.elf), "-lgcc"]
        made = subprocess.run(linked, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        return self

    def _start(self) -> list[Path]:
        """The start-up code. A program of the machine that builds has the compiler's."""
        code = SOURCES / f"startup_{self.board.cpu.architecture}.c"
        return [] if self.board.is_host else [code]

    def _flags_of_host(self) -> tuple[list[str], list[str]]:
        """The flags for the C library, and those for the linker script. A program of the machine
        that builds has the compiler's."""
        if self.board.is_host:
            return ["-DHOST_HAS_LIBC"], []
        script = ["-T", str(self._filled_script())]
        if self.board.cpu.architecture == "arm":
            return ["-DHOST_HAS_LIBC", "-nostartfiles"], script
        folders = [self.project / name for name in ("crt/libc", "crt/src")]
        # the compiler may come without a library's headers
        flags = [flag for folder in folders for flag in ("-idirafter", str(folder))]
        return [*flags, "-ffreestanding", "-nostdlib"], script

    def _filled_script(self) -> Path:
        """The linker script; its memories begin after the start of the board's, as after a
        bootloader."""
        flash, ram = (self.board.memory(name).origin for name in (self.board.flash, self.board.ram))
        text = (SOURCES / self.script).read_text()
        for old, new in self.edits:
            assert text.count(old) == 1
            text = text.replace(old, new)
        text = text.replace("@ROM@", hex(flash + 0x10000)).replace("@SRAM@", hex(ram + 0x8000))
        snippet = (self.project / "boards" / "zephyr.ld").read_text()
        made = self.project / "application.ld"
        made.write_text(text.replace('#include "zephyr.ld"', snippet))
        return made

    def verify(self, **options: object) -> VerifyReport:
        """The report about the model; edits of the sources, which ``project_files`` finds, are not
        asked for."""
        options = {"scope": "model", "project_files": False, **options}
        return verify(self.project, elf=self.elf, **options)  # type: ignore[arg-type]

    def patch(self, name: str, change: Callable[[int], int]) -> Foreign:
        """Changes the first byte of an object in the ELF file."""
        loaded = elf.load(self.elf)
        (symbol,) = loaded.named(name)
        found = loaded.read(symbol.address, symbol.size)
        data = bytearray(self.elf.read_bytes())
        assert found is not None
        assert data.count(found) == 1
        at = data.index(found)
        data[at] = change(data[at])
        self.elf.write_bytes(data)
        return self


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Generates the project of a board once."""
    made: dict[str, Path] = {}

    def project(board: str) -> Path:
        if board not in made:
            made[board] = tmp_path_factory.mktemp("foreign") / "p"
            microgen.generate(DIGITS, board, made[board])
        return made[board]

    return project


@pytest.fixture
def foreign(projects: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Foreign]:
    """A function that copies the project of a board, so that tests may edit it."""

    def make(board: str) -> Foreign:
        copied = shutil.copytree(projects(board), tmp_path / "p")
        return Foreign(copied, boards.load(board))

    return make


def failed(report: VerifyReport) -> dict[str, str]:
    return {check.name: check.found for check in report.failed}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("script", ["merged.ld", "sections.ld"])
@pytest.mark.parametrize("board", [ARM, RISCV])
def test_a_model_in_another_firmware_passes(
    foreign: Callable[[str], Foreign], board: str, script: str
) -> None:
    made = foreign(board)
    made.script = script
    report = verify(made.project, elf=made.link().elf, scope="model")
    assert failed(report) == {}
    assert report.scope == "model"
    applying = {c.name for c in report.checks if c.status == "ok"}
    # On RV32 the default goal takes kernels whose requantization has nothing to prove.
    absent = NOT_IN_MODEL | ({"requantization"} if board == "qemu_riscv32" else set())
    assert applying == set(CHECKS) - WHOLE_FIRMWARE - absent
    assert {c.found for c in report.checks if c.name in WHOLE_FIRMWARE} == {NOT_OURS}
    assert 100 < report.check("stack").values["bound"] < 2000
    assert "tvmgen_default_run" in report.check("stack").found


@NEEDS_CC
def test_a_model_in_a_program_of_the_host_passes(foreign: Callable[[str], Foreign]) -> None:
    made = foreign("native").link()
    report = made.verify()
    assert (report.scope, failed(report)) == ("model", {})
    checked = [c.name for c in report.checks if c.status == "ok"]
    assert {"sids", "arena", "constants_section", "constants_bytes", "kernels"} <= {*checked}
    weight = "tvmgen_default_dense_BiasAdd_weight"
    assert "constants_bytes" in failed(made.patch(weight, lambda byte: byte ^ 1).verify())


@pytest.mark.parametrize("board", [ARM, RISCV])
def test_the_same_elf_is_not_the_projects_whole_firmware(
    foreign: Callable[[str], Foreign], board: str
) -> None:
    report = foreign(board).link().verify(scope="project")
    assert (report.scope, report.notice) == ("project", IS_FOREIGN)
    assert {"arena", "constants_section", "sids", "heap"} <= failed(report).keys()


def constant(made: Foreign) -> Foreign:
    return made.link().patch("tvmgen_default_dense_BiasAdd_weight", lambda byte: byte ^ 1)


def moved(made: Foreign) -> Foreign:
    return made.edit("default_memory.S", r"(\.set sid_17, \w+ \+ \d+)", r"\1 + 16").link()


def resized(made: Foreign) -> Foreign:
    return made.edit("default_memory.S", r"(\.size sid_17, \d+)", r"\1 - 128").link()


def global_sid(made: Foreign) -> Foreign:
    return made.edit("default_memory.S", r"(\.type sid_17)", r".global sid_17\n    \1").link()


def misaligned(made: Foreign) -> Foreign:
    return made.edit("default_memory.S", r"\.balign 16", ".balign 16\n    .skip 4").link()


def read_only_arena(made: Foreign) -> Foreign:
    nobits = r'\.bss\.noinit\.tvm,"aw",%nobits'
    return made.edit("default_memory.S", nobits, '.rodata.arena,"a",%progbits').link()


def renamed(made: Foreign) -> Foreign:
    for name in ("default_lib0.c", "default_lib1.c", "default_lib1.h"):
        made.edit(name, r"tvmgen_default_fused_nn_softmax\b", "tvmgen_default_fused_nn_softmin")
    return made.link()


def heap(made: Foreign) -> Foreign:
    declared = "void *malloc(__SIZE_TYPE__ size);"
    return made.in_operator("*(volatile char *)malloc(16) = 1;", declared).link()


def recursion(made: Foreign) -> Foreign:
    down = "__attribute__((noinline)) int down(volatile int *n);\n"
    down += (
        "int down(volatile int *n) { volatile int m = *n - 1; return m > 0 ? down(&m) + m : 1; }"
    )
    return made.in_operator("volatile int n = in0[0]; out0[0] = (int8_t)down(&n);", down).link()


def pointer(made: Foreign) -> Foreign:
    return made.in_operator("((void (*)(void))(uintptr_t)*(volatile uint32_t *)out0)();").link()


def soft_float(made: Foreign) -> Foreign:
    return made.in_operator("volatile double d = in0[0]; d = d * 1.5;").link()


def libc(made: Foreign) -> Foreign:
    declared = "int printf(const char *format, ...);"
    return made.in_operator('(void)printf("%d", in0[0]);', declared).link()


_TAMPERED = [
    *((constant, "constants_bytes"), (moved, "sids"), (resized, "sids"), (global_sid, "sids")),
    *((misaligned, "arena"), (read_only_arena, "arena")),
    *((renamed, "operators"), (renamed, "kernels"), (heap, "heap")),
    *((recursion, "stack"), (pointer, "stack"), (soft_float, "soft_float"), (libc, "libc")),
]
# The checks that depend on the instruction set; the others do the same for both.
_OF_INSTRUCTIONS = ("stack", "soft_float")


def _tampered() -> list[ParameterSet]:
    """Each row on both boards. What does not depend on instructions is slow on the second."""
    rows = []
    for board in (ARM, RISCV):
        for tamper, check in _TAMPERED:
            is_usual = board is ARM or check in _OF_INSTRUCTIONS
            marks = [*board.marks, *[pytest.mark.slow] * (not is_usual)]
            rows.append(pytest.param(*board.values, tamper, check, marks=marks))
    return rows


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("board", "tamper", "check"), _tampered())
def test_a_tampered_model_in_another_firmware_fails(
    foreign: Callable[[str], Foreign],
    board: str,
    tamper: Callable[[Foreign], Foreign],
    check: str,
) -> None:
    report = tamper(foreign(board)).verify()
    assert report.scope == "model"
    assert check in failed(report)


@NEEDS_ARM_GCC
def test_constants_in_a_section_that_is_written_fail(foreign: Callable[[str], Foreign]) -> None:
    made = foreign("mps2_an386")
    made.script = "sections.ld"
    made.edits = (
        (".rodata .rodata.*", ".rodata .rodata.[!t]*"),
        ("*(.data", "*(.rodata.tvm .data"),
    )
    found = failed(made.link().verify())
    assert "is in writable memory" in found["constants_section"]


@NEEDS_ARM_GCC
def test_flash_may_have_a_section_whose_flags_say_that_it_is_written(
    foreign: Callable[[str], Foreign],
) -> None:
    made = foreign("mps2_an386")
    made.edits = (("*(.isr_vector))", "*(.isr_vector .flag))"),)
    flag = '__attribute__((section(".flag"))) volatile int8_t flag = 1;'
    made.in_operator("out0[0] = flag;", flag).link()
    section = next(s for s in elf.load(made.elf).sections if s.name == ".flash_image")
    assert section.writable
    assert failed(made.verify()) == {}


@NEEDS_ARM_GCC
@pytest.mark.parametrize("is_replaced", [False, True])
def test_code_that_is_loaded_elsewhere_fails(
    foreign: Callable[[str], Foreign], is_replaced: bool
) -> None:
    """Nothing copies it, and other code may be loaded where it runs."""
    made = foreign("mps2_an386").link()
    changed = Elf32(made.elf.read_bytes())
    name = elf.load(made.elf).named("tvmgen_default_run")[0].section
    code = changed.segment_of(name)
    start = code["p_vaddr"]
    put(code, paddr=start + 0x200000)
    if is_replaced:
        changed.add_segment(code, vaddr=start + 0x300000, paddr=start)
    made.elf.write_bytes(changed.data)
    found = failed(made.verify())["layout"]
    assert ("overlap where they run or are loaded" if is_replaced else "nothing can copy") in found


@pytest.mark.parametrize("board", [ARM, RISCV])
def test_tables_in_a_section_with_code_are_followed(
    foreign: Callable[[str], Foreign], board: str
) -> None:
    names = [f"step_{n}" for n in range(12)]
    steps = [
        f"__attribute__((noinline)) static void {name}(volatile int *n) {{ *n += {i * i + 1}; }}"
        for i, name in enumerate(names)
    ]
    table = f"static void (*const steps[])(volatile int *) = {{ {', '.join(names[:3])} }};"
    cases = " ".join(f"case {i}: {name}(&n); break;" for i, name in enumerate(names))
    code = f"volatile int n = 0; steps[(unsigned)in0[0] % 3](&n); switch (in0[1]) {{ {cases} }}"
    report = foreign(board).in_operator(code, *steps, table).link().verify()
    assert failed(report) == {}


@NEEDS_ARM_GCC
def test_calls_that_cannot_be_followed_prove_nothing_about_functions(
    foreign: Callable[[str], Foreign],
) -> None:
    report = pointer(foreign("mps2_an386")).verify()
    for name in ("heap", "libc", "soft_float", "kernels"):
        assert report.check(name).status == "n/a"


@NEEDS_ARM_GCC
def test_an_operator_that_runs_on_a_stack_of_its_own_has_no_bound(
    foreign: Callable[[str], Foreign],
) -> None:
    code = '__asm__ volatile("ldr sp, =_estack\\n.ltorg" ::: "memory");'
    found = failed(foreign("mps2_an386").in_operator(code).link().verify())
    assert "cannot follow the stack pointer" in found["stack"]


@pytest.mark.parametrize(
    ("board", "architecture", "missing"),
    [
        ("mps2_an385", {"Tag_CPU_arch": "v7E-M"}, ""),
        ("mps2_an386", {"Tag_CPU_arch": "v8.1-M.mainline"}, ""),
        ("microbit", {"Tag_CPU_arch": "v8-M.baseline"}, ""),
        ("mps2_an386", {"Tag_CPU_arch": "v7"}, "v7E-M"),
        ("mps2_an385", {"Tag_CPU_arch": "v8-M.baseline"}, "v7"),
        ("mps2_an385", {"Tag_CPU_arch_profile": "Application"}, "v7"),
        ("mps2_an385", {}, ""),
        ("qemu_riscv32", {"Tag_RISCV_arch": "rv32i2p1_m2p0_a2p1_f2p2_c2p0_zicsr2p0"}, ""),
        ("qemu_riscv32", {"Tag_RISCV_arch": "rv32gc"}, ""),
        ("qemu_riscv32", {"Tag_RISCV_arch": "rv32i2p1_c2p0"}, "a, m"),
        ("qemu_riscv32", {"Tag_RISCV_arch": "rv64imac"}, "rv32"),
        ("qemu_riscv32", {"Tag_RISCV_arch": ""}, "a, c, i, m, rv32"),
    ],
)
def test_the_core_of_another_firmware_must_run_the_models_code(
    board: str, architecture: dict[str, str], missing: str
) -> None:
    of = boards.load(board)
    attributes = {**dict(of.cpu.attributes), **architecture}
    machine = elf.Elf(Path("e"), 0, "", 0, (), (), (), attributes, (), (), ())
    assert architecture_of(of).missing(of.cpu, machine) == missing


@pytest.mark.parametrize(
    ("sections", "symbols", "expected"),
    [
        ([".text", ".rodata.tvm"], [], False),
        ([".bss.noinit.tvm.psram"], [], False),
        ([".text"], ["__stack_limit", "__stack_top", "__data_load"], False),
        ([".text", ".rodata"], ["__stack_limit", "__stack_top"], True),
        (["rodata", "bss"], [], True),
    ],
)
def test_the_linker_script_tells_whose_elf_it_is(
    sections: list[str], symbols: list[str], expected: bool
) -> None:
    made = elf.Elf(
        *(Path("e"), 0, "", 0),
        tuple(elf.Symbol(name, 0, 0, "notype", "global", "", "") for name in symbols),
        tuple(
            elf.Section(name, 0, 0, 4, False, False, True, "progbits", 0, 1) for name in sections
        ),
        *((), {}, (), (), ()),
    )
    assert is_foreign(made) == expected


@NEEDS_ARM_GCC
def test_only_the_caller_chooses_the_scope(project: Callable[..., Any]) -> None:
    """Names in the ELF do not: an edited ELF could leave checks out."""
    built = project().build()
    assert verify(built.root).scope == "project"
    assert verify(built.root, elf=built.elf).scope == "project"
    as_model = verify(built.root, scope="model")
    assert (as_model.scope, failed(as_model)) == ("model", {})
    names = (".rodata.tvm=.rodata.ours", ".bss.noinit.tvm=.bss.ours")
    built.objcopy(*(word for name in names for word in ("--rename-section", name)))
    built.objcopy("--redefine-sym", "__data_load=ours")
    report = verify(built.root, elf=built.elf)
    assert (report.scope, report.ok, report.notice) == ("project", False, IS_FOREIGN)


@pytest.mark.parametrize("board", [ARM])
def test_the_command_says_the_scope(
    foreign: Callable[[str], Foreign], board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = foreign(board).link()
    foreign = ["verify", str(made.project), "--elf", str(made.elf)]
    assert main(foreign) == 1
    assert capsys.readouterr().out.splitlines()[0] == IS_FOREIGN
    command = [*foreign, "--scope", "model"]
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["scope"], data["ok"], data["ram"]["total"]) == ("model", True, None)
    assert data["notice"] == NOT_LOOKED_AT
    assert main(command) == 0
    first, counts = capsys.readouterr().out.splitlines()
    assert first == NOT_LOOKED_AT
    used = load(made.project).plan.peak + 74  # inputs and outputs
    absent = len(WHOLE_FIRMWARE | NOT_IN_MODEL)
    ok = len(CHECKS) - absent
    assert counts == f"{ok} ok, 0 failed, {absent} n/a; arena + I/O {used:,} bytes"
    assert main([*foreign, "--scope", "project", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["scope"] == "project"
    assert main([*command, "-v"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == NOT_LOOKED_AT
