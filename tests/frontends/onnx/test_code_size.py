"""Operators of quantized ONNX networks share the code that scales in float32."""

from __future__ import annotations

from pathlib import Path

import microgen
from microgen.verifier.elf import elf
from tests.support.places import EXAMPLES
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_NINJA

SCALING = "mg_requantize_float"


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_scaling_in_float32_is_one_function(tmp_path: Path) -> None:
    microgen.generate(EXAMPLES / "pytorch" / "digits_qdq.onnx", "mps2_an385", tmp_path / "p")
    built = elf.load(microgen.build(tmp_path / "p").elf)
    assert [symbol.stem for symbol in built.functions()].count(SCALING) == 1
