"""Graphs in TVM's JSON format, and the driver that runs them under sanitizers."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.base import resources
from microgen.project.firmware import crt_files
from tests.crt import programs
from tests.kernels.conformance.conformance import UNOPTIMIZED

CRT = resources.folder("crt")
HERE = Path(__file__).parent


def _sources(*headers: str) -> tuple[Path, ...]:
    """The C files that a generated project compiles for these headers of TVM's."""
    text = "".join(f'#include "tvm/runtime/crt/{header}.h"\n' for header in headers)
    return tuple(CRT / n for n in sorted(crt_files.closure([text.encode()])) if n[-2:] == ".c")


EXECUTOR_SOURCES = _sources("graph_executor")
SOURCES = _sources("graph_executor", "packed_func", "crt", "stack_allocator")

Json = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """An output of a node."""

    shape: Sequence[int]
    dtype: str
    storage: int


def graph(
    nodes: Sequence[tuple[str, str, Sequence[Sequence[int]], Sequence[Entry]]],
    heads: Sequence[Sequence[int]],
) -> Json:
    """A graph of ``nodes``: (name, function or "" for an input, references, outputs) each."""
    entries = [entry for *_, outputs in nodes for entry in outputs]
    rows = [0]
    for *_, outputs in nodes:
        rows.append(rows[-1] + len(outputs))
    return {
        "nodes": [_node(*node) for node in nodes],
        "arg_nodes": [i for i, node in enumerate(nodes) if not node[1]],
        "heads": [[*head, 0] for head in heads],
        "attrs": {
            "dltype": ["list_str", [e.dtype for e in entries]],
            "shape": ["list_shape", [list(e.shape) for e in entries]],
            "storage_id": ["list_int", [e.storage for e in entries]],
        },
        "node_row_ptr": rows,
    }


def _node(
    name: str, function: str, inputs: Sequence[Sequence[int]], outputs: Sequence[Entry]
) -> Json:
    if not function:
        return {"op": "null", "name": name, "inputs": []}
    attrs = {
        "num_outputs": str(len(outputs)),
        "flatten_data": "0",
        "func_name": function,
        "hash": "45f3f3bf6ba0201f",
        "num_inputs": str(len(inputs)),
    }
    return {
        "op": "tvm_op",
        "name": name,
        "attrs": attrs,
        "inputs": [[*reference, 0] for reference in inputs],
    }


def seed_demo(size: int = 56, channels: int = 32) -> Json:
    """The graph of the seed documents: conv2d, bias_add and relu as one function."""
    x, w = (1, channels, size, size), (channels, channels, 3, 3)
    function = "tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu"
    result = graph(
        [
            ("d1", "", [], [Entry(x, "float32", 0)]),
            ("w1", "", [], [Entry(w, "float32", 1)]),
            ("b1", "", [], [Entry((channels,), "float32", 2)]),
            (function, function, [(0, 0), (1, 0), (2, 0)], [Entry(x, "float32", 3)]),
        ],
        [(3, 0)],
    )
    layouts = {"out_layout": "", "kernel_layout": "OIHW", "data_layout": "NCHW"}
    result["nodes"][3]["attrs"].update(layouts)
    return result


def everything() -> Json:
    """A graph with parameters, a node with two outputs, a reshape, a copy, and storage used
    twice."""
    row, column, half = (1, 8), (8, 1), (1, 4)
    return graph(
        [
            ("x", "", [], [Entry(row, "float32", 0)]),
            ("p0", "", [], [Entry(row, "float32", 1)]),
            ("sum", "add_f32", [(0, 0), (1, 0)], [Entry(row, "float32", 2)]),
            (
                "halves",
                "split_f32",
                [(2, 0)],
                [Entry(half, "float32", 3), Entry(half, "float32", 4)],
            ),
            ("total", "add_f32", [(3, 0), (3, 1)], [Entry(half, "float32", 2)]),
            ("reshape_nop", "__nop", [(0, 0)], [Entry(column, "float32", 0)]),
            ("copied", "__copy", [(5, 0)], [Entry(column, "float32", 5)]),
        ],
        [(4, 0), (3, 1), (6, 0), (5, 0), (0, 0)],
    )


@dataclass(frozen=True)
class Case:
    """A graph as ``text``, its parameters, and a pool of ``pool`` bytes for it."""

    text: bytes
    params: bytes = b""
    pool: int = 1 << 16

    def packed(self) -> bytes:
        head = struct.pack("<II", self.pool, len(self.text))
        return head + self.text + struct.pack("<I", len(self.params)) + self.params


@dataclass(frozen=True)
class Result:
    """Error codes, the bytes of the pool in use, and the outputs' bytes."""

    create: int
    load: int
    run: int
    used: int
    outputs: tuple[bytes, ...]

    @property
    def codes(self) -> tuple[int, int, int]:
        return self.create, self.load, self.run


def case(graph: Json, params: bytes = b"", pool: int = 1 << 16) -> Case:
    return Case(json.dumps(graph, indent=2).encode(), params, pool)


def compiled(folder: Path, source: str, options: Sequence[str] = ()) -> Path:
    """A test program with the executor, under sanitizers."""
    sources = [HERE / source, *SOURCES, CRT / "src" / "platform" / "platform_posix.c"]
    return programs.linked(folder / Path(source).stem, sources, [*UNOPTIMIZED, *options])


def run(binary: Path, cases: Iterable[Case], seconds: int = 60) -> list[Result]:
    """The driver's result for each case. The driver stops early only on an error."""
    stdin = b"".join(case.packed() for case in cases)
    done = subprocess.run([binary], input=stdin, capture_output=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    return [_result(line.split(" ")) for line in done.stdout.decode().splitlines()]


def _result(words: Sequence[str]) -> Result:
    create, load, ran, used = map(int, words[:4])
    return Result(create, load, ran, used, tuple(bytes.fromhex(word) for word in words[4:]))
