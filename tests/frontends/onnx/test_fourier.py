"""Fourier transforms, windows and mel filters, against numpy, onnxruntime, and onnx's reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array
from tests.frontends.onnx import by_c, one_node
from tests.frontends.onnx.models import info, model, written
from tests.frontends.onnx.one_node import OneNode
from tests.kernels.conformance.onnx_oracle import by_onnx
from tests.support.tools import NEEDS_CC

_RNG = np.random.default_rng(17)
_ONE = np.array(1, np.int64)
_WINDOW = np.hanning(9)[:-1].astype(np.float32)


def _data(*shape: int) -> Array:
    return _RNG.normal(size=shape).astype(np.float32)


def _transforms() -> Iterator[OneNode]:
    """Each form for odd and even lengths, shorter and longer ones, and each axis."""
    for size in (1, 5, 8):
        for parts in (1, 2):
            for inverse in (0, 1):
                yield OneNode("DFT", (_data(2, size, parts),), {"inverse": inverse}, opset=17)
        yield OneNode("DFT", (_data(2, size, 3, 1),), {"onesided": 1}, opset=17)
    for length in (4, 7):
        yield OneNode("DFT", (_data(1, 6, 2), np.array(length)), opset=17)
        yield OneNode("DFT", (_data(1, 6, 1), np.array(length)), {"onesided": 1}, opset=17)
    for axis in (0, 1, 2, -2, -3):
        yield OneNode("DFT", (_data(2, 3, 4, 2),), {"axis": axis}, opset=17)


def _frames() -> Iterator[OneNode]:
    signal, step = _data(2, 30, 1), np.array(3)
    yield OneNode("STFT", (signal, step, _WINDOW), opset=17)
    yield OneNode("STFT", (signal, step, None, np.array(7)), opset=17)
    yield OneNode("STFT", (signal, step, _WINDOW, np.array(8)), {"onesided": 0}, opset=17)
    yield OneNode("STFT", (_data(1, 30, 2), step, None, np.array(5)), {"onesided": 0}, opset=17)


CASES = (*_transforms(), *_frames())


def test_graphs_equal_onnxruntime(tmp_path: Path) -> None:
    proto, given, _ = one_node.model(CASES)
    found = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    expected = one_node.by_runtime(proto, given)
    for case, one, other in zip(CASES, found, expected, strict=True):
        assert one.shape == other.shape, case
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=str(case))


@NEEDS_CC
def test_generated_c_equals_the_graph(tmp_path: Path) -> None:
    by_c.assert_equals_the_graph([CASES], tmp_path, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [None, 4, 5, 7, 8, 12])
@pytest.mark.parametrize("axis", [1, 2])
def test_the_inverse_of_a_half_is_real(length: int | None, axis: int, tmp_path: Path) -> None:
    """Against numpy, because onnxruntime computes only the transform of opset 17."""
    halves = _data(2, 5, 5, 2)
    operands = (halves, None if length is None else np.array(length), np.array(axis))
    case = OneNode("DFT", operands, {"inverse": 1, "onesided": 1}, opset=20)
    proto, given, _ = one_node.model([case])
    (found,) = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    expected = np.fft.irfft(halves[..., 0] + 1j * halves[..., 1], n=length, axis=axis)
    np.testing.assert_allclose(found[..., 0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rate", [8000, 16000])
@pytest.mark.parametrize("bands", [3, 20])
def test_mel_filters(bands: int, rate: int, tmp_path: Path) -> None:
    """Of long bands, and of short ones, some of which share their ends."""
    integers = [np.array(value, np.int32) for value in (bands, 64, rate)]
    edges = [np.array(value, np.float32) for value in (20, rate / 2 - 100)]
    expected = by_onnx("MelWeightMatrix", [*integers, *edges])
    names = [f"i{k}" for k in range(5)]
    nodes = [
        helper.make_node("MelWeightMatrix", names, ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    constants = dict(zip(names, [*integers, *edges], strict=True))
    path = written(model(nodes, [info("x", (1, 33))], [info("y", None)], constants), tmp_path)
    graph = frontends.load(path)
    (data,) = (given := {"x": _data(1, 33)}).values()
    (found,) = one_node.by_graph(graph, given)
    np.testing.assert_allclose(found, data @ expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("is_bound", [False, True])
def test_windows(op: str, periodic: int, is_bound: bool, tmp_path: Path) -> None:
    """Their size is a constant, or the output's."""
    nodes = [helper.make_node(op, ["n"], ["w"], periodic=periodic)]
    inputs, outputs = [info("x", (9,))], [info("w", (9,))]
    constants = {"n": np.array(9)} if is_bound else {}
    if is_bound:
        nodes.append(helper.make_node("Mul", ["x", "w"], ["y"]))
        outputs = [info("y", None)]
    else:
        inputs.append(info("n", (), TensorProto.INT64))
    graph = frontends.load(written(model(nodes, inputs, outputs, constants), tmp_path))
    given = {"x": np.ones(9, np.float32), "n": np.array(9)}
    (found,) = one_node.by_graph(graph, given)
    expected = by_onnx(op, [np.array(9)], periodic=periodic)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def _case(op: str, *inputs: Array | None, opset: int = 17, **attrs: int) -> OneNode:
    return OneNode(op, inputs, attrs, opset=opset)


_SIGNAL = np.ones((1, 8, 1), np.float32)


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (_case("DFT", np.ones((1, 4, 3), np.float32)), "values of 3 parts"),
        (_case("DFT", np.ones((1, 4, 2), np.float32), onesided=1), "values of 2 parts"),
        (_case("DFT", _SIGNAL, onesided=1, inverse=1), "values of 1 parts"),
        (_case("DFT", np.ones(2, np.float32)), "an axis and parts"),
        (_case("DFT", _SIGNAL, axis=2), "has the axis 2, which"),
        (_case("DFT", _SIGNAL, axis=5), "has the axis 5"),
        (_case("DFT", _SIGNAL, np.array(0)), "has the length 0"),
        (_case("DFT", _SIGNAL, np.array(2**40)), "has .* bytes"),
        (_case("DFT", _SIGNAL, np.array(2**22)), "steps of arithmetic|bytes"),
        (_case("STFT", _SIGNAL, np.array(0), None, np.array(4)), "by steps of 0"),
        (_case("STFT", _SIGNAL, _ONE, None, np.array(9)), "has frames of 9"),
        (_case("STFT", np.ones((1, 8, 2), np.float32), _ONE), "onesided=1"),
        (_case("STFT", np.ones((8, 1), np.float32), _ONE), "has the signal"),
        (_case("STFT", _SIGNAL, _ONE, _WINDOW, np.array(4)), "has the window"),
        (_case("HannWindow", np.array(2**40), opset=17), "bytes"),
        (
            _case("MelWeightMatrix", *map(np.int32, (0, 8, 8)), *map(np.float32, (0, 4))),
            "has 0 bands",
        ),
        (
            _case("MelWeightMatrix", *map(np.int32, (4, 8, 8)), *map(np.float32, (0, 90))),
            "has bands up to",
        ),
    ],
    ids=str,
)
def test_refusals(case: OneNode, sentence: str, tmp_path: Path) -> None:
    n_data = 0 if case.op in ("HannWindow", "MelWeightMatrix") else 1
    constant = OneNode(case.op, case.inputs, case.attrs, n_data, opset=case.opset)
    with pytest.raises(MicrogenError, match=sentence):
        one_node.loaded(one_node.model([constant])[0], tmp_path)
