"""int8 ADD_N, CUMSUM and ZEROS_LIKE, which only TensorFlow Lite Micro has, equal its formulas in
Python's integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.tflite.micro import Micro
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.tflite.test_micro import fixed_point, twice
from tests.frontends.tweaked import Network, activation, integers, refusal
from tests.support.tflite_builder import OperatorSpec
from tests.support.tools import NEEDS_NINJA

SHAPE = (2, 5, 3)
QUANTS = [(0.5, 0, 0.75, 4), (0.031, -128, 0.2, 127), (1.7, 127, 0.9, -128), (0.02, 9, 3.0, 0)]


def _network(code: str, inputs: Sequence[str], quant: tuple[float, int, float, int]) -> Network:
    scale, zero, output_scale, output_zero = quant
    tensors = [activation(name, *SHAPE, scale=scale, zero_point=zero) for name in "xab"]
    tensors.append(activation("y", *SHAPE, scale=output_scale, zero_point=output_zero))
    words = code.title().replace("_", "")
    operator = OperatorSpec(code, inputs, "y", f"{words}Options")
    fed = tuple(name for name in "xab" if name in inputs)
    return Network((*tensors, integers("axis", 1)), (operator,), fed)


def _data(names: Iterable[str]) -> dict[str, Array]:
    rng = np.random.default_rng(2)
    return {name: rng.integers(-128, 128, SHAPE).astype(np.int8) for name in names}


def _wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def _stored(terms: Iterable[int], quant: tuple[float, int, float, int]) -> int:
    """The sum of stored values, as add_n.h and cumsum.h compute it."""
    scale, zero, output_scale, output_zero = quant
    half = fixed_point(0.5)
    total = twice(-zero * 2**20, *half)
    for term in terms:
        total = _wrapped(total + twice((term - zero) * 2**20, *half))
    ratio = 2 * float(np.float32(scale)) / (2**20 * float(np.float32(output_scale)))
    return max(-128, min(127, twice(total, *fixed_point(ratio)) + output_zero))


def _computed(network: Network, data: dict[str, Array]) -> Array:
    return evaluate(network.load("tflm"), data, registry())["y"]


@pytest.mark.parametrize("quant", QUANTS)
@pytest.mark.parametrize("inputs", ["xa", "xab", "xx", "xabbaaxxxxaabbxxaa"])
def test_add_n(quant: tuple[float, int, float, int], inputs: str) -> None:
    data = _data(dict.fromkeys(inputs))
    found = _computed(_network("ADD_N", tuple(inputs), quant), data)
    terms = zip(*(data[name].reshape(-1).tolist() for name in inputs), strict=True)
    expected = [_stored(row, quant) for row in terms]
    np.testing.assert_array_equal(found.reshape(-1), np.array(expected))


@pytest.mark.parametrize("quant", QUANTS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum(quant: tuple[float, int, float, int], exclusive: bool, reverse: bool) -> None:
    network = _network("CUMSUM", ("x", "axis"), quant)
    data = _data("x")
    found = _computed(network.with_options(exclusive=exclusive, reverse=reverse), data)
    for outer, place, inner in np.ndindex(SHAPE):
        row = data["x"][outer, :, inner].tolist()
        before = row[: place + (not exclusive)]
        after = row[place + exclusive :]
        expected = _stored(after[::-1] if reverse else before, quant)
        assert found[outer, place, inner] == expected


def test_sums_that_exceed_int32_wrap() -> None:
    """TensorFlow Lite Micro leaves them undefined."""
    data = {"x": np.full(SHAPE, 127, np.int8)}
    quant = (0.5, 0, 50.0, 0)
    for count, expected in ((32, 41), (33, -40)):
        found = _computed(_network("ADD_N", ("x",) * count, quant), data)
        assert np.unique(found).tolist() == [expected]


@pytest.mark.parametrize("zero", [0, 3, -128])
def test_zeros_like_are_stored_zeros(zero: int) -> None:
    network = _network("ZEROS_LIKE", ("x",), (0.5, zero, 0.5, zero))
    assert not _computed(network, _data("x")).any()


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize(
    ("code", "inputs"), [("ADD_N", ("x", "a", "b")), ("CUMSUM", ("x", "axis"))]
)
def test_firmware(code: str, inputs: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_network(code, inputs, QUANTS[1]).to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p", numerics="tflm")
    microgen.build(tmp_path / "p")
    result = microgen.run(tmp_path / "p", compare=True)
    assert [(verdict.ok, verdict.is_skipped) for verdict in result.verdicts] == [
        (True, False),
        (True, bool(Micro().lacking())),
    ]


ADDED, SUMMED = (
    _network(code, inputs, QUANTS[0])
    for code, inputs in (("ADD_N", ("x", "a")), ("CUMSUM", ("x", "axis")))
)


_WIDE_SUMS = SUMMED.with_tensor("x", dtype="int16", zero_point=(0,))


@pytest.mark.parametrize(
    ("network", "kind", "said"),
    [
        (ADDED.with_tensor("a", scale=(0.25,)), ModelError, "several dtypes, scales or zero"),
        (ADDED.with_tensor("a", zero_point=(1,)), ModelError, "several dtypes, scales or zero"),
        (ADDED.with_tensor("a", dtype="int16"), ModelError, "several dtypes, scales or zero"),
        (ADDED.with_tensor("a", shape=(2, 5, 1)), ModelError, "two or more of the same shape"),
        (ADDED.with_operator(inputs=("x",)), ModelError, "two or more of the same shape"),
        (ADDED.with_tensor("y", scale=(1e-9,)), UnsupportedError, "TensorFlow Lite Micro stops"),
        (SUMMED.with_tensor("y", scale=(1e-9,)), UnsupportedError, "TensorFlow Lite Micro stops"),
        (ADDED.with_tensor("y", dtype="int16", zero_point=(0,)), UnsupportedError, "int16"),
        (
            SUMMED.with_tensor("x", scale=(1e-37,)).with_tensor("y", scale=(1e-37,)),
            ModelError,
            "a scale is",
        ),
    ],
)
def test_impossible_sums(network: Network, kind: type[MicrogenError], said: str) -> None:
    with pytest.raises(kind) as caught:
        network.load("tflm")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (ADDED, "which only TensorFlow Lite Micro computes"),
        (SUMMED, "which only TensorFlow Lite Micro computes"),
        (_WIDE_SUMS, "which no runtime computes; supported: float32 and int32"),
        (_network("ZEROS_LIKE", ("x",), (0.5, 3, 0.5, 3)), "has no kernel"),
    ],
)
def test_litert_has_none(network: Network, said: str) -> None:
    assert said in refusal(network, UnsupportedError)
    inputs = [replace(tensor, dtype="int16", zero_point=(0,)) for tensor in network.tensors[:4]]
    wide = network.replace(tensors=(*inputs, *network.tensors[4:]))
    for profile in ("litert", "tflm"):
        with pytest.raises(MicrogenError, match="int16"):
            wide.load(profile)
