"""Every core: its compilers, its build attributes, and a firmware of int8 and float32 for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import ToolError
from microgen.building import toolchain
from microgen.target import found, new_board, projects
from microgen.target.cpu import CPUS, Cpu, Feature
from scripts.measuring import documents
from tests.support.float_networks import sine
from tests.support.places import DIGITS, ROOT
from tests.support.tools import (
    NEEDS_ARM,
    NEEDS_ARM_GCC,
    NEEDS_LLVM,
    NEEDS_NINJA,
    NEEDS_RISCV,
    NEEDS_RISCV_GCC,
)

BOARDS = [cpu for cpu in CPUS.values() if cpu.architecture != "host"]
OLD = [cpu for cpu in BOARDS if not cpu.since]
# A machine of QEMU whose core runs the code, its memories, and what else QEMU has to be told.
MACHINES = {
    "cortex-m0plus": ("microbit", "256K@0", "16K@0x20000000"),
    "cortex-m4": ("mps2-an386", "4M@0", "4M@0x20000000"),
    "cortex-m7": ("mps2-an500", "4M@0", "4M@0x20000000"),
    "cortex-m7f-sp": ("mps2-an500", "4M@0", "4M@0x20000000"),
    "cortex-m23": ("mps2-an505", "4M@0x10000000", "4M@0x38000000"),
    "cortex-m33-nodsp-nofp": ("mps2-an505", "4M@0x10000000", "4M@0x38000000"),
    "cortex-m33-nofp": ("mps2-an505", "4M@0x10000000", "4M@0x38000000"),
    "cortex-m33-nodsp": ("mps2-an505", "4M@0x10000000", "4M@0x38000000"),
    "cortex-m55-nofp": ("mps3-an547", "512K@0", "512K@0x20000000"),
    "cortex-m55-nomve.fp": ("mps3-an547", "512K@0", "512K@0x20000000"),
    "rv32imc": ("virt", "4M@0x80000000", "4M@0x80400000"),
    "rv32imafc": ("virt", "4M@0x80000000", "4M@0x80400000"),
}


# Cores of boards for which other tests build networks of int8 and of floats, with the same checks.
_BUILT_ELSEWHERE = ("cortex-m0", "cortex-m4f", "cortex-m55")


def _cases(cpus: list[Cpu]) -> list[object]:
    needs = {"arm": NEEDS_ARM_GCC, "riscv": NEEDS_RISCV_GCC}
    return [
        pytest.param(
            *(cpu,),
            id=cpu.name,
            marks=[
                needs[cpu.architecture],
                *[pytest.mark.slow] * (cpu.name in _BUILT_ELSEWHERE),
            ],
        )
        for cpu in cpus
    ]


def _board(cpu: Cpu, folder: Path, flash: str, ram: str, more: str = "") -> Path:
    regions = (new_board.region(flash), new_board.region(ram))
    text = new_board.text(cpu.name, *regions, 4096, 0, "A core")
    path = folder / "boards" / "desk" / "board.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text + more)
    return path


def _firmware(cpu: Cpu, folder: Path, board: Path, compiler: str) -> Path:
    """A project with a convolutional network of int8 and a network of floats."""
    floats = folder / "floats.tflite"
    floats.write_bytes(sine()[0])
    models = [(DIGITS, "digits"), (floats, "floats")]
    microgen.generate_models(models, board, folder / "p", toolchain=compiler)
    return folder / "p"


def _kernels(project: Path) -> str:
    record = manifest.load(project)
    return " ".join(kernel for module in record.modules for kernel in module.kernels)


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize("cpu", _cases(OLD))
@pytest.mark.parametrize(
    "compiler", ["gcc", pytest.param("llvm", marks=[NEEDS_LLVM, pytest.mark.slow])]
)
def test_int8_and_float32_build_without_warnings_and_are_verified(
    cpu: Cpu, compiler: str, tmp_path: Path
) -> None:
    project = _firmware(cpu, tmp_path, _board(cpu, tmp_path, "2M@0", "512K@0x20000000"), compiler)
    microgen.build(project)  # warnings are errors
    report = microgen.verify(project)
    assert report.ok, report.failed
    assert report.check("build_attributes").status == "ok"
    linked = _kernels(project)
    assert ("_mve" in linked) == (Feature.MVE in cpu.features)
    if Feature.MVE not in cpu.features:  # with MVE a loop with DSP instructions may be the faster
        assert ("_dsp" in linked) == (Feature.DSP in cpu.features)


@pytest.mark.slow
@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_RISCV
@pytest.mark.parametrize("name", MACHINES)
def test_a_core_that_includes_it_runs_it(name: str, tmp_path: Path) -> None:
    machine, *regions = MACHINES[name]
    kind = "arm" if CPUS[name].architecture == "arm" else "riscv32"
    qemu = f"qemu: {{system: qemu-system-{kind}, machine: {machine}, args: [-bios, none]}}\n"
    path = _board(
        CPUS[name],
        tmp_path,
        *regions,
        qemu.replace(", args: [-bios, none]", "") if kind == "arm" else qemu,
    )
    project = _firmware(CPUS[name], tmp_path, path, "gcc")
    with projects.given(path):
        verdicts = microgen.run(project, compare=True).verdicts
    assert verdicts
    assert [v for v in verdicts if not v.ok and not v.is_skipped] == []


@NEEDS_ARM_GCC
def test_an_older_compiler_is_told_the_version_that_is_needed(tmp_path: Path) -> None:
    """Debian 12's GCC and clang do not know Cortex-M85; with a newer GCC the firmware is built."""
    cpu = CPUS["cortex-m85"]
    path = _board(cpu, tmp_path, "2M@0", "512K@0x20000000")
    project = _firmware(cpu, tmp_path, path, "gcc")
    known = toolchain.run(["arm-none-eabi-gcc", "--target-help"], seconds=20).output
    if "cortex-m85" in known:
        microgen.build(project)
        return
    with pytest.raises(
        ToolError, match=r"gcc does not know cortex-m85: expected version 13 or new"
    ):
        microgen.build(project)
    assert not (project / "build").exists()


@NEEDS_LLVM
def test_the_same_of_clang(tmp_path: Path) -> None:
    board = found.at(_board(CPUS["cortex-m85"], tmp_path, "2M@0", "512K@0x20000000"))
    if "cortex-m85" in toolchain.run(["clang", "--version"], seconds=20).output:
        return
    if toolchain.run(
        [
            "clang",
            "--target=arm-none-eabi",
            "-mcpu=cortex-m85",
            "-x",
            "c",
            "-c",
            "/dev/null",
            "-o",
            "/dev/null",
        ],
        seconds=20,
    ).ok:
        toolchain.check_clang(board)
        return
    with pytest.raises(ToolError, match="clang does not know cortex-m85: expected version 15 or"):
        toolchain.check_clang(board)


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_code_for_more_than_the_core_has_is_found(tmp_path: Path) -> None:
    """The firmware is built for a core with DSP and FPU; its manifest then says another one."""
    whole = _board(CPUS["cortex-m33"], tmp_path, "2M@0", "512K@0x20000000")
    project = _firmware(CPUS["cortex-m33"], tmp_path, whole, "gcc")
    microgen.build(project)
    record = project / "microgen.json"
    for name, tags in {
        "cortex-m33-nodsp": ("Tag_DSP_extension is Allowed, expected none",),
        "cortex-m33-nofp": ("Tag_FP_arch is FPv5/FP-D16 for ARMv8, expected none",),
        "cortex-m33-nodsp-nofp": ("Tag_DSP_extension", "Tag_FP_arch", "Tag_ABI_VFP_args"),
    }.items():
        data = json.loads(record.read_bytes())
        data["board"]["cpu"] = name
        record.write_text(json.dumps(data))
        check = microgen.verify(project).check("build_attributes")
        assert check.status == "failed"
        assert all(tag in check.found for tag in tags), check.found


def test_the_table_of_the_documentation_has_every_core() -> None:
    for path, text in documents.texts().items():
        assert path.read_text(encoding="utf-8") == text, "run scripts/measure.py --missing"
    text = (ROOT / "docs" / "reference" / "boards.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    for cpu in BOARDS:
        (row,) = [line for line in rows if line.startswith(f"| `{cpu.name}` |")]
        for flag in cpu.flags("gcc"):
            assert f"`{flag}`" in row or flag in row
        for feature in (Feature.DSP, Feature.MVE):
            assert (feature.value in row.split("|")[2]) == (feature in cpu.features)


def test_names_that_projects_have_keep_their_meaning() -> None:
    assert {name: CPUS[name].cflags[-2:] for name in ("cortex-m0", "cortex-m3", "cortex-m4f")} == {
        "cortex-m0": ("-mthumb", "-mfloat-abi=soft"),
        "cortex-m3": ("-mthumb", "-mfloat-abi=soft"),
        "cortex-m4f": ("-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    }
    assert CPUS["cortex-m7f"].cflags[2] == "-mfpu=fpv5-d16"
    assert CPUS["cortex-m33"].cflags[0] == "-mcpu=cortex-m33"
    assert CPUS["cortex-m55"].cflags[0] == "-mcpu=cortex-m55"
    assert CPUS["rv32imac"].cflags[:2] == ("-march=rv32imac", "-mabi=ilp32")
