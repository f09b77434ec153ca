from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.recurrent.lstm import OP, LstmAttrs
from tests.kernels.conformance import stateful
from tests.kernels.conformance.litert_oracle import float_type, needs_litert
from tests.kernels.conformance.stateful import Network
from tests.kernels.recurrent import lstm_cases
from tests.support.sampling import seeds
from tests.support.tflite_builder import Ref

DTYPES = [DType.INT8, DType.FLOAT32]


BLOCKS = [pytest.param(block, marks=[pytest.mark.slow] * (block >= 2)) for block in range(8)]


@pytest.mark.sampled(1)
@needs_litert
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sequences_equal_litert(dtype: DType, block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        stateful.assert_equal(lstm_cases.network(seed, dtype))


@needs_litert
@pytest.mark.parametrize("dtype", DTYPES)
def test_layers_as_keras_has_them_equal_litert(dtype: DType) -> None:
    for seed in seeds(60):
        stateful.assert_equal(lstm_cases.network(1000 + seed, dtype, is_plain=True))


@needs_litert
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_reset_forgets_what_litert_forgets(dtype: DType) -> None:
    """The reset sets the int8 output state to its zero point."""
    for seed in seeds(20):
        stateful.assert_equal(lstm_cases.network(seed, dtype), reset_before=2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_state_matters(dtype: DType) -> None:
    """So the tests above would notice if the state were lost or not reset."""
    network = lstm_cases.network(1, dtype, is_plain=True)
    kept, reset = (stateful.by_reference(network, reset_before=n) for n in (0, 2))
    assert np.array_equal(kept[1]["y"], reset[1]["y"])
    assert not np.array_equal(kept[2]["y"], reset[2]["y"])


def test_time_major_is_the_transpose() -> None:
    """Only the data are transposed."""
    layer = lstm_cases.random_layer(5, DType.INT8, is_plain=True)
    batch_major = lstm_cases.network_of(layer, 5)
    turned = lstm_cases.network_of(dataclasses.replace(layer, time_major=True), 5)
    samples = [sample.swapaxes(0, 1) for sample in batch_major.samples]
    turned = dataclasses.replace(turned, samples=samples)
    for left, right in zip(*map(stateful.by_reference, (batch_major, turned)), strict=True):
        assert np.array_equal(left["y"], right["y"].swapaxes(0, 1))
        assert np.array_equal(left["cell_state"], right["cell_state"])


# Refusals


def _changed(network: Network, name: str, **changes: object) -> Network:
    tensors = [
        dataclasses.replace(t, **changes) if t.name == name else t  # type: ignore[arg-type]
        for t in network.tensors
    ]
    return dataclasses.replace(network, tensors=tensors)


def _rewired(network: Network, inputs: Sequence[Ref]) -> Network:
    operator = dataclasses.replace(network.operator, inputs=inputs)
    return dataclasses.replace(network, operator=operator)


def _with_options(network: Network, **options: float) -> Network:
    changed = {**network.operator.options, **options}
    operator = dataclasses.replace(network.operator, options=changed)
    return dataclasses.replace(network, operator=operator)


def _refusal(network: Network) -> str:
    with pytest.raises(MicrogenError) as caught:
        network.load()
    return str(caught.value)


@pytest.fixture
def integer() -> Network:
    return lstm_cases.network(2, DType.INT8, is_plain=True)


@pytest.fixture
def floating() -> Network:
    return lstm_cases.network(2, DType.FLOAT32, is_plain=True)


def test_hybrid_layers_are_refused_by_name(floating: Network) -> None:
    for gate in lstm_cases.GATES:
        name = f"weight_{gate}"
        shape = next(t.shape for t in floating.tensors if t.name == name)
        weights = {"dtype": "int8", "data": np.zeros(shape, np.int8)}
        floating = _changed(floating, name, **weights, scale=(0.1,), zero_point=(0,))
    assert "hybrid" in _refusal(floating)


def test_layer_normalization_is_refused_by_name(integer: Network) -> None:
    inputs = [*integer.operator.inputs[:20], "bias_input", "bias_input", "bias_input", "bias_input"]
    assert "layer normalization" in _refusal(_rewired(integer, inputs))


def test_an_activation_other_than_tanh(integer: Network) -> None:
    assert "supported: TANH" in _refusal(_with_options(integer, fusedActivationFunction=1))


def test_a_negative_limit(integer: Network) -> None:
    assert "0 or more" in _refusal(_with_options(integer, cellClip=-1.0))


def test_twenty_inputs_are_the_same_layer(integer: Network) -> None:
    short = _rewired(integer, integer.operator.inputs[:20])
    for left, right in zip(*map(stateful.by_reference, (integer, short)), strict=True):
        assert np.array_equal(left["y"], right["y"])
    assert "inputs" in _refusal(_rewired(integer, integer.operator.inputs[:19]))


@pytest.mark.parametrize("position", [1, 5, 12, 15])
def test_a_part_of_a_gate_that_is_missing(integer: Network, position: int) -> None:
    inputs = [*integer.operator.inputs]
    inputs[position] = -1
    assert "m.tflite" in _refusal(_rewired(integer, inputs))


def test_states_that_are_no_variables(integer: Network) -> None:
    assert '"cell_state"' in _refusal(_changed(integer, "cell_state", is_variable=False))


def test_states_of_another_size(integer: Network) -> None:
    assert "values are expected" in _refusal(_changed(integer, "cell_state", shape=(1, 1000)))


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        (2.0**-16, "--numerics tflm"),
        (2.0**-8, "--numerics tflm"),
        (2.0**-11 * 1.01, "power of two"),
    ],
)
def test_a_cell_state_that_tanh_is_not_defined_for(
    integer: Network, scale: float, said: str
) -> None:
    assert said in _refusal(_changed(integer, "cell_state", scale=(scale,)))


def test_no_quantization_of_the_hidden_state(integer: Network) -> None:
    operator = dataclasses.replace(integer.operator, intermediates=())
    assert "intermediate 4" in _refusal(dataclasses.replace(integer, operator=operator))
    assert "intermediate 4" in _refusal(_changed(integer, "hidden", scale=(), zero_point=()))


def test_scales_per_channel(integer: Network) -> None:
    cells = next(t.shape[0] for t in integer.tensors if t.name == "weight_cell")
    assert cells > 1
    scales = {"scale": (0.1,) * cells, "zero_point": (0,) * cells}
    assert "one scale per gate" in _refusal(_changed(integer, "weight_cell", **scales))


def test_scales_that_the_fixed_point_cannot_hold(integer: Network) -> None:
    assert "2**30" in _refusal(_changed(integer, "weight_cell", scale=(1e9,)))


def test_int8_peepholes_with_a_projection_to_another_number() -> None:
    """LiteRT would use the number of outputs as the number of cells."""
    kinds = [
        ArrayType((1, 1, 3), DType.INT8, Quant((0.1,), (0,))),
        ArrayType((4, 5, 3), DType.INT8, Quant((0.1,) * 4, (0,) * 4, 0)),
        ArrayType((4, 5, 2), DType.INT8, Quant((0.1,) * 4, (0,) * 4, 0)),
        ArrayType((4, 5), DType.INT32),
        ArrayType((1, 2), DType.INT8, Quant((0.1,), (0,))),
        ArrayType((1, 5), DType.INT16, Quant((2.0**-11,), (0,))),
        ArrayType((3, 5), DType.INT16, Quant((1e-5,) * 3, (0,) * 3, 0)),
        ArrayType((2, 5), DType.INT8, Quant((0.1,), (0,))),
    ]
    attrs = LstmAttrs(False, 0, 0, True, True, Quant((0.1,), (0,)))
    output = ArrayType((1, 1, 2), DType.INT8, Quant((0.1,), (0,)))
    assert OP.infer(attrs, kinds) == ((1, 1, 2),)
    assert "both must be equal" in str(OP.check(attrs, kinds, [output]))


def test_a_peephole_of_a_scale_that_products_leave_int32_with() -> None:
    seed = next(s for s in range(50) if lstm_cases.random_layer(s, DType.INT8).peepholes)
    network = lstm_cases.network(seed, DType.INT8)
    assert "at most 1" in _refusal(_changed(network, "peephole_forget", scale=(1.0,)))


@pytest.mark.parametrize("position", range(4))
def test_shapes_that_do_not_fit(position: int) -> None:
    shapes = [(1, 2, 3), (4, 5, 3), (4, 5, 5), (4, 5), (1, 5), (1, 5)]
    assert OP.infer(LstmAttrs(False, 0, 0), [float_type(s) for s in shapes]) == ((1, 2, 5),)
    shapes[position] = (*shapes[position][:-1], 7)
    with pytest.raises(ValueError, match=r"expected|outputs"):
        OP.infer(LstmAttrs(False, 0, 0), [float_type(s) for s in shapes])
