"""Firmware that runs modules out of its blob passes verify.

The stack bound includes every runtime to which the tables of loaders lead.
"""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.verifier import stack_bound
from tests.support.external_networks import TOY, convolution
from tests.support.places import BYOC_GUIDE
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = NEEDS_NINJA
NEW = ("module_blob", "module_loaders", "external_functions")
# Each board and each toolchain in every run of the tests; all pairs of them in the slow ones.
BUILDS = [
    pytest.param("microbit", "llvm", marks=[NEEDS_ARM, NEEDS_LLVM, pytest.mark.slow]),
    pytest.param("mps2_an386", "gcc", marks=NEEDS_ARM),
    pytest.param("mps3_an547", "gcc", marks=[NEEDS_ARM, pytest.mark.slow]),
    pytest.param("qemu_riscv32", "gcc", marks=NEEDS_RISCV),
    pytest.param("microbit", "gcc", marks=[NEEDS_ARM, pytest.mark.slow]),
    pytest.param("mps2_an386", "llvm", marks=[NEEDS_ARM, NEEDS_LLVM, pytest.mark.slow]),
    pytest.param("mps3_an547", "llvm", marks=[NEEDS_ARM, NEEDS_LLVM, pytest.mark.slow]),
    pytest.param("qemu_riscv32", "llvm", marks=[NEEDS_RISCV, NEEDS_LLVM, pytest.mark.slow]),
]
# A small network shows both toolchains in every run.
SMALL_BUILDS = [pytest.param("microbit", "llvm", marks=[NEEDS_ARM, NEEDS_LLVM]), *BUILDS[1:]]
TOOLCHAINS = ["gcc", pytest.param("llvm", marks=[NEEDS_LLVM, pytest.mark.slow])]


def _generated(folder: Path, board: str, **options: Any) -> Path:
    """A built project with two runtimes, one of which microgen does not know, and with kernels."""
    project = folder / "p"
    microgen.generate(
        convolution(), board, project, codegen=("toy", "dnnl"), codegen_path=TOY, **options
    )
    microgen.build(project)
    return project


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "toolchain"), BUILDS)
def test_two_runtimes_are_verified_and_bounded(board: str, toolchain: str, tmp_path: Path) -> None:
    project = _generated(tmp_path, board, toolchain=toolchain)
    found = microgen.run(project, compare=True)
    assert found.checks.ok, found.checks.to_text()
    assert {found.checks.check(name).status for name in (*NEW, "stack")} == {"ok"}
    bound = stack_bound(project)
    assert 0 < found.stack <= bound.nbytes
    assert {"mg_modules_load", "mg_loader_call_load", "mg_dnnl_json_load"} <= {
        step.split()[0] for step in bound.path
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "toolchain"), SMALL_BUILDS)
def test_the_guides_text_is_verified_and_bounded(
    board: str, toolchain: str, tmp_path: Path
) -> None:
    codegens = ("examplejsoncompiler", "ccompiler")
    microgen.generate(BYOC_GUIDE, board, tmp_path / "p", codegen=codegens, toolchain=toolchain)
    microgen.build(tmp_path / "p")
    found = microgen.run(tmp_path / "p", compare=True)
    assert found.checks.ok, found.checks.to_text()
    assert {found.checks.check(name).status for name in (*NEW, "stack")} == {"ok"}
    assert 0 < found.stack <= stack_bound(tmp_path / "p").nbytes


INTERFACES: dict[str, dict[str, Any]] = {
    "packed": {"interface": "packed"},
    "packed entry": {"interface": "packed", "unpacked_api": True},
    "graph": {"executor": "graph"},
    "flash": {"optimize": "flash", "constant_alignment": 16},
}
# Of these, one is in every run of the tests.
USUAL = {
    *(("native", "packed entry"), ("native", "flash")),
    *(("mps2_an386", "packed"), ("mps2_an386", "graph")),
}


@pytest.mark.sampled(1)
@NEEDS_ARM
@pytest.mark.parametrize(
    ("board", "name"),
    [
        pytest.param(*case, marks=() if case in USUAL else pytest.mark.slow)
        for case in itertools.product(("native", "mps2_an386"), INTERFACES)
    ],
)
def test_each_interface_is_verified(board: str, name: str, tmp_path: Path) -> None:
    options = INTERFACES[name]
    found = microgen.run(_generated(tmp_path, board, **options), compare=True)
    assert found.checks.ok, found.checks.to_text()
    for name in (*NEW, "constants_section", "constants_bytes"):
        assert found.checks.check(name).status == "ok"
    assert all(verdict.ok or verdict.is_skipped for verdict in found.verdicts)


@NEEDS_ARM
def test_each_model_has_a_blob_and_all_have_one_table_of_loaders(tmp_path: Path) -> None:
    models = [(convolution(), "a"), (BYOC_GUIDE, "b"), (convolution(3), "c")]
    codegens = ("dnnl", "examplejsoncompiler")
    microgen.generate_models(models, "mps2_an386", tmp_path / "p", codegen=codegens)
    microgen.build(tmp_path / "p")
    report = microgen.verify(tmp_path / "p")
    assert report.ok, report.to_text()
    assert report.check("module_loaders").found == "2 loaders, dnnl_json, examplejson"
    for module in "abc":
        assert f"{module}: tvmgen_{module}___tvm_dev_mblob" in report.check("module_blob").expected


@NEEDS_ARM
@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_a_deeper_runtime_moves_the_bound(toolchain: str, tmp_path: Path) -> None:
    sound = _generated(tmp_path, "mps2_an386", toolchain=toolchain)
    project = tmp_path / "deep"
    shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    source = project / "codegens" / "toy" / "toy.c"
    deeper = 'uint32_t i;\n    char frame[2000];\n    __asm__ volatile("" : : "r"(frame));\n'
    text, count = re.subn(r"uint32_t i;\n", lambda _: deeper, source.read_text())
    assert count == 1
    source.write_text(text)
    microgen.build(project)
    before, after = stack_bound(sound), stack_bound(project)
    assert before.problems == after.problems == ()
    assert after.nbytes > before.nbytes
    assert any(step.startswith("toy_run ") for step in after.path)
    assert not any(step.startswith("toy_run ") for step in before.path)
