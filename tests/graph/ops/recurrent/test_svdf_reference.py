from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from microgen.graph.ops.recurrent.svdf import OP, SvdfAttrs
from tests.kernels.conformance import stateful
from tests.kernels.conformance.litert_oracle import activation_type, float_type, needs_litert
from tests.kernels.conformance.stateful import Network
from tests.kernels.recurrent import svdf_cases
from tests.support.tflite_builder import TensorSpec, build_model

DTYPES = [DType.INT8, DType.FLOAT32]


@pytest.mark.sampled(4)
@needs_litert
@pytest.mark.parametrize("block", range(6))
@pytest.mark.parametrize("dtype", DTYPES)
def test_sequences_equal_litert(dtype: DType, block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        stateful.assert_equal(svdf_cases.network(seed, dtype))


@needs_litert
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_reset_forgets_what_litert_forgets(dtype: DType) -> None:
    for seed in range(20):
        stateful.assert_equal(svdf_cases.network(seed, dtype), reset_before=3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_state_matters(dtype: DType) -> None:
    """So the tests above would notice if the state were lost or not reset."""
    network = svdf_cases.network(4, dtype)
    kept, reset = (stateful.by_reference(network, reset_before=n) for n in (0, 3))
    assert np.array_equal(kept[2]["y"], reset[2]["y"])
    assert not np.array_equal(kept[3]["y"], reset[3]["y"])


def _changed(network: Network, name: str, **changes: object) -> Network:
    tensors = [dataclasses.replace(t, **changes) if t.name == name else t for t in network.tensors]  # type: ignore[arg-type]
    return dataclasses.replace(network, tensors=tensors)


def _refusal(network: Network) -> str:
    with pytest.raises(MicrogenError) as caught:
        network.load()
    return str(caught.value)


def test_hybrid_layers_are_refused_by_name() -> None:
    network = svdf_cases.network(0, DType.FLOAT32)
    feature = next(t for t in network.tensors if t.name == "feature")
    hybrid = _changed(
        network,
        "feature",
        dtype="int8",
        data=np.zeros(feature.shape, np.int8),
        scale=(0.1,),
        zero_point=(0,),
    )
    assert "hybrid" in _refusal(hybrid)


def test_a_state_that_is_no_variable() -> None:
    network = svdf_cases.network(0, DType.INT8)
    assert '"state"' in _refusal(_changed(network, "state", is_variable=False))


def test_a_state_with_values_of_its_own() -> None:
    network = svdf_cases.network(0, DType.INT8)
    shape = next(t.shape for t in network.tensors if t.name == "state")
    values = np.ones(shape, np.int16)
    assert "begin at 0" in _refusal(_changed(network, "state", data=values))


def test_two_readers_of_a_state() -> None:
    network = svdf_cases.network(0, DType.INT8)
    again = TensorSpec("z", *(dataclasses.astuple(network.tensors[-1])[1:]))
    second = dataclasses.replace(network.operator, outputs=["z"])
    data = build_model([*network.tensors, again], [network.operator, second], ["x"], ["y", "z"])
    with pytest.raises(MicrogenError, match="more than one reader"):
        frontend.load(data, file="m.tflite", numerics=numerics.profile("litert"))


def test_an_int8_state() -> None:
    network = svdf_cases.network(0, DType.INT8)
    assert "state is int8" in _refusal(_changed(network, "state", dtype="int8"))


def test_a_wrong_size_of_the_state() -> None:
    network = svdf_cases.network(0, DType.INT8)
    assert "is expected" in _refusal(_changed(network, "state", shape=(1, 1000)))


def test_activations_other_than_relu_of_integers() -> None:
    network = svdf_cases.network(0, DType.INT8)
    options = {**network.operator.options, "fusedActivationFunction": 0}
    operator = dataclasses.replace(network.operator, options=options)
    assert "must be relu" in _refusal(dataclasses.replace(network, operator=operator))


def test_scales_that_the_fixed_point_cannot_hold() -> None:
    network = svdf_cases.network(0, DType.INT8)
    assert "2**30" in _refusal(_changed(network, "y", scale=(1e-37,)))
    assert "too small" in _refusal(_changed(network, "state", scale=(1e-9,)))


@pytest.mark.parametrize("rank", [0, 2, -1])
def test_a_rank_that_does_not_divide_the_filters(rank: int) -> None:
    types = [float_type(shape) for shape in ((1, 4), (3, 4), (3, 2), (1, 6))]
    with pytest.raises(ValueError, match="a divisor of the 3 filters"):
        OP.infer(SvdfAttrs(rank, Activation.NONE), types)


def test_the_data_must_be_int8_or_float32() -> None:
    types = [activation_type(shape, 1.0, 0) for shape in ((1, 4), (3, 4), (3, 2), (1, 6))]
    output = dataclasses.replace(activation_type((1, 3), 1.0, 0), dtype=DType.INT16)
    sentence = OP.check(SvdfAttrs(1, Activation.RELU), types, [output])
    assert "one dtype" in str(sentence)


def _high(x: int, multiplier: int) -> int:
    """Gemmlowp's SaturatingRoundingDoublingHighMul."""
    product = x * multiplier
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    return abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)


def _scaled(x: int, scale: np.float32) -> int:
    """TFLite Micro's MultiplyByQuantizedMultiplier of an int32 in Python's integers."""
    fraction, shift = math.frexp(float(scale))
    multiplier = round(fraction * 2**31)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    if shift < -31:
        return 0
    shifted = (x * 2 ** max(shift, 0) + 2**31) % 2**32 - 2**31
    high, right = _high(shifted, multiplier), max(-shift, 0)
    rest = high & (2**right - 1)
    return (high >> right) + (rest > ((2**right - 1) >> 1) + (high < 0))


def _by_micro(network: Network) -> list[list[list[int]]]:
    """The outputs of all runs: TFLite Micro's formula, step by step, for one layer."""
    tensors = {tensor.name: tensor for tensor in network.tensors}
    scale = {name: np.float32(tensor.scale[0]) for name, tensor in tensors.items() if tensor.scale}
    zero = {name: tensor.zero_point[0] for name, tensor in tensors.items() if tensor.scale}
    feature, time = (np.array(tensors[name].data).tolist() for name in ("feature", "time"))
    to_state = scale["x"] * scale["feature"] / scale["state"]
    to_output = scale["state"] * scale["time"] / scale["y"]
    units = tensors["y"].shape[1]
    bias = np.array(tensors["bias"].data).tolist() if "bias" in tensors else [0] * units
    rank = len(feature) // units
    memories = [[[zero["state"]] * len(time[0]) for _ in feature] for _ in network.samples[0]]
    found = []
    for x in network.samples:
        rows = []
        for row, memory in zip(x.tolist(), memories, strict=True):
            sums = []
            for f, weights in enumerate(feature):
                dot = sum(w * (v - zero["x"]) for w, v in zip(weights, row, strict=True))
                latest = min(max(_scaled(dot, to_state), -128), 127) + zero["state"]
                latest = (latest + 128) % 256 - 128
                memory[f] = [*memory[f][1:], latest]
                seen = (value - zero["state"] for value in memory[f])
                sums.append(sum(w * v for w, v in zip(time[f], seen, strict=True)))
            totals = [b + sum(sums[u * rank : (u + 1) * rank]) for u, b in enumerate(bias)]
            wrapped = [(total + 2**31) % 2**32 - 2**31 for total in totals]
            rows.append([min(max(_scaled(t, to_output) + zero["y"], -128), 127) for t in wrapped])
        found.append(rows)
    return found


@pytest.mark.parametrize("block", range(3))
def test_sequences_with_an_int8_memory_equal_tflite_micro(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        network = svdf_cases.network(seed, DType.INT8, is_narrow=True)
        graph = _loaded(network)
        state = initial_state(graph)
        ours = [evaluate(graph, {"x": x}, registry(), state)["y"].tolist() for x in network.samples]
        assert ours == _by_micro(network), seed


def _loaded(network: Network) -> Graph:
    data = build_model(network.tensors, [network.operator], ["x"], ["y"])
    return frontend.load(data, file="m.tflite", numerics=numerics.profile("tflm"))


def test_an_int8_memory_is_tflite_micro_s() -> None:
    network = svdf_cases.network(0, DType.INT8, is_narrow=True)
    assert "int8 for both with --numerics tflm" in _refusal(network)
    with pytest.raises(MicrogenError, match="the state is int16"):
        _loaded(_changed(network, "state", dtype="int16", zero_point=(0,)))
