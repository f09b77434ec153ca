"""Networks of signals and of frames of sound."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.bench.networks.drawing import Activation
from scripts.bench.networks.layers import NONE, RELU
from scripts.bench.networks.mobile import Outputs
from scripts.bench.networks.recurrent import Net


def tcn(net: Net, steps: int, depth: int, count: int, rates: Sequence[int], size: int) -> Outputs:
    """Causal convolutions with growing dilation, each with a residual."""
    data = net.shaped(net.sequence(steps, depth), 1, steps, depth)
    data = net.conv(data, count)
    for rate in rates:
        inner = net.padded(data, (0, 0), ((size - 1) * rate, 0), (0, 0))
        inner = net.conv(inner, count, (1, size), dilation=(1, rate), same=False)
        data = net.two("ADD", data, inner)
    return [net.dense(net.mean(data), 7)]


def ecg(
    net: Net, steps: int, leads: int, layers: Sequence[tuple[int, int, int]], classes: int
) -> Outputs:
    """Convolutions (channels, filter, stride) along a signal, with max pools."""
    data = net.shaped(net.sequence(steps, leads), 1, steps, leads)
    for count, size, stride in layers:
        data = net.conv(data, count, (1, size), (1, stride))
        data = net.pool("MAX_POOL_2D", data, (1, 2), (1, 2))
    _, _, rest, depth = data.shape
    hidden = net.dense(net.shaped(data, rest * depth), 40, act=RELU)
    return [net.softmax(net.dense(hidden, classes))]


def bc_resnet(net: Net, bands: int, frames: int, counts: Sequence[int], classes: int) -> Outputs:
    """Broadcasted residuals: filters along frequency, and of the means along time."""
    data = net.conv(net.image(bands, frames, 1), counts[0], 5, (2, 1))
    for number, count in enumerate(counts):
        if count != data.reals.shape[3]:
            data = net.conv(data, count)
        wide = net.depthwise(data, (3, 1), act=NONE)
        means = net.mean(wide, (1,), keep=True)
        narrow = net.depthwise(means, (1, 3), dilation=(1, 1 + number), act=NONE)
        narrow = net.conv(net.one("HARD_SWISH", narrow), count)
        data = net.two("ADD", net.two("ADD", wide, narrow), data, act=RELU)
        if number % 2:
            data = net.pool("AVERAGE_POOL_2D", data, (2, 1), (2, 1))
    return [net.softmax(net.dense(net.mean(data), classes))]


def gru(net: Net, steps: int, features: int, cells: int, classes: int) -> Outputs:
    """A GRU whose steps are separate layers."""
    return [net.softmax(net.dense(net.gru(net.sequence(steps, features), cells), classes))]


def lstm(net: Net, steps: int, features: int, cells: Sequence[int], classes: int) -> Outputs:
    """LSTMs after each other, and a dense layer of all steps."""
    data = net.sequence(steps, features)
    for count in cells:
        data = net.lstm(data, count)
    return [net.softmax(net.dense(net.shaped(data, steps * cells[-1]), classes))]


def crnn(net: Net, frames: int, bands: int, count: int, cells: int, classes: int) -> Outputs:
    """Convolutions of a spectrogram, and an LSTM of its columns."""
    data = net.conv(net.image(frames, bands, 1), count, (5, 5), 2)
    data = net.conv(data, count, 3, (1, 2))
    _, steps, columns, depth = data.shape
    data = net.lstm(net.shaped(data, steps, columns * depth), cells)
    return [net.softmax(net.dense(net.shaped(data, steps * cells), classes))]


def dense(net: Net, sizes: Sequence[int], *, act: int = RELU, each: bool = False) -> Outputs:
    """Dense layers of one row."""
    data = net.sequence(sizes[0])
    for size in sizes[1:-1]:
        data = net.dense(data, size, act=act, each=each)
    return [net.dense(data, sizes[-1], each=each)]


def streaming(net: Net, steps: int, depth: int, count: int, layers: int) -> Outputs:
    """Depthwise separable convolutions along time without padding."""
    data: Activation = net.shaped(net.sequence(steps, depth), steps, 1, depth)
    for _ in range(layers):
        data = net.conv(net.depthwise(data, (5, 1), same=False), count)
    _, rest, _, depth = data.shape
    return [net.one("LOGISTIC", net.dense(net.shaped(data, rest * depth), 1))]
