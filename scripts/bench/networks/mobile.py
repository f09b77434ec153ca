"""Image classifiers of depthwise and pointwise convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.bench.networks.drawing import Activation
from scripts.bench.networks.layers import NONE, RELU, RELU6
from scripts.bench.networks.recurrent import Net

Outputs = list[Activation]
Stage = tuple[int, int, int, int]  # filter's size, expansion, channels, stride


def head(net: Net, data: Activation, classes: int) -> Outputs:
    """Probabilities from the mean of an image."""
    return [net.softmax(net.dense(net.mean(data), classes))]


def inverted(net: Net, data: Activation, stage: Stage, act: int = RELU6) -> Activation:
    """An inverted residual of MobileNetV2."""
    kernel, expansion, count, stride = stage
    depth = data.reals.shape[3]
    inner = net.conv(data, depth * expansion, act=act) if expansion > 1 else data
    made = net.conv(net.depthwise(inner, kernel, stride, act=act), count, act=NONE)
    return net.two("ADD", data, made) if stride == 1 and count == depth else made


def efficientnet_lite(
    net: Net, size: int, stem: int, stages: Sequence[Stage], last: int, classes: int
) -> Outputs:
    """Also MCUNet, whose stages have more kinds of filters."""
    data = net.conv(net.image(size, size, 3), stem, 3, 2, act=RELU6)
    for stage in stages:
        data = inverted(net, data, stage)
    return head(net, net.conv(data, last, act=RELU6), classes)


def _hard_sigmoid(net: Net, data: Activation) -> Activation:
    shifted = net.two("ADD", data, net.number(3.0))
    return net.two("MUL", net.one("RELU", shifted), net.number(1 / 6))


def _excited(net: Net, data: Activation, ratio: int) -> Activation:
    """Channels weighted by what a squeeze-and-excite makes of their means."""
    depth = data.reals.shape[3]
    squeezed = net.conv(net.mean(data, keep=True), max(4, depth // ratio))
    return net.two("MUL", data, _hard_sigmoid(net, net.conv(squeezed, depth, act=NONE)))


def mobilenet_v3(net: Net, size: int, stages: Sequence[Stage], last: int, classes: int) -> Outputs:
    """Blocks with hard-swish, every second one with squeeze-and-excite."""
    data = net.one("HARD_SWISH", net.conv(net.image(size, size, 3), 12, 3, 2, act=NONE))
    for number, (kernel, expansion, count, stride) in enumerate(stages):
        depth = data.reals.shape[3]
        inner = net.one("HARD_SWISH", net.conv(data, depth * expansion, act=NONE))
        inner = net.one("HARD_SWISH", net.depthwise(inner, kernel, stride, act=NONE))
        if number % 2:
            inner = _excited(net, inner, 4)
        made = net.conv(inner, count, act=NONE)
        data = net.two("ADD", data, made) if stride == 1 and count == depth else made
    return head(net, net.one("HARD_SWISH", net.conv(data, last, act=NONE)), classes)


def fomo(net: Net, size: int, stages: Sequence[Stage], classes: int) -> Outputs:
    """A coarse map of probabilities of objects."""
    data = net.conv(net.image(size, size, 1), 10, 3, 2, act=RELU6)
    for stage in stages:
        data = inverted(net, data, stage)
    return [net.softmax(net.conv(net.conv(data, 24), classes, act=NONE))]


def ghostnet(net: Net, size: int, counts: Sequence[int], classes: int) -> Outputs:
    """Half of the channels of each layer are made by depthwise filters of the other half."""
    data = net.conv(net.image(size, size, 3), 8, 3, 2)
    for number, count in enumerate(counts):
        primary = net.conv(data, count // 2)
        data = net.joined(primary, net.depthwise(primary, 3))
        if number % 2:
            data = net.depthwise(data, 3, 2, act=NONE)
    return head(net, data, classes)


def shufflenet(net: Net, size: int, counts: Sequence[int], classes: int) -> Outputs:
    """ShuffleNet V2: half of the channels pass by, and both halves are shuffled."""
    data = net.pool("MAX_POOL_2D", net.conv(net.image(size, size, 3), 12, 3, 2), 3, 2, same=True)
    for count in counts:
        beside = net.conv(net.depthwise(data, 3, 2, act=NONE), count // 2)
        inner = net.conv(net.depthwise(net.conv(data, count // 2), 3, 2, act=NONE), count // 2)
        data = _shuffled(net, net.joined(beside, inner), 2)
        kept, inner = net.split(data, 2)
        inner = net.conv(inner, count // 2)
        inner = net.conv(net.depthwise(inner, 3, act=NONE), count // 2)
        data = _shuffled(net, net.joined(kept, inner), 2)
    return head(net, data, classes)


def _shuffled(net: Net, data: Activation, groups: int) -> Activation:
    _, rows, columns, depth = data.shape
    apart = net.shaped(data, rows, columns, groups, depth // groups)
    return net.shaped(net.turned(apart, 0, 1, 2, 4, 3), rows, columns, depth)


def shuffled_groups(
    net: Net, size: int, counts: Sequence[int], groups: int, classes: int
) -> Outputs:
    """ShuffleNet V1: pointwise convolutions of groups, whose channels are shuffled."""
    data = net.conv(net.image(size, size, 3), counts[0], 3, 2)
    for count in counts:
        inner = _shuffled(net, net.conv(data, count, groups=groups), groups)
        inner = net.conv(net.depthwise(inner, 3, act=NONE), count, groups=groups, act=NONE)
        if count == data.reals.shape[3]:
            data = net.two("ADD", data, inner, act=RELU)
        else:
            data = net.pool("AVERAGE_POOL_2D", inner)
    return head(net, data, classes)


def speech(
    net: Net, frames: int, bands: int, kernel: tuple[int, int], multiplier: int, classes: int
) -> Outputs:
    """A wake word by one large depthwise filter with a multiplier."""
    data = net.depthwise(net.image(frames, bands, 1), kernel, 2, multiplier=multiplier)
    _, rows, columns, depth = data.shape
    return [net.softmax(net.dense(net.shaped(data, rows * columns * depth), classes))]


def ds_cnn(
    net: Net, frames: int, bands: int, count: int, layers: int, kernel: tuple[int, int]
) -> Outputs:
    """A keyword spotter."""
    data = net.conv(net.image(frames, bands, 1), count, kernel, 2)
    for _ in range(layers):
        data = net.conv(net.depthwise(data, 3), count)
    _, rows, columns, _ = data.shape
    pooled = net.pool("AVERAGE_POOL_2D", data, (rows, columns), 1)
    return [net.softmax(net.dense(net.shaped(pooled, count), 11))]
