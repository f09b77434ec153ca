"""``--toolchain llvm`` and ``--emit llvm-ir``: built with clang and lld, verified, run, refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen import relay
from microgen.base import manifest
from microgen.base.errors import CapacityError, MicrogenError, ToolError
from microgen.building import toolchain
from microgen.building.builder import build
from microgen.interface.cli import main
from microgen.running.comparing import stimuli
from microgen.target import board as boards
from microgen.target.cpu import CPUS
from tests.support import forced
from tests.support.minimal_project import without_machine
from tests.support.places import DIGITS, SMALL
from tests.support.tools import (
    NEEDS_ARM,
    NEEDS_CLANG,
    NEEDS_CLANG_SANITIZERS,
    NEEDS_LLVM,
    NEEDS_NINJA,
    NEEDS_RISCV,
)

IR = "model/codegen/host/llvm"

needs_build = [NEEDS_NINJA, NEEDS_ARM, NEEDS_LLVM]
# Every other core has one of these cores' instruction sets.
QUICK = ("microbit", "mps2_an386", "mps3_an547", "native", "qemu_riscv32")


def llvm(folder: Path, board: str, model: Path = SMALL, **options: str) -> Path:
    microgen.generate(model, board, folder, toolchain="llvm", **options)
    return folder


def assert_equal(ran: microgen.RunResult) -> None:
    """Checks that outputs and layers equal those of numpy, and of LiteRT if it is installed."""
    compared = [verdict for verdict in ran.verdicts if not verdict.is_skipped]
    assert compared
    assert all(verdict.ok for verdict in compared)
    assert all(verdict.samples == verdict.equal_samples > 0 for verdict in compared)


def board_marks(board: str) -> list[pytest.MarkDecorator]:
    is_riscv = boards.load(board).cpu.architecture == "riscv"
    missing = without_machine(boards.load(board))
    skipped = [pytest.mark.skip(reason=missing)] if missing else []
    marks = [*needs_build, *([NEEDS_RISCV] if is_riscv else []), *skipped]
    return marks if board in QUICK else [*marks, pytest.mark.slow]


RUN_HERE = [name for name in boards.available() if boards.load(name).qemu or name == "native"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "board", [pytest.param(name, marks=board_marks(name)) for name in RUN_HERE]
)
def test_every_boards_firmware_is_verified_and_equals_the_reference(
    board: str, tmp_path: Path
) -> None:
    project = llvm(tmp_path / "p", board, DIGITS)
    profile = board != "native"
    ran = microgen.run(project, compare=True, profile=profile)  # verifies, too
    assert ran.checks.check("stack").status == ("ok" if profile else "n/a")
    assert_equal(ran)
    assert bool(ran.instructions) == profile
    said = (project / "build" / "firmware.elf").read_bytes()
    assert b"clang version" in said
    assert b"LLD" in said


@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_LLVM
@pytest.mark.parametrize(
    ("model", "board"),
    [
        ("ad01_int8", "mps3_an547"),
        ("kws_ref_model_float32", "mps2_an385"),
    ],
)
@pytest.mark.slow
def test_a_network_of_mlperf_tiny(
    model: str, board: str, mlperf_models: Path, tmp_path: Path
) -> None:
    project = llvm(tmp_path / "p", board, mlperf_models / f"{model}.tflite")
    samples = stimuli.samples(manifest.load(project).inputs, random=1)
    ran = microgen.run(project, {name: s[-2:] for name, s in samples.items()}, compare=True)
    assert_equal(ran)


@NEEDS_NINJA
@NEEDS_CLANG_SANITIZERS
def test_the_host_takes_the_sanitizers_of_clang(tmp_path: Path) -> None:
    ran = microgen.run(llvm(tmp_path / "p", "native"), compare=True, sanitize=True)
    assert_equal(ran)


@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_LLVM
@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize("board", ["mps2_an386", "native"])
@pytest.mark.slow
def test_firmware_does_not_depend_on_where_it_is_built(board: str, tmp_path: Path) -> None:
    first = build(llvm(tmp_path / "p", board)).elf
    second = build(llvm(tmp_path / "quite" / "another place", board)).elf
    assert first.read_bytes() == second.read_bytes()
    assert str(tmp_path).encode() not in first.read_bytes()


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_LLVM
@pytest.mark.parametrize(
    ("code", "memory"),
    [
        ('__attribute__((section(".rodata.tvm"))) const char big[300000] = {1};', "flash"),
        ('__attribute__((section(".bss.noinit.tvm"))) char big[20000];', "ram"),
    ],
)
def test_what_lld_cannot_place_is_told_by_memory(code: str, memory: str, tmp_path: Path) -> None:
    project = llvm(tmp_path / "p", "microbit")
    source = project / "model" / "codegen" / "host" / "src" / "default_params.c"
    source.write_text(f"{source.read_text()}\n{code}\n")
    with pytest.raises(CapacityError, match=f"{memory} of microbit needs .* and has .*big "):
        build(project)


@NEEDS_CLANG
def test_a_model_without_operators_of_ours_has_no_ir() -> None:
    x = relay.var("x", shape=(4,))
    module = relay.IRModule.from_expr(relay.Function([x], relay.add(x, x)))
    made = microgen.compile_model(module, "native", codegen=("ccompiler",), emit="llvm-ir")
    assert not [name for name in made.files.files if name.endswith(".ll")]


@pytest.mark.sampled(1)
@NEEDS_CLANG
@pytest.mark.parametrize(
    "board",
    [pytest.param("mps2_an386", marks=pytest.mark.slow), "mps3_an547", "qemu_riscv32", "native"],
)
def test_each_function_has_its_ir(board: str, tmp_path: Path) -> None:
    compiled = microgen.generate(SMALL, board, tmp_path / "p", emit="llvm-ir")
    names = [function.name for function in compiled.program.functions]
    files = {f for f in compiled.files.files if f.endswith(".ll")}
    assert files == {f"{IR}/{name}.ll" for name in names}
    assert files <= manifest.load(tmp_path / "p").files.keys()
    for name in names:
        text = compiled.files.files[f"{IR}/{name}.ll"].decode()
        assert re.findall(r"^define .*@(tvmgen_\w+)\(", text, re.MULTILINE) == [name]
        assert f'source_filename = "{name}.c"' in text
        assert not re.search(r"clang version|/tmp|/home|\.\./", text)
        triple = boards.load(board).cpu.triple
        assert f'target triple = "{triple.partition("-")[0]}' in text
        target = [f"--target={triple}"] if triple else []
        made = ["clang", *target, "-c", tmp_path / "p" / IR / f"{name}.ll", "-o", tmp_path / "o"]
        finished = toolchain.run(made, seconds=60)
        assert finished.ok, finished.output


@NEEDS_CLANG
def test_ir_is_the_same_for_both_toolchains_and_every_time() -> None:
    made = [
        microgen.compile_model(SMALL, "mps2_an386", emit="llvm-ir", toolchain=kind).files.files
        for kind in ("gcc", "gcc", "llvm")
    ]
    texts = [{n: data for n, data in files.items() if n.startswith(IR)} for files in made]
    assert texts[0] == texts[1] == texts[2]
    assert made[0] == made[1]


@NEEDS_CLANG
def test_operators_that_share_a_kernel_declare_it(tmp_path: Path) -> None:
    shared = forced.out_of_line(SMALL, "mps2_an386", tmp_path / "s.json")
    compiled = microgen.compile_model(SMALL, "mps2_an386", emit="llvm-ir", schedule=shared)
    for call in compiled.manifest.calls:
        text = compiled.files.files[f"{IR}/{call.function}.ll"].decode()
        declared = set(re.findall(r"^declare .*@(mg_\w+)\(", text, re.MULTILINE))
        assert {step.kernel for step in call.steps} <= declared


@NEEDS_CLANG
def test_emit_changes_no_other_file() -> None:
    plain, more = (
        dict(microgen.compile_model(SMALL, "mps2_an386", emit=emit).files.files)
        for emit in ("", "llvm-ir")
    )
    assert {n for n in more if n not in plain} == {n for n in more if n.startswith(IR)}
    assert {n for n in plain if plain[n] != more[n]} == {
        "microgen.json",
        "model/codegen/host/src/default_note.h",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"toolchain": "icc"}, "--toolchain: 'icc' is not one of gcc, llvm"),
        ({"emit": "asm"}, "--emit: 'asm' is not one of llvm-ir"),
    ],
)
def test_what_does_not_exist_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(MicrogenError, match=re.escape(message)):
        microgen.compile_model(SMALL, "mps2_an386", **options)


@pytest.mark.parametrize(
    ("missing", "package"),
    [("clang", "clang"), ("ld.lld", "lld"), ("arm-none-eabi-gcc", "gcc-arm")],
)
def test_a_missing_program_is_one_line_when_building(
    missing: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = llvm(tmp_path / "p", "mps2_an386")
    for name in {"cmake", "ninja", "clang", "ld.lld", "arm-none-eabi-gcc"} - {missing}:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(toolchain, "search_path", lambda: str(tmp_path))
    with pytest.raises(ToolError, match=f"{missing} is not installed; apt-get install {package}"):
        build(project)


def test_ir_without_clang_is_one_line_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(toolchain, "search_path", lambda: str(tmp_path))
    command = ["generate", str(SMALL), "-b", "mps2_an386", "-o", str(tmp_path / "p")]
    assert main([*command, "--emit", "llvm-ir"]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("microgen:")]
    assert said == ["microgen: clang is not installed; apt-get install clang"]
    assert not (tmp_path / "p").exists()


def test_every_core_but_the_hosts_has_a_triple() -> None:
    assert {name for name, cpu in CPUS.items() if not cpu.triple} == {"host"}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("board", [name for name in boards.available() if name != "native"])
def test_the_triple_and_the_core_stand_in_the_project(board: str) -> None:
    files = microgen.compile_model(SMALL, board, toolchain="llvm").files.files
    text, cpu = files["CMakeLists.txt"].decode(), boards.load(board).cpu
    assert f"set(CMAKE_C_COMPILER_TARGET {cpu.triple})" in text
    assert "-mfpu=auto" not in text.partition("execute_process")[0]
    assert "crt/libc/stdint.h" not in files
