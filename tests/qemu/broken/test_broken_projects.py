"""Breaks what the pipeline itself generated, builds it, and compares which checks fail.

Only the checks of the broken promise may fail. Digests are switched off, so that the checks must
find the error themselves.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.building import builder
from microgen.verifier.elf import elf as elf_reader
from tests.qemu.broken import broken
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]
DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits_int8.tflite"
BOARDS = ("microbit", "mps2_an386", "mps3_an547")
USUAL_LEVELS = {("microbit", "-Os"), ("mps3_an547", "-O3")}
SOURCES = "model/codegen/host/src"
MEMORY = f"{SOURCES}/default_memory.S"


@pytest.fixture(scope="module", params=BOARDS)
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp(request.param) / "sound"
    microgen.generate(DIGITS, request.param, project)
    builder.build(project)
    assert microgen.verify(project).ok
    return project


def _edit(project: Path, name: str, pattern: str, replacement: str) -> None:
    path = project / name
    text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1, pattern
    path.write_text(text)


def _move_a_sid(project: Path) -> None:
    """Moves the first one, which the next one meets, past the end of the arena."""
    end = manifest.load(project).plan.peak
    _edit(project, MEMORY, r"(\.set sid_\d+, \S+ \+) \d+", rf"\1 {end - 16}")


def _grow_a_sid(project: Path) -> None:
    """Lets one that ends where another begins, and lives at the same time, have a byte more."""
    buffers = manifest.load(project).plan.buffers
    name = next(
        one.name
        for one in buffers
        for other in buffers
        if one.offset + one.nbytes == other.offset
        if one.first <= other.last and other.first <= one.last
    )
    _edit(project, MEMORY, rf"(\.size {name}, \d+)", r"\1 + 1")


def _shrink_the_arena(project: Path) -> None:
    end = manifest.load(project).plan.peak
    _edit(project, MEMORY, rf"(\.size tvmgen_\w+,) {end}", rf"\1 {end - 1}")


def _misname_the_entry(project: Path) -> None:
    for name in (f"{SOURCES}/default_lib0.c", "src/main.c"):
        _edit(project, name, r"\btvmgen_default_run\(", "tvmgen_default_walk(")
    header = "model/codegen/host/include/tvmgen_default.h"
    _edit(project, header, r"\btvmgen_default_run\(", "tvmgen_default_walk(")


def _flip_a_weight(project: Path) -> None:
    _edit(project, f"{SOURCES}/default_params.c", r"^    (-?\d+), ", r"    \1 ^ 1, ")


def _change_a_requantization_table(project: Path) -> None:
    _edit(
        project,
        f"{SOURCES}/default_params.c",
        r"(_conv1_Relu_multiplier\[\d+\] = \{\n\s+)(\d+)\d",
        r"\g<1>\g<2>1",
    )


def _put_weights_in_ram(project: Path) -> None:
    in_data = r'__attribute__((section(".data.weight"))) \1'
    _edit(
        project,
        f"{SOURCES}/default_params.c",
        r"^TVM_CONSTANT const (\w+ \w+_conv1_Relu_weight\[)",
        in_data,
    )
    _edit(
        project,
        f"{SOURCES}/default_params.h",
        r"^extern const (\w+ \w+_conv1_Relu_weight\[)",
        r"extern \1",
    )


def _into_main(project: Path, functions: str, statement: str) -> None:
    """Adds functions to main.c, and a statement to ``infer`` before it returns."""
    _edit(project, "src/main.c", r"^/\* Runs one inference", f"{functions}\n/* Runs one inference")
    ending = f"    {statement}\n    return status;\n}}"
    _edit(project, "src/main.c", r"    return status;\n\}", ending.replace("\\", r"\\"))


def _add_malloc(project: Path) -> None:
    own = """
__attribute__((noinline)) void *malloc(unsigned n);
void *malloc(unsigned n)
{
    return &image_buffer[n];
}
"""
    _into_main(project, own, '__asm__ volatile("" : : "r"(malloc(1U)) : "memory");')


def _recurse(project: Path) -> None:
    deeper = """
__attribute__((noinline)) static int32_t deeper(int32_t n)
{
    const int32_t below = n > 0 ? deeper(n - 1) : 7;
    __asm__ volatile("" : : : "memory"); /* not a tail call */
    return below + n;
}
"""
    _into_main(project, deeper, "status += deeper(status);")


def _exceed_the_flash(project: Path) -> None:
    board = manifest.load(project).board
    size = next(m["length"] for m in board["memories"] if m["name"] == board["flash"])
    script = f"boards/{board['name']}.ld"
    _edit(project, script, r"(flash \(\w+\) : ORIGIN = \w+, LENGTH =) \w+", r"\1 0x1000000")
    big = f"static const uint8_t big[{size}] = {{1}};"
    _into_main(project, big, "status += big[status];")


BREAKAGES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "a sid moved": (_move_a_sid, {"sids", "sid_overlap", "layout"}),
    "a sid grown": (_grow_a_sid, {"sids", "sid_overlap"}),
    "the arena shrunk": (_shrink_the_arena, {"arena"}),
    "the entry misnamed": (_misname_the_entry, {"run_symbol", "runner"}),
    "a weight flipped": (_flip_a_weight, {"constants_bytes"}),
    "a table changed": (_change_a_requantization_table, {"constants_bytes"}),
    "weights in RAM": (_put_weights_in_ram, {"constants_section"}),
    "malloc added": (_add_malloc, {"heap"}),
    "recursion added": (_recurse, {"stack"}),
    "the flash exceeded": (_exceed_the_flash, {"sections_fit"}),
}


# In every run of the tests, the second board has all of them, and each other board some.
CASES = [
    pytest.param(board, what, marks=[pytest.mark.slow] * (k != 1 and i % 4 != k))
    for k, board in enumerate(BOARDS)
    for i, what in enumerate(BREAKAGES)
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("sound", "what"), CASES, indirect=["sound"])
def test_a_broken_promise_fails_its_own_check_only(what: str, sound: Path) -> None:
    breakage, wanted = BREAKAGES[what]
    broken.check(breakage, wanted, sound)


@pytest.mark.sampled(1)
def test_a_weight_flipped_in_the_elf_itself_is_found(sound: Path, tmp_path: Path) -> None:
    built = sound / "build" / "firmware.elf"
    symbol = next(
        s for s in elf_reader.load(built).symbols if s.name == "tvmgen_default_conv1_Relu_weight"
    )
    before = elf_reader.load(built).read(symbol.address, symbol.size)
    data = built.read_bytes()
    assert data.count(before) == 1
    broken = tmp_path / "broken.elf"
    broken.write_bytes(data.replace(before, bytes([before[0] ^ 1]) + before[1:]))
    report = microgen.verify(sound, elf=broken)
    assert {check.name for check in report.failed} == {"constants_bytes"}


def test_a_stripped_entry_symbol_is_missed(sound: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.elf"
    command = ["arm-none-eabi-objcopy", "--strip-symbol=tvmgen_default_run"]
    subprocess.run([*command, str(sound / "build" / "firmware.elf"), str(broken)], check=True)
    report = microgen.verify(sound, elf=broken)
    assert {check.name for check in report.failed} == {"run_symbol", "runner", "layout"}


# In every run of the tests, the two levels and the simplest and the largest instruction set.
LEVELS = [
    pytest.param(board, level, marks=[pytest.mark.slow] * ((board, level) not in USUAL_LEVELS))
    for board in BOARDS
    for level in ("-Os", "-O1", "-O3")
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("sound", "level"), LEVELS, indirect=["sound"])
def test_a_build_with_other_optimization_still_passes(
    level: str, sound: Path, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    configure = ["cmake", "-S", project, "-B", project / "build", "-G", "Ninja"]
    flags = [f"-DMICROGEN_MODEL_OPTIMIZATION={level}", f"-DMICROGEN_RUNTIME_OPTIMIZATION={level}"]
    subprocess.run([*map(str, configure), *flags], check=True, stdout=subprocess.DEVNULL)
    build = ["ninja", "-C", str(project / "build")]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    report = microgen.verify(project)
    assert report.ok, report.to_text()
