"""`verify --reproduce` of an ELF that another build system linked: functions are compared one by
one, wherever the linker put them."""

from __future__ import annotations

import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import microgen
from microgen import manifest
from microgen.building import builder
from microgen.target import projects
from microgen.verifier import elf, foreign, relocatable, same_functions
from microgen.verifier.elf import Elf
from microgen.verifier.relocatable import ObjectFile
from microgen.verifier.reproduce import reproduce
from microgen.verifier.subject import Reproduction, Subject
from tests.places import DIGITS
from tests.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV_GCC

pytestmark = [NEEDS_NINJA, NEEDS_ARM_GCC]

OBJECTS = Path("build", "CMakeFiles", "firmware.dir", "model")
SCRIPT = """
ENTRY(vendor_start)
MEMORY
{
  ROM (rx) : ORIGIN = 0x08000000, LENGTH = 4M
  SRAM (rwx) : ORIGIN = 0x21000000, LENGTH = 4M
}
SECTIONS
{
  rom_code : { *(.vendor) *(.text*) } > ROM
  rom_data : { *(.rodata*) } > ROM
  ram_zero (NOLOAD) : { *(.bss*) *(COMMON) } > SRAM
  /DISCARD/ : { *(.ARM.exidx*) }
}
"""
START = """
int tvmgen_default_run(void *inputs, void *outputs);
__attribute__((section(".vendor"))) void vendor_start(void) { tvmgen_default_run(0, 0); for (;;); }
void *memcpy(char *a, const char *b, unsigned n) { while (n--) a[n] = b[n]; return a; }
void *memset(char *a, int v, unsigned n) { while (n--) a[n] = v; return a; }
"""


def _linked(project: Path) -> Path:
    """The model's object files in a vendor's own program."""
    (project / "vendor.ld").write_text(SCRIPT)
    (project / "start.c").write_text(START)
    board = projects.of_project(manifest.load(project).board)
    flags = [*board.cpu.cflags, "-Os", "-w", "-fno-builtin", "-nostdlib"]
    flags += ["-fno-tree-loop-distribute-patterns", "-T", "vendor.ld", "-Wl,-z,noexecstack"]
    objects = sorted((project / OBJECTS).rglob("*.obj"))
    command = [f"{board.toolchain}gcc", *flags, "start.c", *map(str, objects), "-lgcc"]
    done = subprocess.run([*command, "-o", "vendor.elf"], cwd=project, capture_output=True)
    assert done.returncode == 0, done.stderr
    return project / "vendor.elf"


def _built(root: Path, board: str = "mps2_an386", **options: str) -> Path:
    microgen.generate(DIGITS, board, root, **options)
    microgen.build(root)
    return root


def _subject(project: Path, program: Elf) -> Subject:
    record = manifest.load(project)
    return Subject(
        *(project, program, record, projects.of_project(record.board), dict, str, dict, list),
        scope="model",
        reproduction=Reproduction(),
    )


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose model a vendor's program contains, ``vendor.elf``."""
    root = _built(tmp_path_factory.mktemp("foreign") / "p")
    _linked(root)
    return root


def _files(project: Path) -> list[ObjectFile]:
    return [relocatable.read(path) for path in sorted((project / OBJECTS).rglob("*.obj"))]


def _differences(program: Elf, files: list[ObjectFile], project: Path) -> list[str]:
    required = foreign.required(manifest.load(project))
    return list(same_functions.differences(program, files, required))


def _patched(program: Elf, address: int, old: bytes | None, new: bytes) -> Elf:
    """The program with other bytes at an address."""
    image = []
    for start, data in program.image():
        if start <= address < start + len(data):
            at = address - start
            assert old is None or data[at : at + len(old)] == old
            image.append((start, data[:at] + new + data[at + len(new) :]))
        else:
            image.append((start, data))
    return replace(program, _image=tuple(image))


def test_the_models_functions_are_equal_wherever_they_are(vendor: Path) -> None:
    found = reproduce(_subject(vendor, elf.load(vendor / "vendor.elf")))
    assert found.status == "ok", found.found
    assert "functions and objects of the models are equal" in found.found
    assert "other code is not compared" in found.found
    assert found.values["compared"] > 20


@NEEDS_LLVM
def test_halves_of_addresses_that_clang_loads(tmp_path: Path) -> None:
    project = _built(tmp_path / "p", "mps3_an547", toolchain="llvm")
    program, files = elf.load(_linked(project)), _files(project)
    assert _differences(program, files, project) == []
    (run,) = program.named("tvmgen_default___tvm_main__")
    start = program.code_address(run)
    code = program.read(start, run.size) or b""
    halves = [
        r for f in files for p in f.pieces.values() if "main__" in p.name for r in p.relocations
    ]
    for own in [r for r in halves if r.kind in (47, 48)][:12]:
        other = bytes([code[own.offset + 2] ^ 1])
        changed = _patched(program, start + own.offset + 2, None, other)
        assert "does not lead to" in _differences(changed, files, project)[0]


def test_each_byte_of_a_models_function_counts(vendor: Path) -> None:
    program, files = elf.load(vendor / "vendor.elf"), _files(vendor)
    own = [s for s in program.functions() if s.name.startswith(("tvmgen_", "mg_")) and s.size]
    random.seed(13)
    for symbol in random.choices(own, weights=[s.size for s in own], k=50):
        address = program.code_address(symbol) + random.randrange(symbol.size)
        (old,) = program.read(address, 1) or b""
        changed = _patched(program, address, bytes([old]), bytes([old ^ 1 << random.randrange(8)]))
        assert _differences(changed, files, vendor), hex(address)


def test_a_patched_kernel_is_named(vendor: Path) -> None:
    program = elf.load(vendor / "vendor.elf")
    name = manifest.load(vendor).calls[0].function
    (symbol,) = program.named(name)
    changed = _patched(program, program.code_address(symbol) + 2, None, b"\x00\xbf")
    found = reproduce(_subject(vendor, changed))
    assert found.status == "failed"
    assert found.found.startswith(f"{name} at 0x8")
    assert "compiled with -O2 for the model" in found.found
    assert "the flags of this project's CMakeLists.txt" in found.found


def test_exchanged_weights_lead_elsewhere(vendor: Path) -> None:
    program, files = elf.load(vendor / "vendor.elf"), _files(vendor)
    one, two = (program.named(c.symbol)[0] for c in manifest.load(vendor).constants[:2])
    (run,) = program.named("tvmgen_default___tvm_main__")
    start = program.code_address(run)
    code = program.read(start, run.size) or b""
    words = [symbol.address.to_bytes(4, "little") for symbol in (one, two)]
    assert [code.count(word) for word in words] == [1, 1]
    changed = _patched(program, start + code.index(words[0]), words[0], words[1])
    (what,) = _differences(changed, files, vendor)
    assert what.endswith(f"does not lead to {one.name}")
    swapped = {one: replace(one, address=two.address), two: replace(two, address=one.address)}
    renamed = replace(program, symbols=tuple(swapped.get(s, s) for s in program.symbols))
    assert _differences(renamed, files, vendor)


def test_what_is_there_twice_or_not_at_all(vendor: Path) -> None:
    program, files = elf.load(vendor / "vendor.elf"), _files(vendor)
    (run,) = program.named("tvmgen_default_run")
    twice = replace(program, symbols=(*program.symbols, run))
    assert "there are 2 symbols tvmgen_default_run" in _differences(twice, files, vendor)
    rest = tuple(s for s in program.symbols if s != run)
    gone = replace(program, symbols=rest)
    assert _differences(gone, files, vendor)[0] == "there is no tvmgen_default_run"
    short = replace(program, symbols=(*rest, replace(run, size=run.size - 2)))
    assert "instead of" in _differences(short, files, vendor)[0]


def test_another_compiler_is_no_answer(vendor: Path) -> None:
    program = replace(elf.load(vendor / "vendor.elf"), compilers=("GCC: of a vendor",))
    found = reproduce(_subject(vendor, program))
    assert found.status == "n/a"
    assert "compilers that the ELF names: GCC: of a vendor; here it is GCC: (" in found.found


@NEEDS_RISCV_GCC
def test_relaxed_code_is_no_answer(tmp_path: Path) -> None:
    project = _built(tmp_path / "p", "qemu_riscv32")
    moved = shutil.copy(project / builder.BUILD / "firmware.elf", tmp_path / "app.elf")
    program = elf.load(Path(moved))
    found = reproduce(_subject(project, replace(program, sections=program.sections[1:])))
    assert found.status == "n/a"
    assert "can be compared for Arm only" in found.found
