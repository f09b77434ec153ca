"""Runs command streams on the host, with sanitizers, in the form that ``driver.c`` describes."""

from __future__ import annotations

import functools
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from microgen.base import resources
from microgen.compiler.codegens.external import ExternalFunction
from microgen.graph.ir.graph import Array, Graph, Origin
from microgen.tvm.codegens.accelerator import commands
from microgen.tvm.codegens.accelerator.commands import Command
from tests.kernels.conformance.conformance import SANITIZERS, WARNINGS, host_cc

CRT = resources.folder("crt")
SOURCES = [*(CRT / "src" / "accelerator").glob("*.c"), CRT / "src" / "modules" / "module_stream.c"]
HEADER = struct.Struct("<4sHHII")  # magic, version, memories, bytes, checksum
MALFORMED, UNSUPPORTED = 0x0780, 0x0781


@dataclass(frozen=True)
class Job:
    """A graph as a stream, and the memories for it."""

    graph: Graph
    stream: bytes
    memories: tuple[tuple[bool, bytes], ...]  # whether it may be written, and its bytes

    @property
    def written(self) -> int:
        """The number of bytes that may be written."""
        return sum(len(data) for is_written, data in self.memories if is_written)

    @property
    def untouched(self) -> bytes:
        """The bytes that may be written, before the run."""
        return b"".join(data for is_written, data in self.memories if is_written)

    def outputs(self, written: bytes) -> dict[str, bytes]:
        """The graph's outputs in the written bytes: they come after the scratch."""
        found, end = {}, len(written)
        for name in reversed(self.graph.outputs):
            start = end - self.graph.types[name].nbytes
            found[name], end = written[start:end], start
        return found


def job(graph: Graph, inputs: Mapping[str, Array], given: Sequence[Command] = ()) -> Job:
    """A job of the graph on these inputs; the accelerator must take all of its nodes.

    ``given`` are commands to use instead of the nodes' own.
    """
    function = ExternalFunction("f", graph, None, {}, Origin("test", "f"))
    made = given or [commands.command(node, graph) for node in graph.nodes]
    places = commands.of(function, made)
    encoded = commands.encode(made, places)
    scratch = b"\x5a" * places.sizes[commands.SCRATCH]
    read = [(False, inputs[name].tobytes()) for name in graph.inputs]
    outputs = [(True, b"\xa5" * graph.types[name].nbytes) for name in graph.outputs]
    all_memories = ((False, bytes(places.constants)), (bool(scratch), scratch), *read, *outputs)
    return Job(graph, encoded, all_memories)


def resealed(changed: bytes) -> bytes:
    """The stream with its size and checksum corrected, if it is long enough to have them."""
    if len(changed) < HEADER.size:
        return changed
    magic, version, count, _, _ = HEADER.unpack_from(changed)
    rest = changed[HEADER.size :]
    return HEADER.pack(magic, version, count, len(changed), zlib.crc32(rest)) + rest


def run(jobs: Sequence[tuple[Job, Sequence[bytes]]]) -> list[list[tuple[int, bytes]]]:
    """The status and the written bytes of each stream, run on its job's memories."""
    with tempfile.TemporaryDirectory() as folder:
        cases, outputs = Path(folder, "cases"), Path(folder, "outputs")
        cases.write_bytes(b"".join(_section(own, streams) for own, streams in jobs))
        command = [str(driver()), str(cases), str(outputs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        content = memoryview(outputs.read_bytes())
    found, at = [], 0
    for own, streams in jobs:
        found.append([])
        for _ in streams:
            (status,) = struct.unpack_from("<i", content, at)
            found[-1].append((status, bytes(content[at + 4 : at + 4 + own.written])))
            at += 4 + own.written
    assert at == len(content)
    return found


def _section(own: Job, streams: Sequence[bytes]) -> bytes:
    parts = [_number(len(own.memories))]
    for is_written, data in own.memories:
        parts += [_number(is_written), _number(len(data)), data]
    parts.append(_number(len(streams)))
    for data in streams:
        parts += [_number(len(data)), data]
    return b"".join(parts)


def _number(value: int) -> bytes:
    return struct.pack("<I", value)


@functools.cache
def driver() -> Path:
    """The driver, compiled once per process."""
    folder = Path(tempfile.mkdtemp())
    command = [host_cc(), *WARNINGS, *SANITIZERS, f"-I{CRT / 'include'}", f"-I{CRT / 'src'}"]
    own = str(Path(__file__).with_name("driver.c"))
    target = folder / "driver"
    done = subprocess.run(
        [*command, own, *map(str, SOURCES), "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target
