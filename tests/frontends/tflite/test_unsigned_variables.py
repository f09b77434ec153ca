"""Resource variables of uint8, whose stored values operators see as int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.frontends.tweaked import LONGEST_REFUSAL
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.streaming import Model
from tests.support.tflite_builder import SubgraphSpec, TensorSpec
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

SHAPE = (1, 4)
QUANT = (0.1, 120)
FIRST = np.array([[0, 7, 200, 255]], np.uint8)


def _model(initial: Array = FIRST) -> tuple[Model, str, str]:
    m = Model()
    return m, m.input("x", SHAPE, dtype="uint8", quant=QUANT), m.variable("v", initial)


def _sum(m: Model, a: str, b: str, name: str) -> str:
    return m.add("ADD", [a, b], m.tensor(name, SHAPE, "uint8", QUANT), "AddOptions")


def _with_quantized_values(m: Model) -> bytes:
    """The file, whose initial values have a scale and a zero point."""
    init = Model()
    init.assign(init.handle("v"), init.constant(m.variables["v"], (0.1,)))
    return m.to_bytes(more=[SubgraphSpec(init.tensors, init.operators)])


def _load(data: bytes) -> Graph:
    return frontend.load(data, file="m.tflite", numerics=profile("litert"))


def _samples(count: int = 6) -> list[Array]:
    rng = np.random.default_rng(4)
    return [rng.integers(0, 256, SHAPE).astype(np.uint8) for _ in range(count)]


def _assert_equals_litert(data: bytes) -> Graph:
    graph, interpreter = _load(data), interpreter_of(data)
    state, seen = initial_state(graph), set[int]()
    for sample in _samples():
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        values = evaluate(graph, {graph.inputs[0]: sample}, registry(), state)
        for name, detail in zip(graph.outputs, interpreter.get_output_details(), strict=True):
            np.testing.assert_array_equal(values[name], interpreter.get_tensor(detail["index"]))
            seen |= set(values[name].reshape(-1).tolist())
    assert len(seen) > 8
    return graph


def _accumulated() -> Model:
    m, x, v = _model()
    old = m.read(v, "old", x)
    m.assign(v, _sum(m, old, x, "sum"))
    m.outputs = ["sum", _sum(m, old, old, "twice")]
    return m


@needs_litert
@pytest.mark.parametrize("make", [Model.to_bytes, _with_quantized_values])
def test_a_variable_that_is_read_and_assigned(make: object) -> None:
    graph = _assert_equals_litert(make(_accumulated()))  # type: ignore[operator]
    assert graph.variables == ("old",)
    np.testing.assert_array_equal(graph.initial["old"], FIRST.astype(int) - 128)


@needs_litert
@pytest.mark.parametrize("make", [Model.to_bytes, _with_quantized_values])
def test_a_variable_that_is_never_assigned(make: object) -> None:
    m, x, v = _model()
    m.outputs = [_sum(m, m.read(v, "old", x), x, "sum")]
    assert not _assert_equals_litert(make(m)).variables  # type: ignore[operator]


@needs_litert
def test_a_variable_that_is_assigned_first() -> None:
    m, x, v = _model()
    m.assign(v, _sum(m, x, x, "double"))
    m.outputs = [_sum(m, m.read(v, "new", x), x, "sum")]
    assert not _assert_equals_litert(m.to_bytes()).variables


@needs_litert
@pytest.mark.parametrize("make", [Model.to_bytes, _with_quantized_values])
def test_a_variable_of_plain_numbers(make: object) -> None:
    m = Model()
    x, v = m.input("x", SHAPE, dtype="uint8", quant=None), m.variable("v", FIRST)
    old = m.read(v, "old", x)
    m.assign(v, x)
    m.outputs = [old, m.add("CAST", [old], m.tensor("wide", SHAPE, "int32", None))]
    graph = _assert_equals_litert(make(m))  # type: ignore[operator]
    np.testing.assert_array_equal(graph.initial["old"], FIRST)


@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize("board", ["native", pytest.param("mps2_an386", marks=NEEDS_ARM)])
def test_firmware_equals_litert(board: str, tmp_path: Path) -> None:
    m, x, v = _model()
    joined = m.join([m.read(v, "old", x), x], "joined", 0)
    m.tensors[-1] = TensorSpec("joined", (2, 4), "uint8", None, (0.1,), (120,))
    m.assign(v, x)
    m.outputs = [joined, *_sums(m, x)]
    (tmp_path / "m.tflite").write_bytes(m.to_bytes())
    microgen.generate(tmp_path / "m.tflite", board, tmp_path / "p")
    microgen.build(tmp_path / "p")
    result = microgen.run(tmp_path / "p", {"x": np.stack(_samples(12))}, compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert [verdict.is_skipped for verdict in result.verdicts] == [False, False]


def _sums(m: Model, x: str) -> list[str]:
    """The sum of all samples, which saturates."""
    w = m.variable("w", FIRST)
    total = _sum(m, m.read(w, "total", x), x, "sum")
    m.assign(w, total)
    return [total]


# Refusals


def _refused(m: Model, kind: type[MicrogenError]) -> str:
    with pytest.raises(kind) as caught:
        _load(m.to_bytes())
    assert type(caught.value) is kind
    assert len(str(caught.value)) <= LONGEST_REFUSAL
    return str(caught.value)


def test_int8_is_not_uint8() -> None:
    m, x, v = _model(FIRST.view(np.int8))
    m.outputs = [_sum(m, m.read(v, "old", x), x, "sum")]
    said = _refused(m, ModelError)
    assert 'the variable "v" is read as uint8[1,4], but it is int8[1,4]' in said
    m, x, v = _model()
    signed = m.tensor("signed", SHAPE, "int8", (0.1, -8))
    m.assign(v, m.add("QUANTIZE", [x], signed))
    m.outputs = [signed]
    assert "is assigned int8[1,4], but it is uint8[1,4]" in _refused(m, ModelError)


def test_a_variable_is_quantized_everywhere_or_nowhere() -> None:
    m, x, v = _model()
    old = m.read(v, "old", x)
    plain = m.tensor("plain", SHAPE, "uint8", None)
    m.assign(v, m.add("CAST", [old], plain))
    m.outputs = [_sum(m, old, x, "sum")]
    said = _refused(m, UnsupportedError)
    assert 'uses the variable "v" both with a scale and as plain numbers' in said
    m, x, v = _model()
    m.assign(v, x)
    m.tensor("plain", SHAPE, "uint8", None)
    old = m.read(v, "old", "plain")
    m.outputs = [m.add("CAST", [old], m.tensor("wide", SHAPE, "int32", None))]
    assert "both with a scale and as plain numbers" in _refused(m, UnsupportedError)


def test_tensorflow_lite_micro_computes_no_uint8() -> None:
    with pytest.raises(UnsupportedError, match="computes in uint8"):
        frontend.load(_accumulated().to_bytes(), file="m.tflite", numerics=profile("tflm"))
