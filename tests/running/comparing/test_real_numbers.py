"""Real numbers for quantized inputs and outputs: as the operators of the model's format convert
them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from microgen.base.errors import InputError
from microgen.base.manifest import PortRecord
from microgen.graph.ir.graph import Array
from microgen.running.comparing import real_numbers
from microgen.running.comparing.own_data import OwnData
from microgen.running.runner import samples

PORT = PortRecord("x", "x", (1, 8), "int8", 8, 0.5, -1)
HALVES = np.array([[-1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 1e9, -1e300]])


def firmware(*ports: PortRecord, numerics: str = "litert") -> Any:
    module = SimpleNamespace(
        module="m", inputs=ports, outputs=ports, options={"numerics": numerics}
    )
    return SimpleNamespace(modules=[module], more=[], inputs=ports)


@pytest.mark.parametrize(
    ("numerics", "expected"),
    [
        # Halves away from zero, as TFLite's QUANTIZE.
        ("litert", [-4, -3, -2, 0, 1, 2, 127, -128]),
        ("tflm", [-4, -3, -2, 0, 1, 2, 127, -128]),
        # Halves to even, as ONNX's QuantizeLinear.
        ("onnx", [-3, -3, -1, -1, 1, 1, 127, -128]),
    ],
)
def test_rounding_is_that_of_the_models_format(numerics: str, expected: list[int]) -> None:
    found = samples.given(firmware(PORT, numerics=numerics), {"x": HALVES}, real_numbers.stored)
    assert found.arrays["x"].tolist() == [[expected]]
    assert found.arrays["x"].dtype == np.int8


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
@pytest.mark.parametrize("given", [np.float16, np.float32, np.float64])
def test_every_dtype_is_quantized_and_given_back(dtype: str, given: Any) -> None:
    limits = np.iinfo(dtype)
    port = PortRecord("x", "x", (1, 4), dtype, 4, 0.25, limits.max - 3)
    stored = np.array([[limits.max, limits.max - 3, limits.max - 5, limits.max - 40]], dtype)
    real = real_numbers.dequantized(port, stored)
    assert (real.dtype, real.tolist()) == (np.dtype("float32"), [[0.75, 0.0, -0.5, -9.25]])
    manifest = firmware(port)
    found = samples.given(manifest, {"x": real.astype(given)}, real_numbers.stored)
    assert (found.arrays["x"][0] == stored).all()
    back = OwnData(manifest, found, dequantize=True).returned(found.arrays)
    assert back["x"].tolist() == real.tolist()


def test_integers_and_inputs_without_a_scale_are_as_they_are() -> None:
    count = PortRecord("n", "n", (1,), "int32", 4, 0.0, 0)
    real = PortRecord("r", "r", (1,), "float32", 4, 0.0, 0)
    manifest = firmware(PORT, count, real)
    arrays: dict[str, Array] = {
        "x": np.arange(16, dtype=np.int8).reshape(2, 8),
        "n": np.array([3, 4], np.int32),
        "r": np.array([np.nan, np.inf], np.float32),
    }
    found = samples.given(manifest, arrays, real_numbers.stored)
    assert found.arrays["x"].reshape(2, 8).tolist() == arrays["x"].tolist()
    back = OwnData(manifest, found, dequantize=True).returned(found.arrays)
    assert [back[name].dtype.name for name in "xnr"] == ["float32", "int32", "float32"]
    with pytest.raises(InputError, match=r"'n' has dtype float64, expected int32; convert it"):
        samples.given(manifest, {**arrays, "n": np.zeros(2)}, real_numbers.stored)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    wrong = np.zeros((3, 8), np.float32)
    wrong[1, 2] = wrong[2, 7] = value
    with pytest.raises(InputError) as caught:
        samples.given(firmware(PORT), {"x": wrong}, real_numbers.stored)
    said = f"the input 'x' has {value} at [1,2], for which int8 has no value (2 of 24 elements"
    assert said in str(caught.value)


def test_without_the_option_the_error_names_it() -> None:
    with pytest.raises(InputError, match="expected int8; add --quantize-inputs"):
        samples.given(firmware(PORT), {"x": HALVES})
