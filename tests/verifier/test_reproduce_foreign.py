"""`verify --reproduce` of an ELF that another build system linked: functions are compared one by
one, wherever the linker put them, as the ELF says that they were compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

import microgen
from microgen.base import manifest
from microgen.base.manifest.schedule import ChoiceRecord
from microgen.target import projects
from microgen.target.board import Board
from microgen.verifier.again import foreign, recompiled, recorded_flags, same_functions
from microgen.verifier.again.regenerated import ImpossibleError
from microgen.verifier.again.reproduce import reproduce
from microgen.verifier.elf import elf
from microgen.verifier.elf.elf import Elf
from microgen.verifier.elf.relocatable import ObjectFile
from microgen.verifier.subject import Finding, Reproduction, Subject
from tests.support import forced
from tests.support.minimal_project import board_params
from tests.support.places import DIGITS, SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV_GCC
from tests.tamper import vendor

pytestmark = [NEEDS_NINJA]
both = pytest.mark.parametrize("board", board_params(*vendor.BOARDS))
OBJECTS = Path("build", "CMakeFiles", "firmware.dir", "model")
RV32IMC = ("-march=rv32imc", "-mabi=ilp32", "-misa-spec=2.2")


def _board(project: Path) -> Board:
    return projects.of_project(manifest.load(project).board)


def _subject(project: Path, program: Elf) -> Subject:
    record = manifest.load(project)
    return Subject(
        *(project, program, record, projects.of_project(record.board), dict, str, dict, list),
        scope="model",
        reproduction=Reproduction(),
    )


def _reproduced(project: Path, program: Elf | None = None) -> Finding:
    return reproduce(_subject(project, program or elf.load(project / "vendor.elf")))


def _differences(program: Elf, files: Sequence[ObjectFile], project: Path) -> list[str]:
    required = foreign.required(manifest.load(project))
    return list(same_functions.differences(program, list(files), required))


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


@pytest.mark.sampled(1)
@both
def test_the_models_functions_are_equal_wherever_they_are(board: str) -> None:
    found = _reproduced(vendor.project(board))
    assert found.status == "ok", found.found
    assert "functions and objects of the models are equal" in found.found
    assert "-Os -fno-strict-aliasing -ffreestanding" in found.found
    assert "other code is not compared" in found.found
    assert found.values["compared"] > 10


@pytest.mark.slow
@both
def test_so_are_those_of_a_network_with_more_kernels(board: str, tmp_path: Path) -> None:
    project = vendor.generated(board, tmp_path / "p", DIGITS)
    vendor.linked(project, "-g", *vendor.FLAGS)
    found = _reproduced(project)
    assert found.status == "ok", found.found
    assert found.values["compared"] > 20


@pytest.mark.sampled(1)
@both
def test_a_patched_kernel_is_named(board: str) -> None:
    project = vendor.project(board)
    program = elf.load(project / "vendor.elf")
    name = manifest.load(project).calls[0].function
    (symbol,) = program.named(name)
    changed = _patched(program, program.code_address(symbol) + 2, None, b"\x00\xbf")
    found = _reproduced(project, changed)
    assert found.status == "failed"
    assert found.found.startswith(f"{name} at 0x8")
    assert "compiled with GCC's types of integers and -m" in found.found


RECORDED = ("-O3", "-frecord-gcc-switches", "-ffunction-sections", "-fdata-sections")
ZEPHYRS_INTEGERS = ("-O2", "-g", "-imacros", "zephyr.h", "-fno-common")


def _with_plain_softmax(choice: ChoiceRecord) -> ChoiceRecord:
    is_softmax = choice.implementation.startswith("mg_softmax_s8")
    return replace(choice, implementation="mg_softmax_s8") if is_softmax else choice


# In every run of the tests, each is on one of the boards.
@pytest.mark.parametrize(
    ("board", "flags"),
    [
        pytest.param(
            *(*board.values, flags),
            marks=[*board.marks, *[pytest.mark.slow] * (i == k)],
            id=f"{board.values[0]}-{name}",
        )
        for i, board in enumerate(board_params(*vendor.BOARDS))
        for k, (name, flags) in enumerate(
            {"recorded": RECORDED, "zephyrs_integers": ZEPHYRS_INTEGERS}.items()
        )
    ],
)
def test_flags_of_other_build_systems(board: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    # GCC's code of this kernel depends on which of its types int32_t is.
    schedule = forced.changed(SMALL, board, tmp_path / "s.json", _with_plain_softmax)
    project = vendor.generated(board, tmp_path / "p", schedule=schedule)
    (project / "zephyr.h").write_text(
        "#undef __INT32_TYPE__\n#define __INT32_TYPE__ int\n"
        "#undef __UINT32_TYPE__\n#define __UINT32_TYPE__ unsigned int\n"
    )
    vendor.linked(project, *flags)
    found = _reproduced(project)
    assert found.status == "ok", found.found
    assert ("Zephyr's types of integers" in found.found) == ("zephyr.h" in flags)


@NEEDS_ARM_GCC
def test_out_of_line_kernels_are_the_models(tmp_path: Path) -> None:
    shared = forced.out_of_line(SMALL, "mps2_an386", tmp_path / "s.json")
    project = vendor.generated("mps2_an386", tmp_path / "p", schedule=shared)
    program = elf.load(vendor.linked(project, "-g", "-O1"))
    shown = [s for s in program.functions() if s.binding == "global"]
    kernels = {s.name: s for s in shown if s.name.startswith("mg_")}
    name = max(kernels, key=lambda own: kernels[own].size)
    found = _reproduced(project)
    assert found.status == "ok", found.found
    middle = program.code_address(kernels[name]) + kernels[name].size // 2
    found = _reproduced(project, _patched(program, middle, None, b"\x00\xbf"))
    assert found.status == "failed"
    assert found.found.startswith(f"{name} at ")


# Operators that destroy a register of their callers: each is equal to itself.
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "flag"),
    [
        pytest.param("mps2_an386", "-fcall-used-r5", marks=NEEDS_ARM_GCC),
        pytest.param("qemu_riscv32", "-fcall-used-s1", marks=NEEDS_RISCV_GCC),
    ],
)
def test_a_flag_that_changes_the_calling_convention_is_named(
    board: str, flag: str, tmp_path: Path
) -> None:
    project = vendor.generated(board, tmp_path / "p")
    vendor.linked(project, "-g", *vendor.FLAGS, flag)
    found = _reproduced(project)
    assert found.status == "failed"
    assert found.found.startswith(f"the model is compiled with {flag}, which is not known to keep")


@pytest.mark.sampled(1)
@both
def test_flags_of_another_way_to_pass_floats_are_named(board: str) -> None:
    project = vendor.project(board)
    program = elf.load(project / "vendor.elf")
    other = {"Tag_ABI_VFP_args": "AAPCS", "float ABI": "single"}
    found = _reproduced(project, replace(program, attributes={**program.attributes, **other}))
    assert found.status == "failed"
    asked = "-mfloat-abi=hard" if board == "mps2_an386" else "-mabi=ilp32"
    assert f"default_lib0.c is compiled with {asked}, and the ELF" in found.found


RELAXED = [
    ("-Os",),
    ("-O3", *RV32IMC),
    ("-O2", "-Wl,--no-relax"),
    ("-O2", "-mno-relax"),
    ("-O2", "-mcmodel=medany"),
    ("-Os", "-msave-restore"),
    ("-O1", "-fsection-anchors", "-fno-inline"),
    ("-O3", "-falign-functions=32", "-falign-loops=16", "-ffunction-sections"),
]


@pytest.mark.sampled(1)
@NEEDS_RISCV_GCC
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(flags, id=" ".join(flags), marks=() if i in (1, 4) else pytest.mark.slow)
        for i, flags in enumerate(RELAXED)
    ],
)
def test_code_that_the_linker_shortened(flags: tuple[str, ...], tmp_path: Path) -> None:
    project = vendor.generated("qemu_riscv32", tmp_path / "p")
    vendor.linked(project, "-g", "-ffp-contract=off", *flags)
    found = _reproduced(project)
    assert found.status == "ok", found.found


@NEEDS_RISCV_GCC
@pytest.mark.parametrize("ram", [0x10, pytest.param(0x1000, marks=pytest.mark.slow)])
def test_addresses_near_zero(ram: int, tmp_path: Path) -> None:
    project = vendor.generated("qemu_riscv32", tmp_path / "p")
    vendor.linked(project, "-g", "-O2", ram=ram)
    found = _reproduced(project)
    assert found.status == "ok", found.found


@NEEDS_RISCV_GCC
def test_addresses_in_a_global_offset_table_are_no_answer(tmp_path: Path) -> None:
    project = vendor.generated("qemu_riscv32", tmp_path / "p")
    vendor.linked(project, "-g", "-O2", "-fPIC")
    found = _reproduced(project)
    assert (found.status, found.found) == ("n/a", "relocation 20 of .text is not understood")


@pytest.mark.sampled(1)
@both
def test_without_flags_equal_functions_are_equal_and_others_prove_nothing(
    board: str, tmp_path: Path
) -> None:
    project = vendor.generated(board, tmp_path / "p")
    vendor.linked(project, "-std=c99", "-O2", "-ffunction-sections", "-fdata-sections",
                  "-ffp-contract=off")  # fmt: skip
    found = _reproduced(project)
    assert found.status == "ok", found.found
    assert "the flags of this project's CMakeLists.txt" in found.found
    vendor.linked(project, "-O1")
    found = _reproduced(project)
    assert found.status == "n/a"
    assert "does not say with which flags they were compiled" in found.found
    assert found.found.endswith("compile the model with -g or -frecord-gcc-switches")


@both
def test_another_version_of_the_compiler_is_no_answer(board: str, tmp_path: Path) -> None:
    project = vendor.project(board)
    data = (project / "vendor.elf").read_bytes()
    changed = re.sub(rb"(GNU C\d+ \d+\.)\d", rb"\g<1>9", data)
    assert changed != data
    (tmp_path / "other.elf").write_bytes(changed)
    found = _reproduced(project, elf.load(tmp_path / "other.elf"))
    assert found.status == "n/a"
    here = recompiled._version(f"{_board(project).toolchain}gcc", tmp_path)
    assert re.fullmatch(rf"GCC \d+\.9.* compiled the model, and .*gcc here is {here}", found.found)


@pytest.mark.sampled(1)
@both
def test_another_compiler_is_no_answer(board: str, tmp_path: Path) -> None:
    project = vendor.generated(board, tmp_path / "p")
    vendor.linked(project, "-O2")
    program = replace(elf.load(project / "vendor.elf"), compilers=("clang of a vendor",))
    found = _reproduced(project, program)
    assert found.status == "n/a"
    assert "compilers that the ELF names: clang of a vendor; here it is GCC: (" in found.found


@both
def test_damaged_debug_information_is_no_answer(board: str, tmp_path: Path) -> None:
    project = vendor.project(board)
    program = elf.load(project / "vendor.elf")
    data = bytearray((project / "vendor.elf").read_bytes())
    name = recorded_flags.units(program.path)[0].producer.encode()
    at = data.index(name)
    data[at : at + len(name)] = b"\xff" * len(name)
    (tmp_path / "other.elf").write_bytes(data)
    found = _reproduced(project, elf.load(tmp_path / "other.elf"))
    assert found.status == "n/a"


def test_other_machines_are_no_answer() -> None:
    program = Elf(Path("e"), 0, "EM_X86_64", 0, (), (), (), {}, (), (), ())
    subject = Subject(
        *(Path("p"), program, None, None, dict, str, dict, list),  # type: ignore[arg-type]
        scope="model",
        reproduction=Reproduction(),
    )
    with pytest.raises(ImpossibleError, match="Arm and RISC-V only"):
        foreign.compared(subject, Reproduction(), Path("p"))


def _files(project: Path, machine: str) -> list[ObjectFile]:
    """The object files with which the vendor's program was linked, compiled again."""
    of = recompiled.sources(project)
    flags = recompiled.recorded(project / "vendor.elf", of)
    made = recompiled.compiled(of, flags, _board(project), ())
    return [same_functions.read(path, machine) for path in made]


@pytest.fixture(scope="module")
def arm() -> tuple[Path, Elf, list[ObjectFile]]:
    """A project for Arm, the vendor's program, and the object files to compare it with."""
    project = vendor.project("mps2_an386")
    return project, elf.load(project / "vendor.elf"), _files(project, "EM_ARM")


@NEEDS_LLVM
@NEEDS_ARM_GCC
def test_halves_of_addresses_that_clang_loads(tmp_path: Path) -> None:
    project = vendor.generated("mps3_an547", tmp_path / "p", DIGITS, toolchain="llvm")
    microgen.build(project)
    objects = sorted((project / OBJECTS).rglob("*.obj"))
    program = elf.load(vendor.with_objects(project, *map(str, objects)))
    files = [same_functions.read(path, "EM_ARM") for path in objects]
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


@NEEDS_ARM_GCC
def test_exchanged_weights_lead_elsewhere(arm: tuple[Path, Elf, list[ObjectFile]]) -> None:
    project, program, files = arm
    one, two = (program.named(c.symbol)[0] for c in manifest.load(project).constants[:2])
    (run,) = program.named("tvmgen_default___tvm_main__")
    start = program.code_address(run)
    code = program.read(start, run.size) or b""
    words = [symbol.address.to_bytes(4, "little") for symbol in (one, two)]
    assert [code.count(word) for word in words] == [1, 1]
    changed = _patched(program, start + code.index(words[0]), words[0], words[1])
    (what,) = _differences(changed, files, project)
    assert what.endswith(f"does not lead to {one.name}")
    swapped = {one: replace(one, address=two.address), two: replace(two, address=one.address)}
    renamed = replace(program, symbols=tuple(swapped.get(s, s) for s in program.symbols))
    assert _differences(renamed, files, project)


@NEEDS_ARM_GCC
def test_code_outside_of_sections_is_not_copied(
    arm: tuple[Path, Elf, list[ObjectFile]],
) -> None:
    """A debugger loads the segment, and ``objcopy`` leaves out what no loaded section has."""
    project, program, files = arm
    section = program.section_at(program.code_address(program.named("tvmgen_default_run")[0]))
    assert section
    for changed in ((), (replace(section, has_bytes=False),), (replace(section, size=2),)):
        sections = tuple(s for s in program.sections if s != section)
        hidden = replace(program, sections=(*sections, *changed))
        assert any("objcopy" in what for what in _differences(hidden, files, project)), changed


@NEEDS_ARM_GCC
def test_weights_are_not_read_one_byte_before_them(
    arm: tuple[Path, Elf, list[ObjectFile]],
) -> None:
    """Of code, an address with and without Thumb's bit leads to the same; of data it does not."""
    project, program, files = arm
    weights = program.named(manifest.load(project).constants[0].symbol)[0]
    moved = replace(weights, address=weights.address + 1)
    symbols = tuple(moved if s == weights else s for s in program.symbols)
    found = _differences(replace(program, symbols=symbols), files, project)
    assert any(f"does not lead to {weights.name}" in what for what in found)


@NEEDS_ARM_GCC
def test_what_is_there_twice_or_not_at_all(arm: tuple[Path, Elf, list[ObjectFile]]) -> None:
    project, program, files = arm
    (run,) = program.named("tvmgen_default_run")
    twice = replace(program, symbols=(*program.symbols, run))
    assert "there are 2 symbols tvmgen_default_run" in _differences(twice, files, project)
    rest = tuple(s for s in program.symbols if s != run)
    gone = replace(program, symbols=rest)
    assert _differences(gone, files, project)[0] == "there is no tvmgen_default_run"
    short = replace(program, symbols=(*rest, replace(run, size=run.size - 2)))
    assert "instead of" in _differences(short, files, project)[0]


@NEEDS_ARM_GCC
def test_sources_are_found_by_the_end_of_their_path(
    arm: tuple[Path, Elf, list[ObjectFile]],
) -> None:
    project, program, _ = arm
    of = recompiled.sources(project)
    assert {str(source) for source in of.in_c} >= {"model/codegen/host/src/default_lib1.c"}
    known = recompiled.recorded(program.path, of)
    assert list(known) == of.in_c
    moved = replace(of, files=tuple(PurePosixPath("elsewhere", s.name) for s in of.files))
    assert [*recompiled.recorded(program.path, moved).values()] == [*known.values()]
    more = replace(of, files=(*of.files, PurePosixPath("model", "other.c")))
    with pytest.raises(ImpossibleError, match=r"names no flags for model/other\.c"):
        recompiled.recorded(program.path, more)
