"""CIRCULAR_BUFFER of TensorFlow Lite Micro. LiteRT has no such operator, so the oracles are a list
of the latest rows, and LiteRT on the same network with resource variables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.tflite.micro import Micro
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.frontends.tweaked import Network, activation, refusal
from tests.graph.ops.detection.test_suppression_reference import flexbuffer
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support import streaming
from tests.support.tflite_builder import OperatorSpec, TensorSpec
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_NINJA
from tests.test_variables import by_own_main


def _operator(data: str, *outputs: str, options: bytes) -> OperatorSpec:
    return OperatorSpec(
        "CUSTOM", [data], outputs, custom_code="CIRCULAR_BUFFER", custom_options=options
    )


def _buffer(
    slots: int = 4,
    period: int | None = 1,
    rows: tuple[int, ...] = (2, 3),
    flag: tuple[int, ...] | None = None,
) -> Network:
    """A network of that operator alone. ``flag`` is the shape of its second output."""
    options = b"" if period is None else flexbuffer({"cycles_max": period})
    outputs = ("y",) if flag is None else ("y", "due")
    return Network(
        (
            activation("x", 1, 1, *rows),
            replace(activation("y", 1, slots, *rows), is_variable=True),
            TensorSpec("due", (1,) if flag is None else flag, "bool"),
        ),
        (_operator("x", *outputs, options=options),),
        outputs=outputs,
    )


def _outputs(network: Network, samples: list[Array], profile: str = "litert") -> list[list[Array]]:
    graph = network.load(profile)
    state, found = initial_state(graph), []
    for sample in samples:
        values = evaluate(graph, {"x": sample}, registry(), state)
        found.append([values[name] for name in graph.outputs])
    return found


def _samples(count: int, shape: tuple[int, ...] = (1, 1, 2, 3)) -> list[Array]:
    rng = np.random.default_rng(count)
    return [rng.integers(-128, 128, shape).astype(np.int8) for _ in range(count)]


@pytest.mark.parametrize("profile", ["litert", "tflm"])
@pytest.mark.parametrize("slots", [1, 2, 4, 7])
def test_the_latest_rows_are_kept(slots: int, profile: str) -> None:
    samples, zero = _samples(9), np.full((1, 1, 2, 3), 3, np.int8)
    rows = [zero] * slots
    for (found,), sample in zip(_outputs(_buffer(slots), samples, profile), samples, strict=True):
        rows = [*rows[1:], sample]
        np.testing.assert_array_equal(found, np.concatenate(rows, axis=1))


@pytest.mark.parametrize("slots", [5, 13, 25])
def test_a_period_that_the_file_leaves_out(slots: int) -> None:
    assert len(_buffer(slots, None).load().variables) == 1
    assert len(_buffer(slots, 0).load().variables) == 1


@pytest.mark.parametrize("is_variable", [True, False])
def test_the_output_need_not_be_a_variable(is_variable: bool) -> None:
    assert len(_buffer().with_tensor("y", is_variable=is_variable).load().variables) == 1


@pytest.mark.parametrize("period", [1, 2, 5])
@pytest.mark.parametrize("flag", [(1,), (), (1, 1)])
def test_the_second_output_is_true_once_in_each_period(period: int, flag: tuple[int, ...]) -> None:
    found = _outputs(_buffer(3, period, flag=flag), _samples(12))
    assert [due.shape for _, due in found] == [flag] * 12
    assert [bool(due.all()) for _, due in found] == [i % period == 0 for i in range(1, 13)]


# As a part of networks


def _stream(kind: str) -> streaming.Model:
    """Convolutions over the latest rows, kept by CIRCULAR_BUFFER or by resource variables."""
    m = streaming.Model()
    data = m.input("x", (1, 1, 1, 16))
    for name, slots in (("first", 3), ("second", 5)):
        if kind == "variables":
            rows = m.slide(data, name, slots)
        else:
            rows = m.tensor(name, (1, slots, *m.shape(data)[2:]))
            m.tensors[-1] = replace(m.tensors[-1], is_variable=True)
            options = flexbuffer({"cycles_max": 1})
            m.operators.append(_operator(data, rows, options=options))
        data = m.conv(rows, f"{name}/conv", 8)
    m.outputs = [data]
    return m


def _file(m: streaming.Model) -> bytes:
    return streaming.build_model(m.tensors, m.operators, m.inputs, m.outputs)


@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize("board", ["native", pytest.param("mps2_an386", marks=NEEDS_ARM)])
def test_a_stream_equals_litert_with_resource_variables(board: str, tmp_path: Path) -> None:
    samples = streaming.steps(20, (1, 1, 1, 16))
    expected = streaming.by_litert(_stream("variables").to_bytes(), samples)
    (tmp_path / "m.tflite").write_bytes(_file(_stream("buffers")))
    microgen.generate(tmp_path / "m.tflite", board, tmp_path / "p", numerics="tflm")
    microgen.build(tmp_path / "p")
    assert microgen.verify(tmp_path / "p").ok
    result = microgen.run(tmp_path / "p", {"x": samples}, compare=True)
    assert [verdict.ok for verdict in result.verdicts] == [True, True]
    assert [verdict.is_skipped for verdict in result.verdicts] == [False, bool(Micro().lacking())]
    assert len(np.unique(expected)) > 8
    np.testing.assert_array_equal(result.outputs["second/conv"], expected)


@NEEDS_NINJA
def test_a_firmware_says_when_the_rest_is_due(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_buffer(3, 3, flag=(1,)).to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    microgen.build(tmp_path / "p")
    samples = np.stack(_samples(7))
    result = microgen.run(tmp_path / "p", {"x": samples}, compare=True)
    assert result.verdicts[0].ok
    assert result.outputs["due"].reshape(-1).tolist() == [0, 0, 1, 0, 0, 1, 0]


@NEEDS_CC
@pytest.mark.parametrize("output", ["y", "due"])
def test_a_reset_begins_a_new_sequence(output: str, tmp_path: Path) -> None:
    network = _buffer(4, 3, flag=(1,)).replace(outputs=(output,))
    (tmp_path / "m.tflite").write_bytes(network.to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    samples = _samples(11)
    parts = [_outputs(network, samples[i : i + 5]) for i in range(0, 11, 5)]
    expected = b"".join(found.tobytes() for part in parts for (found,) in part)
    assert by_own_main(tmp_path / "p", tmp_path, np.stack(samples), 5) == expected
    assert expected != b"".join(found.tobytes() for (found,) in _outputs(network, samples))


# Refusals

SPOILED = flexbuffer({"cycles_max": 1})


@pytest.mark.parametrize(
    ("network", "kind", "said"),
    [
        (_buffer(4, 2), UnsupportedError, "lets the layers after it run only once in 2 inferences"),
        (_buffer(4, None), UnsupportedError, "has no cycles_max"),
        (_buffer(4, -1), UnsupportedError, "has no cycles_max"),
        (_buffer(4, 1025), ModelError, "has cycles_max 1025; 1 to 1024 is expected"),
        (_buffer(4, 2**40, flag=(1,)), ModelError, "has cycles_max 1099511627776"),
        (_buffer(4, 1, flag=(2,)), ModelError, "has a second output of bool[2]"),
        (_buffer().with_operator(custom_options=b"\x01"), ModelError, "cannot be read"),
        (_buffer().with_operator(custom_options=SPOILED[:-2]), ModelError, "cannot be read"),
        (_buffer().with_tensor("x", shape=(1, 2, 2, 3)), ModelError, "adds int8[1,2,2,3]"),
        (_buffer().with_tensor("x", shape=(1, 1, 2, 4)), ModelError, "adds int8[1,1,2,4]"),
        (_buffer().with_tensor("y", shape=(2, 4, 2, 3)), ModelError, "to the rows int8[2,4,2,3]"),
        (_buffer().with_tensor("y", shape=(24,)), ModelError, "4 dimensions are expected"),
        (_buffer().with_tensor("y", shape=(1, 2**30, 2, 3)), ModelError, "at most"),
        (_buffer().with_tensor("y", shape=(1, 2**25, 2, 3)), UnsupportedError, "takes"),
        (_buffer().with_tensor("y", scale=(0.25,)), ModelError, "they must be equal"),
        (_buffer().with_tensor("y", zero_point=(300,)), ModelError, "zero point"),
        (_buffer().with_tensor("x", dtype="float32", scale=()), UnsupportedError, "float32"),
        (_buffer().with_operator(inputs=()), ModelError, "0 inputs"),
        (_buffer().with_operator(inputs=("x", "x")), ModelError, "2 inputs"),
    ],
)
def test_impossible_buffers(network: Network, kind: type[MicrogenError], said: str) -> None:
    assert said in refusal(network, kind)


def test_spoiled_options_are_refused_or_read() -> None:
    rng, outcomes = np.random.default_rng(5), set()
    for _ in range(300):
        options = bytearray(SPOILED)
        for place in rng.integers(0, len(options), 2):
            options[place] = int(rng.integers(256))
        try:
            _buffer().with_operator(custom_options=bytes(options)).load()
            outcomes.add("read")
        except MicrogenError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
