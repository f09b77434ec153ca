"""The TFLite frontend: what sound models become."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from microgen import frontends
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType, Graph, Origin, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from tests.frontends.tweaked import (
    Network,
    activation,
    conv2d,
    dense,
    depthwise,
    int8_constant,
    integers,
    simple,
)
from tests.support.tflite_builder import OperatorSpec, TensorSpec

NONE, DOUBLE, SINGLE = Activation.NONE, Rounding.DOUBLE, Rounding.SINGLE


def only_attrs(graph: Graph) -> object:
    (node,) = graph.nodes
    assert isinstance(node.attrs, registry()[node.op].attrs)
    return node.attrs


def test_a_convolution_keeps_types_constants_and_its_layers_name() -> None:
    graph = conv2d().load()
    (node,) = graph.nodes
    assert (graph.name, graph.inputs, graph.outputs) == ("m", ("x",), ("y",))
    assert (node.op, node.inputs, node.outputs) == ("nn.conv2d", ("x", "w", "b"), ("y",))
    assert node.origin == Origin("m.tflite", "y")
    assert graph.types["x"].quant == Quant((0.5,), (3,))
    assert graph.types["w"].quant == Quant((0.25, 0.5, 0.125), (0, 0, 0), axis=0)
    assert graph.types["b"].dtype is DType.INT32
    assert graph.constants["b"].tolist() == [1, -2, 3]
    assert not graph.constants["w"].flags.writeable


def test_scales_keep_float32_precision() -> None:
    graph = conv2d().with_tensor("x", scale=(0.1,)).load()
    assert graph.types["x"].scale == float(np.float32(0.1)) != 0.1


def test_a_convolutions_options_are_all_read() -> None:
    network = conv2d(
        padding=0, strideH=2, strideW=1, dilationHFactor=1, dilationWFactor=2,
        fusedActivationFunction=3,
    ).with_tensor("y", shape=(1, 2, 4, 3))  # fmt: skip
    assert only_attrs(network.load()) == Conv2DAttrs(
        (2, 1), (1, 2), "SAME", Activation.RELU6, DOUBLE
    )


def test_a_missing_bias_is_not_listed() -> None:
    for inputs in (("x", "w"), ("x", "w", -1)):
        (node,) = conv2d().with_operator(inputs=inputs).load().nodes
        assert node.inputs == ("x", "w")


def test_a_bias_of_another_rank_is_flattened() -> None:
    graph = conv2d().with_tensor("b", shape=(1, 1, 1, 3)).load()
    assert graph.nodes[0].inputs == ("x", "w", "b#2")
    assert graph.types["b#2"].shape == (3,)
    assert "b" not in graph.types


def test_the_depth_multiplier_comes_from_the_shapes_where_it_is_not_stated() -> None:
    for stated in (0, 2):
        assert only_attrs(depthwise(depthMultiplier=stated).load()) == DepthwiseConv2DAttrs(
            (1, 1), (1, 1), "SAME", 2, NONE, DOUBLE
        )


@pytest.mark.parametrize(("profile", "rounding"), [("litert", SINGLE), ("tflm", DOUBLE)])
def test_the_profile_decides_the_rounding_of_dense(profile: str, rounding: Rounding) -> None:
    assert only_attrs(dense(2, 4).load(profile)) == DenseAttrs(NONE, rounding, False)


def test_dense_flattens_its_input_with_a_reshape_of_its_own() -> None:
    graph = dense(1, 2, 2, 2).load()
    reshape, node = graph.nodes
    assert reshape.attrs == ReshapeAttrs((2, 4))
    assert (reshape.outputs, node.inputs) == (("y/flatten",), ("y/flatten", "w"))
    assert graph.types["y/flatten"].quant == graph.types["x"].quant
    assert reshape.origin == node.origin == Origin("m.tflite", "y")


def test_dense_may_keep_its_dimensions() -> None:
    graph = dense(1, 2, 4, output=(1, 2, 3), keepNumDims=True).load()
    assert only_attrs(graph) == DenseAttrs(NONE, SINGLE, True)


def test_pools_read_window_and_strides() -> None:
    options = {
        "padding": 1, "strideH": 2, "strideW": 1, "filterHeight": 2, "filterWidth": 3,
        "fusedActivationFunction": 1,
    }  # fmt: skip
    for code, attrs in (("AVERAGE_POOL_2D", AvgPool2DAttrs), ("MAX_POOL_2D", MaxPool2DAttrs)):
        network = simple(code, (1, 4, 4, 2), (1, 2, 2, 2), options_type="Pool2DOptions", **options)
        assert only_attrs(network.load()) == attrs((2, 3), (2, 1), "VALID", Activation.RELU)


def test_softmax_reads_beta() -> None:
    network = simple("SOFTMAX", (1, 4), (1, 4), options_type="SoftmaxOptions", beta=0.5)
    network = network.with_tensor("y", scale=(1 / 256,), zero_point=(-128,))
    assert only_attrs(network.load()) == SoftmaxAttrs(0.5)


def test_add_broadcasts_a_constant() -> None:
    constant = int8_constant("c", 2, scale=(0.25,))
    graph = simple("ADD", (1, 4, 2), (1, 4, 2), constant, options_type="AddOptions").load()
    assert only_attrs(graph) == AddAttrs(NONE)
    assert graph.constants["c"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("RELU", Activation.RELU),
        ("RELU6", Activation.RELU6),
        ("RELU_N1_TO_1", Activation.RELU_N1_TO_1),
    ],
)
def test_relus_become_clips(code: str, wanted: Activation) -> None:
    assert only_attrs(simple(code, (1, 4), (1, 4)).load()) == ClipAttrs(wanted)


@pytest.mark.parametrize(
    "network",
    [
        simple("RESHAPE", (1, 2, 2), (1, 4), integers("s", [1, -1])),
        simple("RESHAPE", (1, 2, 2), (1, 4), options_type="ReshapeOptions", newShape=[-1, 4]),
        simple("SQUEEZE", (1, 4, 1, 1), (1, 4), options_type="SqueezeOptions", squeezeDims=[2, -1]),
        simple("SQUEEZE", (4, 1), (4,)),
        simple("EXPAND_DIMS", (4,), (1, 4), integers("a", 0)),
        simple("EXPAND_DIMS", (2, 2), (2, 2, 1), integers("a", [-1], "int64")),
    ],
)
def test_view_operators_become_reshapes_and_leave_no_constant(network: Network) -> None:
    graph = network.load()
    assert only_attrs(graph) == ReshapeAttrs(graph.types["y"].shape)
    assert graph.constants == {}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_pad_fills_with_the_zero_point(dtype: str) -> None:
    pads = integers("p", [[0, 0], [1, 2]], dtype)
    assert only_attrs(simple("PAD", (1, 4), (1, 7), pads).load()) == PadAttrs(((0, 0), (1, 2)), 3)


def test_padv2_fills_with_its_constant() -> None:
    pads = integers("p", [[0, 0], [1, 2]])
    value = TensorSpec("v", (), "int8", np.array(-7), (0.5,), (3,))
    network = simple("PADV2", (1, 4), (1, 7), pads, value)
    assert only_attrs(network.load()) == PadAttrs(((0, 0), (1, 2)), -7)


def test_tensors_that_nothing_uses_are_dropped_unseen() -> None:
    network = conv2d()
    stray = TensorSpec("stray", (0, -5), "string", is_variable=True)
    graph = network.replace(tensors=(*network.tensors, stray)).load()
    assert sorted(graph.types) == ["b", "w", "x", "y"]


def test_equal_and_empty_names_become_unique() -> None:
    names = ("a", "a", "a", "", "")
    tensors = tuple(activation(name, 1, 4) for name in names)
    relus = tuple(OperatorSpec("RELU", (i,), (i + 1,)) for i in range(4))
    graph = Network(tensors, relus, (0,), (4,)).load()
    assert tuple(graph.types) == ("a", "tensor#2", "a#2", "a#3", "tensor")
    assert [node.outputs[0] for node in graph.nodes] == ["a#2", "a#3", "tensor", "tensor#2"]


def relu_of(name: str) -> Network:
    tensors = (activation(name, 1, 4), activation("y", 1, 4))
    return Network(tensors, (OperatorSpec("RELU", (0,), (1,)),), inputs=(0,))


def test_odd_names_are_kept() -> None:
    odd = 'a*/b\n"%s"??/' + "x" * 5000
    assert relu_of(odd).load().inputs == (odd,)


def test_invalid_utf8_in_names_is_replaced() -> None:
    data = relu_of("QQQQ").to_bytes().replace(b"QQQQ", b"Q\xffQ\xfe")
    graph = frontend.load(data, file="m.tflite", numerics=numerics.profile("litert"))
    assert graph.inputs == ("Q\ufffdQ\ufffd",)


def test_a_dynamic_batch_in_the_signature_is_fine_where_the_shape_is_concrete() -> None:
    network = simple("RELU", (1, 4), (1, 4)).with_tensor("x", shape_signature=(-1, 4))
    assert network.load().types["x"].shape == (1, 4)


@pytest.mark.parametrize(
    ("file", "nodes"),
    [
        ("ad01_int8", 10),
        ("kws_ref_model", 13),
        ("pretrainedResnet_quant", 16),
        ("str_ww_ref_model", 11),
        ("vww_96_int8", 31),
    ],
)
def test_the_mlperf_models_load_fast(file: str, nodes: int, mlperf_models: Path) -> None:
    path = mlperf_models / f"{file}.tflite"
    frontends.load(path)  # imports what it needs
    start = time.process_time()
    graph = frontends.load(path)
    assert time.process_time() - start < 0.3
    assert len(graph.nodes) == nodes


def test_each_output_of_an_operator_is_a_layer_of_its_own() -> None:
    parts = tuple(activation(name, 1, 2) for name in ("y", "z"))
    network = Network(
        (integers("axis", 1), activation("x", 1, 4), *parts),
        (OperatorSpec("SPLIT", ("axis", "x"), ("y", "z"), "SplitOptions", {"numSplits": 2}),),
        outputs=("y", "z"),
    )
    assert [node.origin.layer for node in network.load().nodes] == ["y", "z"]
