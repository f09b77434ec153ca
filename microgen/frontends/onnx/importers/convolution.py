"""Conv: NHWC nodes between changes of layout, which the passes move and cancel."""

from __future__ import annotations

from microgen.arithmetic.terms import Activation, Rounding
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.ir.graph import DType
from microgen.ops.conv2d import Conv2DAttrs


def _conv(node: OnnxNode) -> Tensor:
    data, weight, bias = node.tensor(0), node.tensor(1), node.optional(2)
    node.expect(data, DType.FLOAT32)
    rank = arguments.spatial_rank(node, data)
    if rank != 2:
        raise node.unsupported(f"of {data.type} has no kernel", supported="two spatial axes")
    strides = node.ints("strides", (1,) * rank)
    dilations = node.ints("dilations", (1,) * rank)
    pads = node.ints("pads", (0,) * (2 * rank))
    top, left, bottom, right = pads
    attrs = Conv2DAttrs(
        (strides[0], strides[1]),
        (dilations[0], dilations[1]),
        (top, left, bottom, right),
        Activation.NONE,
        Rounding.DOUBLE,
    )
    inputs = (node.laid_out(data, "NCHW", "NHWC"), node.laid_out(weight, "OIHW", "OHWI"))
    found = node.emit("nn.conv2d", attrs, (*inputs, bias) if bias else inputs, hint="NHWC")
    return node.laid_out(found, "NHWC", "NCHW")


IMPORTERS = {"Conv": _conv}
