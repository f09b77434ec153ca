"""Firmware that uses CMSIS-NN gives the same bytes as the built-in kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.interface import cli
from tests.compiler.codegens.cmsis_nn import harness
from tests.support.places import DIGITS
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = NEEDS_NINJA

ARM = [pytest.param(name, marks=NEEDS_ARM) for name in ("mps2_an386", "mps3_an547")]
BOARDS = [
    *("native", *ARM),
    pytest.param("microbit", marks=NEEDS_ARM),
    pytest.param("qemu_riscv32", marks=NEEDS_RISCV),
]
# The number of layers of each MLPerf network, and of those that the litert profile rounds once.
MLPERF = {
    "kws_ref_model": (12, 1),
    "pretrainedResnet_quant": (15, 1),
    "vww_96_int8": (30, 1),
    "ad01_int8": (10, 10),
    "str_ww_ref_model": (10, 1),
}


def _generated(
    model: Path, board: str, numerics: str, codegen: str, folder: Path, *, merge: bool = False
) -> list[str]:
    """The kernels that the project's operators call."""
    options = (f"cmsis-nn.path={harness.TREE}",) if codegen == "cmsis-nn" else ()
    compiled = microgen.generate(
        model,
        board,
        folder,
        numerics=numerics,
        codegen=(codegen,),
        codegen_option=options,
        merge_regions=merge,
    )
    return [call.steps[-1].kernel for call in compiled.manifest.calls]


def _outputs(folder: Path, *, sanitize: bool = False) -> dict[str, bytes]:
    """The firmware's outputs for random samples, which equal the references'."""
    result = microgen.run(folder, compare=True, sanitize=sanitize)
    assert all(verdict.ok for verdict in result.verdicts), [*map(str, result.verdicts)]
    assert result.samples > 1
    return {name: array.tobytes() for name, array in result.outputs.items()}


@harness.NEEDS_TREE
@pytest.mark.parametrize("merge", [False, True], ids=["single", "merged"])
@pytest.mark.parametrize("board", BOARDS)
def test_a_network_of_most_ops(board: str, merge: bool, tmp_path: Path) -> None:
    cmsis, builtin = tmp_path / "cmsis", tmp_path / "builtin"
    kernels = _generated(DIGITS, board, "tflm", "cmsis-nn", cmsis, merge=merge)
    assert len(kernels) == (2 if merge else 7)
    assert all(kernel.startswith("arm_") for kernel in kernels)
    _generated(DIGITS, board, "tflm", "builtin", builtin)
    sanitize = board == "native"
    assert _outputs(cmsis, sanitize=sanitize) == _outputs(builtin, sanitize=sanitize)


@harness.NEEDS_TREE
@pytest.mark.slow
@pytest.mark.parametrize("numerics", ["tflm", "litert"])
@pytest.mark.parametrize("board", ARM)
@pytest.mark.parametrize("model", MLPERF)
def test_the_mlperf_networks(
    model: str, board: str, numerics: str, mlperf_models: Path, tmp_path: Path
) -> None:
    file, cmsis, builtin = mlperf_models / f"{model}.tflite", tmp_path / "a", tmp_path / "b"
    layers, dense = MLPERF[model]
    kernels = _generated(file, board, numerics, "cmsis-nn", cmsis)
    taken = [kernel for kernel in kernels if kernel.startswith("arm_")]
    assert len(kernels) == layers
    assert len(taken) == layers - (dense if numerics == "litert" else 0)
    _generated(file, board, numerics, "builtin", builtin)
    assert _outputs(cmsis) == _outputs(builtin)


def test_the_command_line_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("CMSIS_NN_PATH", "ZEPHYR_BASE"):
        monkeypatch.delenv(variable, raising=False)
    target = tmp_path / "p"
    line = ["generate", str(DIGITS), "-b", "mps2_an386", "--codegen", "cmsis-nn", "-o", str(target)]
    assert cli.main(line) == 2
    (error,) = (e for e in capsys.readouterr().err.splitlines() if e.startswith("microgen:"))
    assert "--codegen-option cmsis-nn.path=DIR" in error
    assert not target.exists()
