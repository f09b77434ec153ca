"""The TFLite frontend against truncated and mutated files: a graph or a MicrogenError."""

from __future__ import annotations

import random
import struct
import time

import numpy as np
import pytest

from microgen.errors import MicrogenError, ModelError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.ir.graph import Graph
from tests.frontends.tweaked import Network, activation, int8_constant, integers
from tests.tflite_builder import OperatorSpec, TensorSpec

LITERT = numerics.profile("litert")
INTERESTING = (0, 1, 2, 4, 0x7F, 0x80, 0xFE, 0xFF)
MUTANTS = 3000
SLOWEST_S = 1.0  # of one load; a sound one takes a few milliseconds


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
    """The same in uint8: every tensor with a scale has one scale and its zero point."""
    found = small_network()
    for spec in found.tensors:
        if spec.scale:
            zero = spec.zero_point[0] + 128
            data = None if spec.data is None else np.asarray(spec.data).astype(np.uint8)
            changes = {"dtype": "uint8", "scale": spec.scale[:1], "zero_point": (zero,)}
            found = found.with_tensor(spec.name, **changes, data=data)
    return found


MODEL = small_network().to_bytes()
UINT8 = uint8_network().to_bytes()


def load(data: bytes) -> Graph:
    return frontend.load(data, file="m.tflite", numerics=LITERT)


def loads_or_refuses(data: bytes) -> bool:
    """Whether it loads; any exception but MicrogenError, or a slow answer, fails the test."""
    start = time.process_time()
    said = ""
    try:
        load(data)
    except MicrogenError as error:
        said = str(error)
    assert time.process_time() - start < SLOWEST_S
    assert said == "" or said.startswith("m.tflite: ")
    return said == ""


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


def test_the_models_themselves_load() -> None:
    assert len(load(MODEL).nodes) == 6
    assert len(load(UINT8).nodes) == 8


def test_every_truncation_is_refused() -> None:
    # Nothing stands after the strings and vectors written first, so the last byte counts.
    accepted = [n for n in range(len(MODEL)) if loads_or_refuses(MODEL[:n])]
    assert accepted == []


@pytest.mark.parametrize("model", [MODEL, UINT8], ids=["int8", "uint8"])
def test_mutants_load_or_are_refused(model: bytes) -> None:
    rng = random.Random(20)
    loaded = sum(loads_or_refuses(mutant(rng, model)) for _ in range(MUTANTS))
    # Weights may change without harm; most other bytes may not.
    assert 0 < loaded < MUTANTS


def test_every_byte_inverted() -> None:
    for position in range(8, len(MODEL)):
        data = bytearray(MODEL)
        data[position] ^= 0xFF
        loads_or_refuses(bytes(data))


@pytest.mark.parametrize("word", [0, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000])
def test_every_word_replaced(word: int) -> None:
    for position in range(8, len(MODEL) - 3, 4):
        data = bytearray(MODEL)
        struct.pack_into("<I", data, position, word)
        loads_or_refuses(bytes(data))


def test_noise_after_the_identifier_is_refused() -> None:
    noise = np.random.default_rng(3)
    for length in (0, 1, 4, 40, 400, 4000):
        for _ in range(50):
            with pytest.raises(ModelError):
                load(noise.bytes(4) + b"TFL3" + noise.bytes(length))
