"""The check of factors of 64 bits finds every factor that gives other outputs for some sum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.kernels.requantization import transforms
from microgen.verifier.checks.requantization import factors_differ as differs
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_NINJA

N = 6


def scales(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [(2.0 ** rng.uniform(-14, -2, N)).astype(np.float32)]


def arguments(rounding: str, output: float = 1.0, channels: int = N) -> dict[str, Any]:
    own = {"input_scale": 1.0, "output_scale": output, "rule": "conv", "channels": channels}
    return {**own, "rounding": rounding}


def moved(table: np.ndarray, by: int) -> np.ndarray:
    """The table, as the verifier reads it, of factors that are larger by ``by``."""
    low, high = table.astype(np.int64).T
    factors = low + high * 2**32 + by
    low = factors.astype(np.int32).astype(np.int64)
    return np.stack([low, (factors - low) >> 32], axis=1)


@pytest.mark.parametrize("rounding", ["real", "reduced"])
@pytest.mark.parametrize("seed", range(4))
def test_factors_that_generation_found_are_right(rounding: str, seed: int) -> None:
    table = transforms.apply("wide_factors", scales(seed), arguments(rounding))
    assert not differs(table.astype(np.int64), scales(seed), arguments(rounding)).any()


@pytest.mark.parametrize("rounding", ["real", "reduced"])
@pytest.mark.parametrize("by", [2**40, -(2**40)])
def test_other_factors_are_found(rounding: str, by: int) -> None:
    table = transforms.apply("wide_factors", scales(5), arguments(rounding))
    assert differs(moved(table, by), scales(5), arguments(rounding)).all()


def test_one_wrong_factor_is_found_among_others() -> None:
    table = transforms.apply("wide_factors", scales(5), arguments("real")).astype(np.int64)
    table[3] = moved(table, 2**44)[3]
    found = differs(table, scales(5), arguments("real"))
    assert found.tolist() == [i == 3 for i in range(N)]


def test_a_tie_that_is_rounded_upwards_is_found() -> None:
    quarter = [np.full(N, 0.25, np.float32)]
    exact = np.tile(np.array([[0, 2**30]], np.int64), (N, 1))
    assert differs(exact, quarter, arguments("real")).all()
    assert not differs(exact, quarter, arguments("reduced")).any()
    assert not differs(moved(exact, 1), quarter, arguments("real")).any()


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_a_factor_in_the_firmware_is_checked(tmp_path: Path) -> None:
    elf = built(tmp_path)
    assert checked(tmp_path) == ("ok", "1 layers proven again")
    half = [np.full(1, 0.5, np.float32)]
    table = transforms.apply("wide_factors", half, arguments("real", 50.0, 1))
    contents = elf.read_bytes()
    assert contents.count(table.tobytes()) == 1
    other = moved(table, 2**40).astype("<i4").tobytes()
    elf.write_bytes(contents.replace(table.tobytes(), other))
    status, found = checked(tmp_path)
    assert (status, "gives other outputs for some sums" in found) == ("failed", True)


def built(root: Path) -> Path:
    """The ELF of a dense layer, whose sums are scaled by 1/100."""
    rng = np.random.default_rng(0)
    tensors = [
        TensorSpec("x", (1, 8), "int16", scale=(1.0,), zero_point=(0,)),
        TensorSpec("w", (3, 8), "int8", rng.integers(-9, 9, (3, 8)), scale=(0.5,), zero_point=(0,)),
        TensorSpec("b", (3,), "int64", np.array([1, -7, 90])),
        TensorSpec("y", (1, 3), "int16", scale=(50.0,), zero_point=(0,)),
    ]
    dense = OperatorSpec(
        "FULLY_CONNECTED", ["x", "w", "b"], ["y"], "FullyConnectedOptions", version=11
    )
    model = root / "dense.tflite"
    model.write_bytes(build_model(tensors, [dense], ["x"], ["y"]))
    microgen.generate(model, "mps2_an386", root / "project")
    return microgen.build(root / "project").elf


def checked(root: Path) -> tuple[str, str]:
    report = microgen.verify(root / "project")
    (check,) = (c for c in report.checks if c.name == "requantization")
    return check.status, check.found
