"""Image classifiers of ordinary convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.bench.networks.drawing import Activation
from scripts.bench.networks.layers import NONE, RELU
from scripts.bench.networks.mobile import Outputs, head
from scripts.bench.networks.recurrent import Net


def resnet(
    net: Net,
    size: int,
    counts: Sequence[int],
    blocks: int,
    classes: int,
    *,
    depth: int = 3,
    groups: int = 1,
) -> Outputs:
    """Residual blocks of two convolutions, of groups in ResNeXt's way."""
    data = net.conv(net.image(size, size, depth), counts[0], 3)
    for number, count in enumerate(counts):
        for block in range(blocks):
            stride = 2 if number and not block else 1
            inner = net.conv(net.conv(data, count, 3, stride, groups=groups), count, 3, act=NONE)
            if stride > 1 or data.reals.shape[3] != count:
                data = net.conv(data, count, 1, stride, act=NONE)
            data = net.two("ADD", data, inner, act=RELU)
    return head(net, data, classes)


def plain(
    net: Net,
    size: tuple[int, int, int],
    layers: Sequence[tuple[int, int, int]],
    units: Sequence[int],
    *,
    floats: bool = False,
) -> Outputs:
    """Convolutions (channels, filter, stride) and dense layers; all may begin and end as floats."""
    data = net.image(*size)
    if floats:
        data.dtype, data = "float32", net.stored(data)
    for count, kernel, stride in layers:
        data = net.conv(data, count, kernel, stride)
    data = net.pool("MAX_POOL_2D", data)
    _, rows, columns, depth = data.shape
    data = net.shaped(data, rows * columns * depth)
    for count in units[:-1]:
        data = net.dense(data, count, act=RELU)
    data = net.softmax(net.dense(data, units[-1]))
    return [net.floats(data) if floats else data]


def squeezenet(net: Net, size: int, fires: Sequence[tuple[int, int]], classes: int) -> Outputs:
    """Fire modules: a squeeze, and two convolutions of it beside each other."""
    data = net.conv(net.image(size, size, 3), 18, 3, 2)
    for number, (squeezed, count) in enumerate(fires):
        small = net.conv(data, squeezed)
        data = net.joined(net.conv(small, count), net.conv(small, count, 3))
        if number % 2 == 0:
            data = net.pool("MAX_POOL_2D", data, 3, 2)
    data = net.conv(data, classes)
    return [net.softmax(net.mean(data))]


def inception(net: Net, size: int, counts: Sequence[int], classes: int) -> Outputs:
    """Four paths, one of them through an average pool of overlapping windows."""
    data = net.conv(net.image(size, size, 3), 14, 3, 2)
    for count in counts:
        paths = (
            net.conv(data, count),
            net.conv(net.conv(data, count // 2), count, 3),
            net.conv(net.conv(data, count // 3), count // 2, 5),
            net.conv(net.pool("AVERAGE_POOL_2D", data, 3, 1, same=True), count // 2),
        )
        data = net.pool("MAX_POOL_2D", net.joined(*paths))
    return head(net, data, classes)


def densenet(net: Net, size: int, growth: int, blocks: Sequence[int], classes: int) -> Outputs:
    """Each layer sees all earlier ones of its block."""
    data = net.conv(net.image(size, size, 3), 2 * growth, 3, 2)
    for layers in blocks:
        for _ in range(layers):
            data = net.joined(data, net.conv(net.conv(data, 2 * growth), growth, 3))
        data = net.pool("AVERAGE_POOL_2D", net.conv(data, data.reals.shape[3] // 2))
    return head(net, data, classes)


def siamese(net: Net, size: int, counts: Sequence[int], units: int) -> Outputs:
    """Two images become embeddings by the same kinds of layers, and a number says how far apart
    they are."""
    ends = []
    for _ in range(2):
        data = net.image(size, size, 1)
        for count in counts:
            data = net.pool("MAX_POOL_2D", net.conv(data, count, 3))
        ends.append(net.dense(net.mean(data), units))
    apart = net.two("SQUARED_DIFFERENCE", *ends)
    return [net.one("LOGISTIC", net.dense(apart, 1))]


def elu(net: Net, size: int, counts: Sequence[int], classes: int) -> Outputs:
    """Convolutions with ELU, and overlapping average pools."""
    data = net.image(size, size, 2)
    for count in counts:
        data = net.one("ELU", net.conv(data, count, 3, act=NONE))
        data = net.pool("AVERAGE_POOL_2D", data, 3, 2, same=True)
    return head(net, data, classes)


def towers(net: Net, size: int, parts: int, count: int) -> Outputs:
    """Several heads of one image: landmarks, a score and boxes."""
    data = net.conv(net.image(size, size, 3), count, 5, 2)
    for _ in range(parts):
        data = net.conv(net.depthwise(data, 5, 2), data.reals.shape[3] * 2)
    flat = net.shaped(data, data.reals[0].size)
    scores = net.one("LOGISTIC", net.dense(flat, 1))
    return [net.dense(flat, 2 * 34, each=True), scores, _boxes(net, data)]


def _boxes(net: Net, data: Activation) -> Activation:
    made = net.conv(net.conv(data, 20, 3), 4 * 3, act=NONE)
    _, rows, columns, _ = made.shape
    return net.shaped(made, rows * columns * 3, 4)
