"""Small networks as files, and files that differ from them in a few bytes."""

from __future__ import annotations

import random
import struct

import numpy as np

from tests.frontends.tweaked import Network, activation, int8_constant, integers
from tests.support.streaming import Model
from tests.support.tflite_builder import OperatorSpec, SubgraphSpec, TensorSpec

INTERESTING = (0, 1, 2, 4, 0x7F, 0x80, 0xFE, 0xFF)


def small_network() -> Network:
    """A convolution, a pool, a reshape, a padding, a dense layer and a softmax."""
    tensors = (
        activation("x", 1, 4, 4, 2),
        int8_constant("w", 3, 3, 3, 2, scale=(0.25, 0.5, 0.125)),
        integers("b", [1, -2, 3]),
        activation("conv", 1, 2, 2, 3),
        activation("pool", 1, 1, 1, 3),
        integers("shape", [1, -1]),
        activation("flat", 1, 3),
        integers("pads", [[0, 0], [0, 1]]),
        activation("padded", 1, 4),
        int8_constant("v", 3, 4, scale=(0.25,)),
        activation("logits", 1, 3),
        TensorSpec("y", (1, 3), scale=(1 / 256,), zero_point=(-128,)),
    )
    window = {"padding": 1, "strideH": 1, "strideW": 1}
    pool = {**window, "filterHeight": 2, "filterWidth": 2}
    operators = (
        OperatorSpec("CONV_2D", ("x", "w", "b"), ("conv",), "Conv2DOptions", window),
        OperatorSpec("MAX_POOL_2D", ("conv",), ("pool",), "Pool2DOptions", pool),
        OperatorSpec("RESHAPE", ("pool", "shape"), ("flat",), "ReshapeOptions", {"newShape": [1]}),
        OperatorSpec("PAD", ("flat", "pads"), ("padded",)),
        OperatorSpec("FULLY_CONNECTED", ("padded", "v"), ("logits",), "FullyConnectedOptions"),
        OperatorSpec("SOFTMAX", ("logits",), ("y",), "SoftmaxOptions", {"beta": 1.0}),
    )
    return Network(tensors, operators)


def uint8_network() -> Network:
    """The same in uint8: every tensor with a scale has one scale and its zero point. The bias has a
    scale, too, because LiteRT reads it here."""
    found = small_network()
    for spec in found.tensors:
        if spec.scale:
            zero = spec.zero_point[0] + 128
            data = None if spec.data is None else np.asarray(spec.data).astype(np.uint8)
            changes = {"dtype": "uint8", "scale": spec.scale[:1], "zero_point": (zero,)}
            found = found.with_tensor(spec.name, **changes, data=data)
    scales = {spec.name: spec.scale[0] for spec in found.tensors if spec.scale}
    return found.with_tensor("b", scale=(scales["x"] * scales["w"],), zero_point=(0,))


def streaming_network() -> bytes:
    """A window over the last rows of the input, a convolution of it, and a variable that sums; and
    a second signature, with a network of its own."""
    m = Model()
    data = m.reshape(m.input("x", (1, 2, 1, 4)), "rows", (1, 2, 1, 4))
    data = m.conv(m.stream(data, "window", 3), "conv", 4)
    total = m.variable("total", np.full((1, 1, 1, 4), 7, np.int8))
    old = m.read(total, "old", "conv")
    m.assign(total, m.add("ADD", [old, data], m.tensor("sum", (1, 1, 1, 4)), "AddOptions"))
    quant = (0.1, 0)
    m.outputs = [m.add("QUANTIZE", ["sum"], m.tensor("y", (1, 1, 1, 4), "uint8", quant))]
    other = Model()
    negated = other.add("NEG", [other.input("a", (1, 3))], other.tensor("b", (1, 3)), "NegOptions")
    second = SubgraphSpec(other.tensors, other.operators, ["a"], [negated], "second")
    return m.to_bytes(more=[m.init(), second])


def mutant(rng: random.Random, model: bytes) -> bytes:
    """The model with one to four bytes, or one aligned 32-bit word, replaced."""
    data = bytearray(model)
    if rng.random() < 0.4:
        word = rng.choice(
            (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data), rng.getrandbits(32))
        )
        struct.pack_into("<I", data, 4 * rng.randrange(len(data) // 4), word)
    else:
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.choice((*INTERESTING, rng.randrange(256)))
    return bytes(data)
