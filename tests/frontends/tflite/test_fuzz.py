"""The TFLite frontend against truncated and mutated files: a graph or a MicrogenError."""

from __future__ import annotations

import random
import struct
import time

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Graph
from tests.frontends.mutated import mutant, small_network, uint8_network

LITERT = numerics.profile("litert")
MUTANTS = (600, pytest.param(3000, marks=pytest.mark.slow))
SLOWEST_S = 1.0  # of one load; a sound one takes a few milliseconds


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


def test_the_models_themselves_load() -> None:
    assert len(load(MODEL).nodes) == 6
    assert len(load(UINT8).nodes) == 8


def test_every_truncation_is_refused() -> None:
    # Nothing stands after the strings and vectors written first, so the last byte counts.
    accepted = [n for n in range(len(MODEL)) if loads_or_refuses(MODEL[:n])]
    assert accepted == []


@pytest.mark.parametrize("count", MUTANTS)
@pytest.mark.parametrize("model", [MODEL, UINT8], ids=["int8", "uint8"])
def test_mutants_load_or_are_refused(model: bytes, count: int) -> None:
    rng = random.Random(20)
    loaded = sum(loads_or_refuses(mutant(rng, model)) for _ in range(count))
    # Weights may change without harm; most other bytes may not.
    assert 0 < loaded < count


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
