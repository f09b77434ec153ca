"""Kernels for the DSP extension or MVE use its instructions, those of other cores do not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from tests.support import forced
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

STEMS = ("conv2d_1x1", "conv2d", "depthwise_conv2d", "dense")
KWS = "kws_ref_model.tflite"

_CALLEE = re.compile(r"\tbl\t\w+ <(mg_[^>]+)>")

# The instructions with which each variant multiplies. vmlava is objdump's name for vmladava; it is
# an alias if no lanes are exchanged.
MULTIPLIES = {
    "_dsp": {"dot": "\tsmlad\t", "depthwise": "\tsmlatt\t"},
    "_mve": {"dot": "\tvmlava.s8\t", "depthwise": "\tvmullb.s8\t"},
}


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(
    ("board", "suffix"),
    [("mps2_an386", "_dsp"), ("mps2_an385", "_portable"), ("mps3_an547", "_mve")],
)
def test_variants_are_in_the_disassembly(
    board: str, suffix: str, mlperf_models: Path, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    model = mlperf_models / KWS
    loops = {f"mg_{stem}_s8{suffix}" for stem in STEMS}
    given = forced.first(model, board, tmp_path / "s.json", lambda k: k.loop_name in loops)
    microgen.generate(model, board, project, schedule=given)
    microgen.build(project)
    firmware = project / "build" / "firmware.elf"
    for call in manifest.load(project).calls:
        (step,) = call.steps
        if not step.op.startswith(("nn.conv2d", "nn.depthwise_conv2d", "nn.dense")):
            continue
        assert step.kernel in loops
        code = _disassembly(firmware, call.function)
        code += "".join(_disassembly(firmware, name) for name in _CALLEE.findall(code))
        kind = "depthwise" if "depthwise" in step.kernel else "dot"
        for variant, instructions in MULTIPLIES.items():
            assert (instructions[kind] in code) == (suffix == variant)


def _disassembly(firmware: Path, symbol: str) -> str:
    command = [
        "arm-none-eabi-objdump",
        "-marmv8.1-m.main",
        f"--disassemble={symbol}",
        str(firmware),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"<{symbol}>:" in done.stdout
    return done.stdout
