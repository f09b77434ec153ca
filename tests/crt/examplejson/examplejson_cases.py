"""Texts in ExampleJSON, random and damaged, and the driver that runs them under sanitizers."""

from __future__ import annotations

import random
import re
import struct
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen.base.errors import ModelError, UnsupportedError
from microgen.project.firmware import crt_files
from microgen.tvm.codegens.examplejson import sizes
from microgen.tvm.codegens.examplejson.text import INPUT, OPERATORS, Subgraph, TextNode, parse, show
from tests.crt import programs
from tests.crt.executor.executor_graphs import CRT
from tests.kernels.conformance.conformance import UNOPTIMIZED
from tests.relay.blob.samples import GUIDE
from tests.tvm.codegens.examplejson import interpreter
from tests.tvm.codegens.examplejson.interpreter import FloatArray

MALFORMED, UNSUPPORTED, NO_MEMORY = 0x780, 0x781, 0x503
POOL = 1 << 14
HERE = Path(__file__).parent
MAX_BYTES = 1 << 20  # the driver runs functions that need at most so much memory

# The C files that a generated project compiles for the runtime's header.
_RUNTIME = crt_files.closure([b'#include "examplejson/runtime_examplejson.h"'])
SOURCES = tuple(CRT / name for name in sorted(_RUNTIME) if name.endswith(".c"))

# Unused nodes, sparse ids, white space, two shapes. An input is an output, and one value is two
# outputs.
EVERYTHING = """\
subgraph_0
  input 3 2 3
  input 1 4

\tinput 2147483647  2 3\r
  add 7 inputs: 3 2147483647 shape: 2 3
  mul 5 inputs: 7 7 shape: 2 3
  sub 9 inputs: 1 1 shape: 4
  add 0 inputs: 9 1 shape: 4
  sub 6 inputs: 5 7 shape: 2 3
  mul 8 inputs: 6 3 shape: 2 3
  add 4 inputs: 8 6 shape: 2 3
subgraph_0: tvmgen_default_examplejsoncompiler_main_0 outputs: 4 0 1 4 8
subgraph_1
  input 0 1 1 1 1 1 2
  mul 1 inputs: 0 0 shape: 1 1 1 1 1 2
my_subgraph_of_one
  input 0 5
  sub 1 inputs: 0 0 shape: 5
my_subgraph_of_one: f
"""


@dataclass(frozen=True)
class Case:
    """``payload`` for a pool of ``pool`` bytes.

    Calls get a workspace that is ``withheld`` bytes smaller than they need.
    """

    payload: bytes
    pool: int = POOL
    withheld: int = 0

    def packed(self) -> bytes:
        head = struct.pack("<III", self.pool, self.withheld, len(self.payload))
        return head + self.payload


@dataclass(frozen=True)
class Call:
    """A function's error code, its bytes of workspace, and the CRC-32 of its outputs."""

    code: int
    workspace: int
    crc: int


@dataclass(frozen=True)
class Result:
    """The error code of loading, the bytes of the pool in use, and the calls of the functions."""

    load: int
    used: int
    calls: tuple[Call, ...] = ()


def compiled(folder: Path, source: str) -> Path:
    """A test program with the runtime, under sanitizers."""
    sources = [HERE / source, HERE / "examplejson_loaders.c", *SOURCES]
    return programs.linked(folder / Path(source).stem, sources, UNOPTIMIZED)


def run(binary: Path, cases: Iterable[Case], seconds: int = 60) -> list[Result]:
    """The driver's result for each case. The driver stops early only on an error."""
    stdin = b"".join(case.packed() for case in cases)
    done = subprocess.run([binary], input=stdin, capture_output=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    return [_result(line) for line in done.stdout.decode().splitlines()]


def _result(line: str) -> Result:
    load, used, *numbers = map(int, line.split())
    calls = (Call(*numbers[i : i + 3]) for i in range(0, len(numbers), 3))
    return Result(load, used, tuple(calls))


# Python's results


def expected(text: str) -> Result:
    """Python's result for the text. ``used`` is 0 if the text is refused."""
    try:
        subgraphs = parse(text)
    except ModelError:
        return Result(MALFORMED, 0)
    except UnsupportedError:
        return Result(UNSUPPORTED, 0)
    if max(map(sizes.workspace_bytes, subgraphs), default=0) > 2**31 - 1:
        return Result(NO_MEMORY, 0)
    calls = tuple(_call(subgraph) for subgraph in subgraphs if is_small(subgraph))
    return Result(0, sizes.pool_bytes(subgraphs, struct.calcsize("P")), calls)


def is_small(subgraph: Subgraph) -> bool:
    """Whether the driver runs the function."""
    by_id = {node.id: node for node in subgraph.nodes}
    arguments = [*subgraph.inputs, *(by_id[output] for output in subgraph.outputs)]
    nbytes = sizes.workspace_bytes(subgraph) + sum(node.nbytes for node in arguments)
    return nbytes <= MAX_BYTES


def _call(subgraph: Subgraph) -> Call:
    inputs = [filled(n, node.shape) for n, node in enumerate(subgraph.inputs)]
    with np.errstate(all="ignore"):
        outputs = interpreter.run(subgraph, inputs)
    crc = zlib.crc32(b"".join(output.tobytes() for output in outputs))
    return Call(0, sizes.workspace_bytes(subgraph), crc)


def filled(number: int, shape: Sequence[int]) -> FloatArray:
    """The values with which the driver fills input ``number``."""
    i = np.arange(1, 1 + int(np.prod(shape)), dtype=np.uint32)
    bits = (i + np.uint32(number * 0x85EBCA6B & 0xFFFFFFFF)) * np.uint32(0x9E3779B1)
    values = bits.astype(np.int32).astype(np.float32) / np.float32(1 << 28)
    return values.reshape(shape)


# Random texts


def random_text(rng: random.Random) -> str:
    """A text of some subgraphs, most of which have values that several operators read."""
    count = rng.choice((1, 1, 2, 3, 5))
    return show([random_subgraph(rng, k) for k in range(count)])


def random_subgraph(rng: random.Random, k: int) -> Subgraph:
    """A subgraph whose tensors have one or two shapes. Ids count from 0, or are random."""
    shapes = [_shape(rng) for _ in range(rng.choice((1, 1, 1, 2)))]
    kinds = [INPUT] * rng.randrange(1, 6) + [*rng.choices(OPERATORS, k=rng.randrange(1, 25))]
    ids = rng.sample(range(1000), len(kinds)) if rng.random() < 0.2 else list(range(len(kinds)))
    nodes: list[TextNode] = []
    for number, op in zip(ids, kinds, strict=True):
        if op == INPUT:
            nodes.append(TextNode(op, number, (), rng.choice(shapes)))
            continue
        shape = rng.choice(nodes).shape
        # Late nodes are read more often, so there are long chains, which use memory again.
        fitting = [node.id for node in nodes if node.shape == shape]
        operands = tuple(rng.choice(fitting[-rng.randrange(1, 8) :]) for _ in range(2))
        nodes.append(TextNode(op, number, operands, shape))
    header = f"subgraph_{k}"
    symbol = rng.choice((header, f"tvmgen_default_examplejsoncompiler_main_{k}"))
    outputs = nodes[-1:] if rng.random() < 0.5 else rng.choices(nodes, k=rng.randrange(1, 4))
    return Subgraph(header, symbol, tuple(nodes), tuple(node.id for node in outputs))


def _shape(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice((1, 2, 3, 5, 10)) for _ in range(rng.choice((1, 1, 2, 2, 3, 6))))


# Damaged ones

NUMBERS = (
    *("0", "1", "2", "3", "7", "10", "00", "65536", "46341", "536870911", "536870912", "-1", "+1"),
    *("2147483647", "2147483648", "4294967296", "4294967297", "18446744073709551617", "1e3", "0x1"),
    *("9" * 5000, "0" * 5000 + "2", "\xb2"),
)
WORDS = (
    *("input", "add", "sub", "mul", "div", "inputs:", "shape:", "outputs:", "subgraph_0", "f"),
    *("subgraph_1", "subgraph_0:", "subgraph_1:", "subgraph_", "subgraph_:", ":", "my_subgraph_7"),
    *("", "\\", "\\u0000", "\x00", "\xff", "add\\", "a" * 300, "input:", "Add", "addd", "ad"),
)
BREAKS = ("\n", " ", "\t", "\r\n", "\n\n", "", "\x0b", "\xa0")
LENGTHS = (0, 1, 7, 8, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1)


def mutations(seed: int, count: int) -> Iterator[Case]:
    """Cases that differ from a text in a few places."""
    rng = random.Random(seed)
    texts = [GUIDE, EVERYTHING, *(random_text(rng) for _ in range(20))]
    for _ in range(count):
        text = rng.choice(texts)
        kind = rng.random()
        if kind < 0.45:
            data = payload_of(_tokens(rng, text))
        elif kind < 0.55:
            data = payload_of(_everywhere(rng, text))
        elif kind < 0.7:
            data = payload_of(_lines(rng, text))
        elif kind < 0.9:
            data = payload_of(_bytes(rng, text.encode("latin-1")).decode("latin-1"))
        else:
            data = _length(rng, payload_of(text))
        pool = rng.randrange(1, 3000) if rng.random() < 0.1 else POOL
        yield Case(data, pool, rng.choice((0, 0, 0, 0, 1, 100)))


def payload_of(text: str) -> bytes:
    """A payload of any bytes, one for each character."""
    data = text.encode("latin-1")
    return struct.pack("<Q", len(data)) + data


def text_of(data: bytes) -> str | None:
    """The text of a payload, or None if the payload has no text."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        return None
    return data[8 : 8 + length].decode("latin-1")


def _tokens(rng: random.Random, text: str) -> str:
    words = re.findall(r"[^ \n]+|[ \n]+", text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(words))
        words[at] = _other(rng, words[at], words)
    return "".join(words)


def _everywhere(rng: random.Random, text: str) -> str:
    """The text with one number replaced everywhere, so that shapes and ids change as a whole."""
    number = rng.choice(re.findall(r"(?<= )\d+", text))
    return re.sub(rf"(?<= ){number}(?=[ \n])", rng.choice(NUMBERS), text)


def _other(rng: random.Random, word: str, words: Sequence[str]) -> str:
    if word.isspace():
        return rng.choice(BREAKS)
    if re.fullmatch("[0-9]{1,10}", word) and rng.random() < 0.9:
        near = str(max(0, int(word) + rng.choice((-1, 1))))
        return rng.choice((near, near, rng.choice(NUMBERS), rng.choice(words)))
    if word in OPERATORS and rng.random() < 0.5:
        return rng.choice(OPERATORS)
    return rng.choice((rng.choice(WORDS), rng.choice(words), f"{word} {word}"))


def _lines(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 2))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(3):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                lines.insert(at, lines[other])
            case _:
                lines[at] = ""
    return "".join(lines)


def _bytes(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.randrange(1, 12))
        match rng.randrange(4):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:end] + data[at:]
            case 2:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case _:
                data = data[: rng.randrange(len(data) + 1)]
        data = data or b" "
    return data


def _length(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.3:
        return data[: rng.randrange(len(data))]
    length = rng.choice((*LENGTHS, len(data), len(data) - 9, rng.randrange(len(data))))
    return struct.pack("<Q", length) + data[8:]
