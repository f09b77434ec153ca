"""Networks of any number of calls.

Each has a shape in which the searches of microgen grow in another way: one line of layers, many
layers next to each other, short and long skip connections, joins of all earlier layers, large
images and long recurrences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from scripts.mobilenet_v2 import STAGES, STEM, channels
from scripts.scale import floats
from scripts.scale.builder import Net


def _chain(net: Net, calls: int) -> str:
    last = net.input(1, 8, 8, 8)
    for _ in range(calls):
        last = net.conv(last, 8)
    return last


def _wide(net: Net, calls: int) -> str:
    data = net.input(1, 8, 4, 4)
    return net.joined(*(net.conv(data, 2, size=1) for _ in range(calls - 1)))


def _residual(net: Net, calls: int) -> str:
    last = net.input(1, 8, 8, 8)
    for _ in range(calls // 3):
        last = net.add(last, net.conv(net.conv(last, 8), 8, relu=False))
    return last


def _unet(net: Net, calls: int) -> str:
    """Four levels, with as many convolutions at each as there are calls for."""
    each, last, kept = (calls - 9) // 7, net.input(1, 4, 32, 32), list[str]()
    for level in range(4):
        for _ in range(each):
            last = net.conv(last, 4 << level)
        if level < 3:
            kept.append(last)
            last = net.pool(last)
    for level in (2, 1, 0):
        last = net.joined(net.doubled(last), kept.pop())
        for _ in range(each):
            last = net.conv(last, 4 << level)
    return last


def _densenet(net: Net, calls: int) -> str:
    """Blocks of eight layers, each of which reads all the earlier ones of its block."""
    last = net.input(1, 8, 8, 8)
    for _ in range(calls // 16):
        parts = [last]
        for _ in range(7):
            parts.append(net.conv(net.joined(*parts) if len(parts) > 1 else last, 4))
        last = net.conv(net.joined(*parts), 8, size=1)
    return last


def _mobilenet(net: Net, calls: int) -> str:
    """Inverted residuals: expansions, depthwise convolutions and projections."""
    last = net.conv(net.input(1, 3, 64, 64), 8, stride=2)
    for number in range(calls // 4):
        inner = net.conv(last, 24, size=1)
        inner = net.conv(inner, 24, stride=2 if number in (1, 4) else 1, groups=24)
        inner = net.conv(inner, 8, size=1, relu=False)
        last = inner if number in (1, 4) else net.add(last, inner)
    return last


def _mobilenet_v2(net: Net, size: int) -> str:
    """MobileNetV2 with a width of 0.35, for images of ``size`` x ``size``."""
    last = net.conv(net.input(1, 3, size, size), channels(STEM * 0.35), stride=2)
    for expansion, count, blocks, first in STAGES:
        for block in range(blocks):
            stride, depth = first if block == 0 else 1, net.shapes[last][1]
            inner = net.conv(last, depth * expansion, size=1) if expansion > 1 else last
            inner = net.conv(inner, depth * expansion, stride=stride, groups=depth * expansion)
            inner = net.conv(inner, channels(count * 0.35), size=1, relu=False)
            last = inner if block == 0 else net.add(last, inner)
    return last


NETWORKS: Mapping[str, Callable[[Net, int], str]] = {
    "chain": _chain,
    "densenet": _densenet,
    "mobilenet": _mobilenet,
    "mobilenet_v2": _mobilenet_v2,
    "residual": _residual,
    "unet": _unet,
    "wide": _wide,
}


def make(name: str, number: int) -> onnx.ModelProto:
    """A network of about ``number`` calls; for mobilenet_v2, the height and width of its images;
    for lstm and gru, its steps; for transformer, its blocks. The same arguments give the same
    bytes."""
    if name in FLOATS:
        return FLOATS[name](number)
    net = Net(np.random.default_rng(number))
    return net.model(NETWORKS[name](net, number))


def _lstm(steps: int) -> onnx.ModelProto:
    """Four LSTM layers of eight float32 units."""
    random, units = np.random.default_rng(steps), 8
    nodes, constants, last = list[onnx.NodeProto](), list[onnx.TensorProto](), "input"
    for layer in range(4):
        names = [f"w{layer}", f"r{layer}", f"b{layer}"]
        for name, shape in zip(names, ((32, units), (32, units), (64,)), strict=True):
            values = random.normal(0, 0.3, (1, *shape)).astype(np.float32)
            constants.append(numpy_helper.from_array(values, name))
        nodes.append(helper.make_node("LSTM", [last, *names], [f"y{layer}"], hidden_size=units))
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", "axis"], [f"h{layer}"]))
        last = f"h{layer}"
    constants.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, (steps, 1, units))
        for name in ("input", last)
    ]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


FLOATS: Mapping[str, Callable[[int], onnx.ModelProto]] = {
    "gru": floats.gru,
    "lstm": _lstm,
    "transformer": floats.transformer,
}
