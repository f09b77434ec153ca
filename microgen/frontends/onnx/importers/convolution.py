"""Conv: NHWC nodes between changes of layout, which the passes move and cancel."""

from __future__ import annotations

from microgen.frontends.onnx import convolving, windows
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor


def _conv(node: OnnxNode) -> Tensor:
    """Source: ONNX's specification of Conv; in the weight, O is the first axis."""
    data, weight, bias = node.tensor(0), node.tensor(1), node.optional(2)
    rank = arguments.spatial_rank(node, data)
    groups = arguments.groups(node, data, weight, bias)
    if weight.shape[1] * groups != data.shape[1] or weight.shape[0] % groups:
        raise node.invalid(
            f"has the weight {weight.type} and {groups} groups for the input {data.type}"
        )
    kernel = windows.kernel_shape(node, rank, weight.shape[2:])
    window = windows.window(node, data.shape[2:], kernel)
    filters = convolving.Filters(weight, bias, groups)
    found = convolving.convolved(node, convolving.channels_last(node, data), filters, window)
    return convolving.channels_second(node, found)


IMPORTERS = {"Conv": _conv}
