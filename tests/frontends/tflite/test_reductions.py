"""The TFLite frontend: reductions, positions of extremes, changes of scale."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tflite

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, ArgMinAttrs, MaxAttrs, MinAttrs
from microgen.graph.ops.reductions.l2_normalize import L2NormalizeAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs, SumAttrs
from tests.frontends.tweaked import Network, integers, refusal, simple
from tests.support.tflite_builder import TensorSpec


def _reduction(code: str, axes: list[int], output: tuple[int, ...], **options: bool) -> Network:
    constant = integers("axes", axes)
    return simple(code, (2, 3, 4), output, constant, options_type="ReducerOptions", **options)


def _arg(
    code: str, axis: object, *, dtype: str = "int32", scale: tuple[float, ...] = ()
) -> Network:
    options = "ArgMaxOptions" if code == "ARG_MAX" else "ArgMinOptions"
    number = getattr(tflite.TensorType, dtype.upper())
    constant = integers("axis", axis)
    network = simple(code, (2, 3, 4), (2, 4), constant, options_type=options, outputType=number)
    zero_point = (0,) * len(scale)
    return network.with_tensor("y", dtype=dtype, scale=scale, zero_point=zero_point)


@pytest.mark.parametrize(
    ("code", "op", "attrs"),
    [
        ("MEAN", "mean", MeanAttrs((0, 2), False)),
        ("SUM", "sum", SumAttrs((0, 2), False, is_unsigned=True)),
        ("REDUCE_MAX", "max", MaxAttrs((0, 2), False)),
        ("REDUCE_MIN", "min", MinAttrs((0, 2), False)),
    ],
)
def test_axes_may_be_negative_repeated_and_in_any_order(code: str, op: str, attrs: Attrs) -> None:
    (node,) = _reduction(code, [-1, 0, 2], (3,)).load().nodes
    assert (node.op, node.attrs) == (op, attrs)


def test_reduced_axes_may_stay() -> None:
    graph = _reduction("MEAN", [1], (2, 1, 4), keepDims=True).load()
    assert graph.nodes[0].attrs == MeanAttrs((1,), True)


def test_sums_are_signed_as_tflite_micro_has_them() -> None:
    graph = _reduction("SUM", [0], (3, 4)).load("tflm")
    assert graph.nodes[0].attrs == SumAttrs((0,), False, is_unsigned=False)
    assert graph.notes == ()


def test_a_note_says_that_litert_does_not_sum_int8() -> None:
    (note,) = _reduction("SUM", [0], (3, 4)).load().notes
    assert note == (
        "has results that are no sums, because LiteRT's SUM is wrong for int8 (--numerics tflm "
        'adds): "y"'
    )


@pytest.mark.parametrize(
    ("code", "attrs"), [("ARG_MAX", ArgMaxAttrs(1)), ("ARG_MIN", ArgMinAttrs(1))]
)
@pytest.mark.parametrize("axis", [1, -2, [1]])
def test_positions_are_plain_int32_outputs(code: str, attrs: Attrs, axis: object) -> None:
    graph = _arg(code, axis).load()
    assert graph.nodes[0].attrs == attrs
    assert graph.types["y"].dtype is DType.INT32
    assert graph.types["y"].quant is None


def test_changes_of_scale() -> None:
    network = simple("QUANTIZE", (2, 3), (2, 3)).with_tensor("y", scale=(0.25,))
    assert network.load().nodes[0].attrs == RequantizeAttrs()
    network = simple("L2_NORMALIZATION", (2, 3), (2, 3), options_type="L2NormOptions")
    network = network.with_tensor("y", scale=(1 / 128,), zero_point=(0,))
    assert network.load().nodes[0].attrs == L2NormalizeAttrs()


LAYER = 'm.tflite: layer "y" (ARG_MAX): '


def test_positions_may_be_int64() -> None:
    assert _arg("ARG_MAX", 1, dtype="int64").load().types["y"].dtype is DType.INT64


def test_quantized_positions_are_refused() -> None:
    assert refusal(_arg("ARG_MAX", 1, scale=(0.5,)), ModelError) == (
        LAYER + "the output is int32[2,4]; it must be int32 or int64 without quantization"
    )


def test_sums_of_plain_numbers_are_signed_in_every_profile() -> None:
    network = _reduction("SUM", [0], (3, 4))
    for name in "xy":
        network = network.with_tensor(name, dtype="float32", scale=(), zero_point=())
    assert network.load().nodes[0].attrs == SumAttrs((0,), False, is_unsigned=False)


def test_several_axes_for_a_position_are_refused() -> None:
    assert "has 2 axes; one is expected" in refusal(_arg("ARG_MAX", [0, 1]), ModelError)


def test_an_axis_beyond_the_rank_is_refused() -> None:
    assert "has the axis 3; -3 to 2 are expected" in refusal(
        _reduction("MEAN", [3], (2, 3)), ModelError
    )


def test_a_fused_activation_of_l2_normalization_is_refused() -> None:
    network = simple("L2_NORMALIZATION", (2, 3), (2, 3), options_type="L2NormOptions")
    network = network.with_options(fusedActivationFunction=1)
    assert "has a fused activation" in refusal(network, UnsupportedError)


def test_outputs_may_be_plain_int32_even_constants_or_listed_twice() -> None:
    network = _arg("ARG_MAX", 1).replace(outputs=("y", "y", "axis"))
    graph = network.load()
    assert graph.outputs == ("y", "y", "axis")


def test_inputs_may_be_plain_int32() -> None:
    network = _arg("ARG_MAX", 1)
    tensors = (*network.tensors, TensorSpec("n", (2,), "int32"))
    graph = replace(network, tensors=tensors, inputs=("x", "n")).load()
    assert graph.types["n"] == ArrayType((2,), DType.INT32)
