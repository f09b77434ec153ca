"""Networks whose results are images or maps."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.bench.networks.drawing import Activation
from scripts.bench.networks.layers import NONE, RELU
from scripts.bench.networks.mobile import Outputs
from scripts.bench.networks.recurrent import Net


def unet(
    net: Net, rows: int, columns: int, counts: Sequence[int], classes: int, way: str
) -> Outputs:
    """``way`` is how images grow: nearest, bilinear or transposed."""
    data, kept = net.image(rows, columns, 3), []
    for count in counts[:-1]:
        data = net.conv(net.conv(data, count, 3), count, 3)
        kept.append(data)
        data = net.pool("MAX_POOL_2D", data)
    data = net.conv(data, counts[-1], 3)
    for count, other in zip(counts[-2::-1], kept[::-1], strict=True):
        if way == "transposed":
            data = net.transposed(data, count)
        else:
            data = net.enlarged(data, smooth=way == "bilinear")
        data = net.conv(net.joined(other, data), count, 3)
    return [net.one("LOGISTIC", net.conv(data, classes, act=NONE))]


def yolo(net: Net, size: int, counts: Sequence[int], anchors: int, classes: int) -> Outputs:
    """A tiny YOLO with leaky ReLUs and maps of two sizes."""
    data, middle = net.image(size, size, 3), None
    for number, count in enumerate(counts):
        data = net.leaky(net.conv(data, count, 3, act=NONE))
        middle = data if number == len(counts) - 2 else middle
        if number < len(counts) - 1:
            data = net.pool("MAX_POOL_2D", data)
    coarse = net.conv(data, anchors * (5 + classes), act=NONE)
    assert middle is not None
    grown = net.enlarged(net.leaky(net.conv(data, counts[-1] // 2, act=NONE)))
    fine = net.conv(net.joined(grown, middle), anchors * (5 + classes), act=NONE)
    return [net.one("LOGISTIC", coarse), net.one("LOGISTIC", fine)]


def dilated(net: Net, size: int, count: int, rates: Sequence[int], classes: int) -> Outputs:
    """A segmentation by dilated convolutions of several rates beside each other."""
    data = net.conv(net.conv(net.image(size, size, 3), count, 3, 2), count, 3)
    paths = [net.conv(data, count // 2, 3, dilation=rate) for rate in rates]
    paths.append(net.depthwise(data, 3, dilation=2))
    data = net.conv(net.joined(*paths), count)
    return [net.enlarged(net.conv(data, classes, act=NONE), smooth=True)]


def super_resolution(
    net: Net, size: tuple[int, int], count: int, layers: int, factor: int
) -> Outputs:
    """A larger image, from channels."""
    image = net.image(*size, 1)
    first = data = net.conv(image, count, 5)
    for _ in range(layers):
        data = net.conv(data, count, 3)
    data = net.two("ADD", first, data)
    return [net.spread(net.conv(data, factor**2, 3, act=NONE), factor)]


def autoencoder(net: Net, size: int, counts: Sequence[int]) -> Outputs:
    """An image through a few numbers, and back by transposed convolutions."""
    data = net.image(size, size, 1)
    for count in counts:
        data = net.conv(data, count, 3, 2)
    _, rows, columns, depth = data.shape
    small = net.dense(net.shaped(data, rows * columns * depth), 20)
    data = net.shaped(net.dense(small, rows * columns * depth, act=RELU), rows, columns, depth)
    for count in (*counts[-2::-1], 1):
        data = net.transposed(data, count, act=NONE if count == 1 else RELU)
    return [net.one("LOGISTIC", data)]


def generator(net: Net, start: int, counts: Sequence[int]) -> Outputs:
    """An image from random numbers."""
    data = net.dense(net.sequence(40), start * start * counts[0], act=RELU)
    data = net.shaped(data, start, start, counts[0])
    for count in counts[1:]:
        data = net.transposed(data, count, 5)
    return [net.one("TANH", net.conv(data, 3, 3, act=NONE))]


def padded(net: Net, rows: int, columns: int, counts: Sequence[int]) -> Outputs:
    """Convolutions after a PAD, as PyTorch's converters write them, and an end in halves."""
    data = net.image(rows, columns, 3)
    for number, count in enumerate(counts):
        data = _padded(net, data, 1)
        data = net.conv(data, count, 3, 2 if number % 2 else 1, same=False)
    return [net.conv(data, 6, act=NONE), net.mean(data)]


def _padded(net: Net, data: Activation, by: int) -> Activation:
    return net.padded(data, (by, by), (by, by), (0, 0))
