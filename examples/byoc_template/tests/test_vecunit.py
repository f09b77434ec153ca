"""The calls that the generators accept, the code they make, and firmware that runs on the host.

The package must be installed: ``pip install -e . && pytest``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from microgen_byoc_template import CODEGEN, TAPE

import microgen
from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.compiler import codegens
from microgen.relay.transform import OperatorCall

EXAMPLE = Path(__file__).resolve().parents[1] / "example.relay"


def test_microgen_finds_them() -> None:
    assert codegens.registry()["vecunit"] is CODEGEN
    assert codegens.registry()["vectape"] is TAPE


def _call(*shape: int, dtype: str = "float32", other: tuple[int, ...] = ()) -> OperatorCall:
    result = relay.TensorType(shape, dtype)
    argument = relay.TensorType(other or shape, dtype)
    return OperatorCall("add", {}, (result, argument), result, (None, None))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (_call(2, 4, dtype="int8"), "its result is Tensor[(2, 4), int8], and the unit computes"),
        (_call(2, 4, other=(4,)), "it broadcasts"),
        (_call(3, 5), "it has 15 elements, expected multiples of 4 up to 4096"),
        (_call(8192), "it has 8192 elements"),
    ],
)
def test_what_it_refuses(call: OperatorCall, why: str) -> None:
    assert why in (CODEGEN.support.operators["add"](call) or "")


def test_what_it_takes() -> None:
    assert CODEGEN.support.operators["add"](_call(3, 4)) is None


def test_a_tape_has_no_constants() -> None:
    tensor = relay.TensorType((4,), "float32")
    constant = relay.const(np.zeros(4, np.float32))
    call = OperatorCall("add", {}, (tensor, tensor), tensor, (None, constant))
    assert CODEGEN.support.operators["add"](call) is None
    assert "a constant operand" in (TAPE.support.operators["add"](call) or "")


def test_its_option() -> None:
    small = CODEGEN.configured({"max_elements": "16"})
    assert "to 16" in (small.support.operators["add"](_call(20)) or "")
    with pytest.raises(MicrogenError, match="expected a number"):
        CODEGEN.configured({"max_elements": "many"})
    with pytest.raises(MicrogenError, match="vecunit has no option 'lanes'"):
        CODEGEN.configured({"lanes": "8"})


def test_the_pattern_is_one_call() -> None:
    compiled = microgen.compile_model(EXAMPLE, "native", codegen=("vecunit",), composite=True)
    code = compiled.files.files["model/codegen/host/src/default_lib2.c"].decode()
    assert "status = vecunit_multiply_add(in0, in1, in2, out0, 64);" in code


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("merge_regions", [False, True])
def test_the_firmware_agrees_with_numpy(
    composite: bool, merge_regions: bool, tmp_path: Path
) -> None:
    _check_firmware(tmp_path, ("vecunit",), composite=composite, merge_regions=merge_regions)


@pytest.mark.parametrize("merge_regions", [False, True])
def test_tapes_agree_with_numpy(merge_regions: bool, tmp_path: Path) -> None:
    _check_firmware(tmp_path, ("vectape",), merge_regions=merge_regions)


def _check_firmware(tmp_path: Path, codegen: tuple[str, ...], **options: bool) -> None:
    microgen.generate(EXAMPLE, "native", tmp_path / "project", codegen=codegen, **options)
    rng = np.random.default_rng(0)
    shape = (3, 1, 4, 16)  # three samples
    inputs = {n: rng.normal(size=shape).astype(np.float32) for n in ("data", "scale", "shift")}
    data, scale, shift = inputs.values()
    relu = np.maximum(data * scale + shift, 0)
    expected = (1 / (1 + np.exp(-relu)) + data) * relu
    (found,) = microgen.run(tmp_path / "project", inputs).outputs.values()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
