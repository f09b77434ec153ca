"""Modules of type dnnl_json, and the driver that runs them under sanitizers."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from microgen.base import resources
from microgen.graph.ir.graph import Array
from microgen.project.firmware import crt_files
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import runtime
from microgen.tvm.codegens.json_graph import JSONGraph, JsonRuntime
from tests.crt import programs
from tests.kernels.conformance.conformance import UNOPTIMIZED
from tests.tvm.codegens.dnnl import reference

CRT = resources.folder("crt")
HERE = Path(__file__).parent
FLOAT32 = 2 | 32 << 8 | 1 << 16  # code, bits, lanes of a DLDataType
HOST_POINTER = struct.calcsize("P")
NOT_RUN = 0xFFFF
FITTED, STRIDES, NO_DATA, UNALIGNED, OFFSET = 1, 2, 4, 8, 16  # flags of the driver

# Codes in error_codes.h.
MALFORMED, UNSUPPORTED, NOT_SET, NO_MEMORY = 0x780, 0x781, 0x783, 0x503
WRONG_COUNT, WRONG_TYPE, INVALID = 0x800, 0x801, 0x803


def sources() -> list[Path]:
    """The C files that a generated project compiles for the runtime's header."""
    names = sorted(crt_files.closure([b'#include "dnnl/runtime_dnnl_json.h"\n']))
    return [CRT / name for name in names if name.endswith(".c")]


@dataclass(frozen=True)
class Tensor:
    array: Array
    name: str = ""
    dtype: int = FLOAT32

    def packed(self) -> bytes:
        data = self.array.astype(self.array.dtype.newbyteorder("<")).tobytes()
        numbers = (self.dtype, self.array.ndim, *self.array.shape, len(data))
        return struct.pack(f"<{len(numbers)}I", *numbers) + data


@dataclass(frozen=True)
class Case:
    """A payload, and what its function is given.

    The flag FITTED gives it as much memory as it asks for. OFFSET changes where every argument
    begins, and each of the others makes the first argument invalid.
    """

    payload: bytes
    constants: Sequence[Tensor] = ()
    args: Sequence[Tensor] = ()
    outputs: int = 0  # how many of the args are outputs: the last ones
    pool: int = 1 << 14
    workspace: int = 1 << 14
    flags: int = 0

    def packed(self) -> bytes:
        head = (self.flags, self.pool, self.workspace, len(self.payload))
        counts = (len(self.constants), len(self.args), self.outputs)
        constants = (c.packed() + _named(c.name) for c in self.constants)
        args = (arg.packed() for arg in self.args)
        body = (*constants, *args)
        return b"".join(
            (struct.pack("<4I", *head), self.payload, struct.pack("<3I", *counts), *body)
        )


def _named(name: str) -> bytes:
    return struct.pack("<I", len(name.encode())) + name.encode()


@dataclass(frozen=True)
class Result:
    """Error codes (NOT_RUN for steps not reached), bytes of memory, and the outputs' bytes."""

    load: int
    init: int
    run: int
    pool: int
    workspace: int
    left: int  # bytes of the payload that were not read
    outputs: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def codes(self) -> tuple[int, int, int]:
        return self.load, self.init, self.run


def compiled(folder: Path, options: Sequence[str] = UNOPTIMIZED) -> Path:
    files = [HERE / "dnnl_json_driver.c", *sources()]
    return programs.linked(folder / "dnnl_json", files, ["-ffp-contract=off", *options])


def run(binary: Path, cases: Iterable[Case], seconds: int = 120) -> list[Result]:
    """The driver's result for each case. The driver stops early only on an error."""
    stdin = b"".join(case.packed() for case in cases)
    done = subprocess.run([binary], input=stdin, capture_output=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    return [_result(line.split(" ")) for line in done.stdout.decode().splitlines()]


def _result(words: Sequence[str]) -> Result:
    return Result(*map(int, words[:6]), tuple(map(bytes.fromhex, words[6:])))


def case(graph: JSONGraph, inputs: Sequence[Array], constants: Sequence[Array] = ()) -> Case:
    """A case of the graph's function with exactly the memory that Python computes for it."""
    names = graph.named("const")
    heads = [np.full(graph.nodes[i].shapes[0], np.nan, np.float32) for i, *_ in graph.heads]
    return Case(
        JsonRuntime("f", json_graph.dumps(graph), names).dumps(),
        [Tensor(array, name) for array, name in zip(constants, names, strict=True)],
        [Tensor(array) for array in (*inputs, *heads)],
        len(heads),
        runtime.pool_bytes(graph, HOST_POINTER),
        runtime.workspace_bytes(graph),
    )


@dataclass(frozen=True)
class Example:
    """A graph, its inputs and its constants."""

    graph: JSONGraph
    inputs: Sequence[Array]
    constants: Sequence[Array] = ()

    @property
    def wanted(self) -> Sequence[Array]:
        """The outputs that microgen's reference computes."""
        return reference.evaluate(self.graph, self.inputs, self.constants)


def check(binary: Path, examples: Sequence[Example], values: Sequence[Sequence[Array]]) -> None:
    """Checks that the C runtime computes the values in exactly the memory that Python computes."""
    made = [case(e.graph, e.inputs, e.constants) for e in examples]
    results = run(binary, made)
    for example, given, result, wanted in zip(examples, made, results, values, strict=True):
        text = json_graph.dumps(example.graph)
        assert result.codes == (0, 0, 0), f"{result} of {text}"
        assert (result.pool, result.workspace, result.left) == (given.pool, given.workspace, 0)
        for data, value in zip(result.outputs, wanted, strict=True):
            _check_values(np.frombuffer(data, "<f4").reshape(value.shape), value, text)


def _check_values(found: Array, wanted: Array, text: str) -> None:
    """Checks values to 1e-5 of the range. Infinities and NaN must be in the same places."""
    finite = wanted[np.isfinite(wanted)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    spread = max(spread, float(np.abs(finite).max(initial=0.0)) * 1e-1)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * spread, err_msg=text)
