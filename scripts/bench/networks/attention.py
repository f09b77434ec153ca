"""Networks of tokens: attention, mixers, and convolutions in their style."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scripts.bench.networks.drawing import Activation
from scripts.bench.networks.layers import NONE
from scripts.bench.networks.mobile import Outputs, head
from scripts.bench.networks.recurrent import Net


def normal(net: Net, data: Activation) -> Activation:
    """A layer norm by separate operators, as Keras writes it."""
    last = data.reals.ndim - 1
    depth = data.reals.shape[-1]
    mean = net.mean(data, (last,), keep=True)
    spread = net.mean(net.two("SQUARED_DIFFERENCE", data, mean), (last,), keep=True)
    factor = net.one("RSQRT", net.two("ADD", spread, net.number(1e-3)))
    gamma, beta = (
        net.vector(middle + np.asarray(net.random.uniform(-width, width, depth)))
        for middle, width in ((1, 0.5), (0, 1))
    )
    factor = net.two("MUL", factor, gamma)
    offset = net.two("SUB", beta, net.two("MUL", mean, factor))
    return net.two("ADD", net.two("MUL", data, factor), offset)


def _attended(net: Net, data: Activation, heads: int) -> Activation:
    """Attention of tokens [count, depth] to each other."""
    _, count, depth = data.shape
    parts = []
    for _ in range(3):
        apart = net.shaped(net.dense(data, depth), count, heads, depth // heads)
        parts.append(net.turned(apart, 0, 2, 1, 3))
    queries, keys, values = parts
    scaled = net.two("MUL", queries, net.number(1 / math.sqrt(depth // heads)))
    weights = net.softmax(net.matmul(scaled, keys, turned=True))
    mixed = net.turned(net.matmul(weights, values), 0, 2, 1, 3)
    return net.dense(net.shaped(mixed, count, depth), depth)


def _block(net: Net, data: Activation, heads: int, hidden: int, *, first: bool) -> Activation:
    """A block of a transformer, with its norms before or after the layers."""
    if first:
        data = net.two("ADD", data, _attended(net, normal(net, data), heads))
        inner = normal(net, data)
    else:
        inner = data = normal(net, net.two("ADD", data, _attended(net, data, heads)))
    made = net.dense(net.one("GELU", net.dense(inner, hidden)), data.shape[-1])
    data = net.two("ADD", data, made)
    return data if first else normal(net, data)


def vit(
    net: Net, size: int, patch: int, depth: int, heads: int, blocks: int, classes: int
) -> Outputs:
    """A vision transformer that classifies by the mean of its tokens."""
    data = net.conv(net.image(size, size, 3), depth, patch, patch, same=False, act=NONE)
    data = net.shaped(data, (size // patch) ** 2, depth)
    data = net.two("ADD", data, net.vector(net.random.uniform(-1, 1, data.shape[1:])[None]))
    for _ in range(blocks):
        data = _block(net, data, heads, 2 * depth, first=True)
    return [net.softmax(net.dense(net.mean(data, (1,)), classes))]


def encoder(net: Net, tokens: int, features: int, depth: int, heads: int, blocks: int) -> Outputs:
    """A transformer's encoder of a sequence."""
    data = net.dense(net.sequence(tokens, features), depth)
    for _ in range(blocks):
        data = _block(net, data, heads, 3 * depth, first=False)
    return [net.dense(data, 6)]


def mixer(
    net: Net, size: int, patch: int, depth: int, hidden: tuple[int, int], blocks: int
) -> Outputs:
    """An MLP-Mixer: dense layers of tokens and of channels in turn."""
    data = net.conv(net.image(size, size, 3), depth, patch, patch, same=False, act=NONE)
    tokens = (size // patch) ** 2
    data = net.shaped(data, tokens, depth)
    for _ in range(blocks):
        inner = net.one("GELU", net.dense(net.turned(normal(net, data), 0, 2, 1), hidden[0]))
        data = net.two("ADD", data, net.turned(net.dense(inner, tokens), 0, 2, 1))
        inner = net.one("GELU", net.dense(normal(net, data), hidden[1]))
        data = net.two("ADD", data, net.dense(inner, depth))
    return [net.softmax(net.dense(net.mean(data, (1,)), 9))]


def convnext(
    net: Net, size: int, counts: Sequence[int], kernel: int, *, norms: bool = True
) -> Outputs:
    """Large depthwise filters, and a wide pointwise pair with GELU."""
    data = net.conv(net.image(size, size, 3), counts[0], 4, 4, same=False, act=NONE)
    for number, count in enumerate(counts):
        if number:
            data = net.conv(data, count, 2, 2, same=False, act=NONE)
        inner = net.depthwise(data, kernel, act=NONE)
        inner = normal(net, inner) if norms else inner
        inner = net.one("GELU", net.conv(inner, 3 * count, act=NONE))
        data = net.two("ADD", data, net.conv(inner, count, act=NONE))
    return head(net, data, 8)
