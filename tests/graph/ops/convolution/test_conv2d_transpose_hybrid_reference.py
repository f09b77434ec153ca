from __future__ import annotations

import numpy as np
import pytest

from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ops.base import Operands
from microgen.graph.ops.convolution.conv2d_transpose import (
    CONV2D_TRANSPOSE_HYBRID,
    Conv2DTransposeHybridAttrs,
)
from tests.frontends.tweaked import Network
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import FUSED, float_type, needs_litert
from tests.kernels.convolution.test_conv2d_transpose_hybrid import case
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def _network(found: c.Case) -> Network:
    attrs = found.attrs
    assert isinstance(attrs, Conv2DTransposeHybridAttrs)
    x, w, *b = found.inputs
    quant = w.type.quant
    assert quant is not None
    shape = (x.type.shape[0], *attrs.size, w.type.shape[0])
    zeros = (0,) * len(quant.scale)
    bias = [TensorSpec("b", tensor.type.shape, "float32", tensor.array) for tensor in b]
    options = {
        "padding": ("SAME", "VALID").index(str(attrs.padding)),
        "strideH": attrs.strides[0],
        "strideW": attrs.strides[1],
        "fusedActivationFunction": FUSED[attrs.activation],
    }
    inputs = ("s", "w", "x", *(tensor.name for tensor in bias))
    layer = OperatorSpec(
        "TRANSPOSE_CONV", inputs, ("y",), "TransposeConvOptions", options, version=4
    )
    tensors = (
        TensorSpec("s", (4,), "int32", np.array(shape, np.int32)),
        TensorSpec("w", w.type.shape, "int8", w.array, quant.scale, zeros, 0),
        TensorSpec("x", x.type.shape, "float32"),
        TensorSpec("y", shape, "float32"),
        *bias,
    )
    return Network(tensors, (layer,))


@needs_litert
@pytest.mark.parametrize("block", range(3))
def test_equals_litert(block: int) -> None:
    """Bit for bit: each product is scaled before it is added, in LiteRT's order."""
    for seed in range(block * 40, block * 40 + 40):
        found = case(seed)
        network = _network(found)
        (theirs,) = LiteRT().layers({"": network.to_bytes()}, [[found.inputs[0].array]])
        (node,) = network.load().nodes
        assert (node.op, node.attrs) == (found.op, found.attrs)
        arrays = tuple(tensor.array for tensor in found.inputs)
        output = float_type(theirs["y"].shape)
        operands = Operands(arrays, tuple(found.input_types), (output,))
        (ours,) = CONV2D_TRANSPOSE_HYBRID.reference(found.attrs, operands)
        assert_same(ours, theirs["y"], found)


def test_refusals() -> None:
    found = case(1)
    x, w, *_ = found.input_types
    output = float_type((*x.shape[:3], w.shape[0]))
    check = CONV2D_TRANSPOSE_HYBRID.check
    assert "it must be int8" in str(check(found.attrs, [x, float_type(w.shape)], [output]))
