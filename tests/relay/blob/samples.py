"""Blobs to read and damage, and random trees of modules."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.compiler.codegens.payloads import readers
from microgen.relay.blob import LIBRARY, Module, dumps, payloads
from microgen.relay.blob.payloads import ConstLoader, CSourceModule
from microgen.tvm.codegens.examplejson.payload import ExampleJson
from microgen.tvm.codegens.json_graph import JsonRuntime

# Section 4.7 of the notes on TVM v0.14: the library imports one dnnl_json module of symbol "f".
VECTOR = bytes.fromhex(
    "8400000000000000 0300000000000000 0400000000000000 5f6c6962 0900000000000000"
    "646e6e6c5f6a736f6e 0100000000000000 66 0200000000000000 7b7d 0000000000000000"
    "0c00000000000000 5f696d706f72745f74726565 0300000000000000 0000000000000000"
    "0100000000000000 0100000000000000 0100000000000000 0100000000000000"
)

GRAPH = """{"symbol": "dnnl_f", "nodes": [
  {"op": "input", "name": "dnnl_0_i0", "attrs": {"dtype": [["float32"]], "shape": [[[2, 3]]]}},
  {"op": "const", "name": "dnnl_f_const_0", "attrs": {"dtype": [["float32"]], "shape": [[[3]]]}},
  {"op": "kernel", "name": "add", "inputs": [[0, 0, 0], [1, 0, 0]], "attrs": {"num_inputs": "2",
   "num_outputs": "1", "dtype": [["float32"]], "shape": [[[2, 3]]]}}],
 "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3]}"""

# As TVM's guide has it, but for the last line, in which it slips: `add 6`.
GUIDE = """\
subgraph_0
  input 0 10 10
  input 1 10 10
  input 2 10 10
  input 3 10 10
  add 4 inputs: 0 1 shape: 10 10
  sub 5 inputs: 4 2 shape: 10 10
  mul 6 inputs: 5 3 shape: 10 10
"""

LIB = Module(LIBRARY)
KNOWN = readers()  # readers of the blob format's and of microgen's codegens' payloads


def json_module(symbol: str, text: str = "{}", names: tuple[str, ...] = ()) -> Module:
    return Module("dnnl_json", JsonRuntime(symbol, text, names).dumps())


def full() -> bytes:
    """A blob with all known payloads, arrays of several dtypes, and an import that two modules
    share."""
    arrays = {
        "dnnl_f_const_0": np.arange(3, dtype=np.float32),
        "flag": np.array(True),
        "none": np.zeros((0, 3), np.int8),
    }
    consts = ConstLoader({"f": ("dnnl_f_const_0",), "g": ()}, arrays)
    shared = Module("examplejson", ExampleJson(GUIDE).dumps())
    code = CSourceModule("int32_t h(void);\n/* é */", "c", ("h", "i"), ("none",))
    source = Module("c", code.dumps(), (shared,))
    graph = json_module("f", GRAPH, ("dnnl_f_const_0",))
    library = Module(LIBRARY, None, (shared, graph, source))
    return dumps(Module("const_loader", consts.dumps(), (library, json_module("g"))))


def firmware() -> bytes:
    """A blob of microgen's firmware: it contains no constants, and has the older type key."""
    consts = ConstLoader({"j1": ("a", "b"), "j2": ()})
    imports = (LIB, json_module("j1", GRAPH, ("a", "b")), json_module("j2"))
    return dumps(Module("metadata", consts.dumps(), imports))


def without_tree() -> bytes:
    """A blob in the oldest form: the library's imports without a tree."""
    entries = [
        b"".join((byte_stream.string("dnnl_json"), json_module(s).payload or b"")) for s in "fg"
    ]
    body = byte_stream.number(2) + b"".join(entries)
    return byte_stream.number(len(body)) + body


ALL = {"vector": VECTOR, "full": full(), "firmware": firmware(), "without_tree": without_tree()}


@dataclass(frozen=True)
class Number(payloads.Payload):
    """A payload of one u64."""

    value: int

    @classmethod
    def loads(cls, stream: Stream) -> Number:
        return cls(stream.number())

    def dumps(self) -> bytes:
        return byte_stream.number(self.value)


NUMBERS = {"k": Number.loads}
Edges = list[list[int]]


def by_chance(rng: random.Random, size: int) -> tuple[list[bool], Edges]:
    """Whether each of ``size`` modules is in the library, and its imports. Some trees have a
    cycle."""
    library = [rng.random() < 0.35 for _ in range(size)]
    is_acyclic = rng.random() < 0.85
    density = rng.choice((0.2, 0.4, 0.7))
    edges = []
    for parent in range(size):
        candidates = range(parent + 1 if is_acyclic else 0, size)
        found = [child for child in candidates if rng.random() < density]
        rng.shuffle(found)
        edges.append(found + found[:1] if rng.random() < 0.1 else found)
    return library, edges


def built(library: list[bool], edges: Edges) -> Module:
    """The tree of modules. Imports are set last, because modules are frozen and there may be
    cycles."""
    modules = [
        Module(LIBRARY) if is_library else Module("k", Number(i).dumps())
        for i, is_library in enumerate(library)
    ]
    for module, children in zip(modules, edges, strict=True):
        object.__setattr__(module, "imports", tuple(modules[child] for child in children))
    return modules[0]
