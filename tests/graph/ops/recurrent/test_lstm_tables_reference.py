"""Integer LSTMs under ``--numerics tflm``, compared with TensorFlow Lite Micro's formulas."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.recurrent.lstm import OP, LstmAttrs
from tests.kernels.conformance import stateful
from tests.kernels.conformance.stateful import Network
from tests.kernels.recurrent import lstm_cases
from tests.kernels.recurrent.lstm_cases import GATES, Layer
from tests.kernels.recurrent.lstm_scalar import Scalar

TABLES = [DType.INT8, DType.INT16]


def _network(seed: int, dtype: DType) -> tuple[Layer, Network]:
    layer = lstm_cases.table_layer(seed, dtype)
    return layer, lstm_cases.network_of(layer, seed)


@pytest.mark.parametrize("block", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
@pytest.mark.parametrize("dtype", TABLES)
def test_sequences_equal_tflite_micro(dtype: DType, block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        layer, network = _network(seed, dtype)
        scalar = Scalar(layer)
        ours = stateful.by_reference(network, profile="tflm")
        for sample, found in zip(network.samples, ours, strict=True):
            assert found["y"].tolist() == scalar.run(sample.tolist()), seed
            assert found["output_state"].tolist() == scalar.states, seed
            assert found["cell_state"].tolist() == scalar.cells, seed


def test_random_layers_reach_every_limit() -> None:
    """Gates and cell states that are saturated, limits of 0, and both orders of the axes."""
    layers = [lstm_cases.table_layer(seed, DType.INT8) for seed in range(75)]
    assert {layer.time_major for layer in layers if layer.batch > 1 < layer.steps} == {True, False}
    clips = [layer.cell_clip / layer.scale["cell_state"] for layer in layers]
    assert min(clips) == 0
    assert any(0 < clip < 1 for clip in clips)
    cells = np.concatenate(
        [
            stateful.by_reference(_network(seed, DType.INT8)[1], profile="tflm")[-1]["cell_state"]
            for seed in range(75)
        ],
        axis=None,
    )
    assert {-32768, 32767} <= set(cells.tolist())


# The example of TensorFlow Lite Micro's own test, unidirectional_sequence_lstm_test.cc: real
# weights and inputs, their scales, the outputs in real numbers, and how far results may be off

INPUTS = [[[0.2, 0.3]] * 3, [[-0.98, 0.62], [0.01, 0.99], [0.49, -0.32]]]
LARGE = np.array([[10.0, 10.0], [20.0, 20.0]])
WEIGHTS = {"input": LARGE, "forget": -LARGE, "cell": np.ones((2, 2)), "output": np.ones((2, 2))}
BIASES = {"input": [-1, -2], "forget": [1, 2], "cell": [0, 0], "output": [0, 0]}
OUTPUTS = [
    [[0.26455893, 0.26870455], [0.47935803, 0.47937014], [0.58013272, 0.58013278]],
    [[-1.41184672e-3, -1.43329117e-5], [0.46887168, 0.46891281], [0.50054074, 0.50054148]],
]
CELLS = [[0.89740515, 0.8974053], [0.80327607, 0.80327785]]
OF_LARGE, OF_ONES = 0.15748031496062992, 0.007874015748031496
OF_DATA = {  # dtype: scales of input and output, zero point of the output, tolerance of the output
    DType.INT8: (0.00784313725490196, 0.004705882165580988, -21, 1e-2),
    DType.INT16: (3.0518044e-5, 2.1362956633198035e-05, 0, 1e-3),
}


def _example(dtype: DType) -> Network:
    of_input, of_output, zero, _ = OF_DATA[dtype]
    scale = {"x": of_input, "y": of_output, "hidden": of_output, "cell_state": 2.0**-12}
    constants = {}
    for gate in GATES:
        of_weight = OF_LARGE if gate in ("input", "forget") else OF_ONES
        stored = np.round(WEIGHTS[gate] / of_weight).astype(np.int8)
        bias = np.round(np.array(BIASES[gate]) / (of_weight * of_input))
        constants |= {f"weight_{gate}": stored, f"recurrent_{gate}": stored}
        constants[f"bias_{gate}"] = bias.astype(np.int32 if dtype is DType.INT8 else np.int64)
        scale |= {f"weight_{gate}": of_weight, f"recurrent_{gate}": of_weight}
    zeros = {"x": 0, "y": zero, "hidden": zero}
    sizes = (2, 3, 2, 2, 2, False, True, 6.0, 3.0)
    layer = Layer(*sizes, constants, scale, zeros, is_wide=dtype is DType.INT16)
    sample = np.round(np.array(INPUTS) / of_input).astype(dtype.numpy)
    return dataclasses.replace(lstm_cases.network_of(layer, 0, 1), samples=[sample])


@pytest.mark.parametrize("dtype", TABLES)
def test_the_example_of_tflite_micro(dtype: DType) -> None:
    _, of_output, zero, tolerance = OF_DATA[dtype]
    (found,) = stateful.by_reference(_example(dtype), profile="tflm")
    outputs = (found["y"].astype(float) - zero) * of_output
    np.testing.assert_allclose(outputs, OUTPUTS, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found["cell_state"] * 2.0**-12, CELLS, rtol=0, atol=1e-2)


# What the profiles have in common, and where they differ


def test_the_profiles_differ() -> None:
    network = lstm_cases.network(2, DType.INT8, is_plain=True)
    litert, micro = (stateful.by_reference(network, profile=p) for p in ("litert", "tflm"))
    differences = np.abs(
        np.stack([a["cell_state"] for a in litert]).astype(int)
        - np.stack([b["cell_state"] for b in micro])
    )
    assert 0 < differences.max() < 2**10


def test_the_intermediate_results_need_no_quantization() -> None:
    network = lstm_cases.network(2, DType.INT8, is_plain=True)
    operator = dataclasses.replace(network.operator, intermediates=())
    bare = dataclasses.replace(network, operator=operator)
    for left, right in zip(
        stateful.by_reference(network, profile="tflm"),
        stateful.by_reference(bare, profile="tflm"),
        strict=True,
    ):
        assert np.array_equal(left["y"], right["y"])


# Refusals


def _refusal(network: Network, profile: str = "tflm") -> str:
    with pytest.raises(MicrogenError) as caught:
        network.load(profile)
    return str(caught.value)


def test_variants_are_refused_by_name() -> None:
    layers = {seed: lstm_cases.random_layer(seed, DType.INT8) for seed in range(60)}
    expected = {
        "has no input gate of its own": lambda layer: not layer.has_input_gate,
        "has peepholes": lambda layer: bool(layer.peepholes),
        "has a projection": lambda layer: "projection" in layer.constants,
    }
    for seed, layer in layers.items():
        named = [what for what, is_there in expected.items() if is_there(layer)]
        network = lstm_cases.network_of(layer, seed)
        if named:
            assert f"{' and '.join(named)}, which TensorFlow Lite Micro refuses" in _refusal(
                network
            )
        else:
            network.load("tflm")


def test_twenty_inputs_are_refused() -> None:
    """TensorFlow Lite Micro expects all 24, with those of layer normalization absent."""
    network = lstm_cases.network(2, DType.INT8, is_plain=True)
    operator = dataclasses.replace(network.operator, inputs=network.operator.inputs[:20])
    short = dataclasses.replace(network, operator=operator)
    short.load("litert")
    assert "has 20 inputs" in _refusal(short)


def test_the_output_state_has_a_row_for_each_sequence() -> None:
    seed = next(s for s in range(9) if lstm_cases.table_layer(s, DType.INT8).batch > 1)
    layer, network = _network(seed, DType.INT8)
    size = layer.batch * layer.cells
    for shape in ((size,), (1, size)):
        tensors = [
            dataclasses.replace(t, shape=shape) if t.name == "output_state" else t
            for t in network.tensors
        ]
        changed = dataclasses.replace(network, tensors=tensors)
        changed.load("litert")
        assert f"a row of {layer.cells} for each sequence" in _refusal(changed)


def test_layer_normalization_is_refused_by_name() -> None:
    network = lstm_cases.network(2, DType.INT8, is_plain=True)
    operator = dataclasses.replace(
        network.operator, inputs=[*network.operator.inputs[:20], *["bias_input"] * 4]
    )
    assert "layer normalization" in _refusal(dataclasses.replace(network, operator=operator))


def test_int16_layers_need_the_profile() -> None:
    _, network = _network(0, DType.INT16)
    assert "int16 LSTMs with --numerics tflm" in _refusal(network, "litert")


def test_float_layers_are_the_same_under_both_profiles() -> None:
    network = lstm_cases.network(2, DType.FLOAT32)
    assert network.load("tflm").nodes == network.load("litert").nodes


def _changed(dtype: DType, name: str, **changes: object) -> Network:
    _, network = _network(0, dtype)
    tensors = [
        dataclasses.replace(t, **changes) if t.name == name else t  # type: ignore[arg-type]
        for t in network.tensors
    ]
    return dataclasses.replace(network, tensors=tensors)


@pytest.mark.parametrize("scale", [2.0**-31, 2.0**3, 2.0**-11 * 1.01])
def test_scales_of_the_cell_state(scale: float) -> None:
    assert "power of two" in _refusal(_changed(DType.INT8, "cell_state", scale=(scale,)))


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**2])
def test_extreme_scales_of_the_cell_state_are_computed(scale: float) -> None:
    layer = dataclasses.replace(lstm_cases.table_layer(0, DType.INT8), cell_clip=0)
    layer = dataclasses.replace(layer, scale={**layer.scale, "cell_state": scale})
    network, scalar = lstm_cases.network_of(layer, 0), Scalar(layer)
    for sample, found in zip(
        network.samples, stateful.by_reference(network, profile="tflm"), strict=True
    ):
        assert found["y"].tolist() == scalar.run(sample.tolist())
        assert found["cell_state"].tolist() == scalar.cells


@pytest.mark.parametrize("dtype", TABLES)
def test_a_scale_of_the_output_state_that_products_leave_int32_with(dtype: DType) -> None:
    assert "must exceed 2**-31" in _refusal(_changed(dtype, "output_state", scale=(2.0**-31,)))


@pytest.mark.parametrize("dtype", TABLES)
def test_scales_that_the_fixed_point_cannot_hold(dtype: DType) -> None:
    assert "too small" in _refusal(_changed(dtype, "weight_cell", scale=(1e9,)))


def test_zero_points_of_int16() -> None:
    for name in ("x", "output_state"):
        assert "0 is expected" in _refusal(_changed(DType.INT16, name, zero_point=(1,)))


def test_biases_have_the_width_of_the_accumulator() -> None:
    for dtype, other in ((DType.INT8, "int64"), (DType.INT16, "int32")):
        _, network = _network(0, dtype)
        tensors = [
            dataclasses.replace(t, dtype=other) if t.name.startswith("bias") else t
            for t in network.tensors
        ]
        assert "the bias is" in _refusal(dataclasses.replace(network, tensors=tensors))


def test_tables_go_with_four_gates() -> None:
    kinds = [
        ArrayType((1, 1, 3), DType.INT8, Quant((0.1,), (0,))),
        ArrayType((3, 5, 3), DType.INT8, Quant((0.1,) * 3, (0,) * 3, 0)),
        ArrayType((3, 5, 5), DType.INT8, Quant((0.1,) * 3, (0,) * 3, 0)),
        ArrayType((3, 5), DType.INT32),
        ArrayType((1, 5), DType.INT8, Quant((0.1,), (0,))),
        ArrayType((1, 5), DType.INT16, Quant((2.0**-11,), (0,))),
    ]
    output = ArrayType((1, 1, 5), DType.INT8, Quant((0.1,), (0,)))
    attrs = LstmAttrs(False, 0, 0, by_tables=True)
    assert "four gates" in str(OP.check(attrs, kinds, [output]))
