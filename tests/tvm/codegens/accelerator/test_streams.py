"""Command streams on the simulated accelerator: what they compute, and broken ones."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from microgen.base import resources
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.target import board as boards
from microgen.tvm.codegens.accelerator import CODEGEN, commands
from tests.support.tools import NEEDS_CC
from tests.tvm.codegens.accelerator import networks, simulator
from tests.tvm.codegens.accelerator.simulator import HEADER, MALFORMED, UNSUPPORTED, Job

pytestmark = NEEDS_CC

EXTREMES = (0, 1, -1, 2, 127, 128, -129, 255, 256, 32767, 32768, 2**24, 2**31 - 1, -(2**31))


def _job(graph: Graph, seed: int = 0) -> Job:
    refused = [CODEGEN.refusal(node, graph, boards.load("native")) for node in graph.nodes]
    assert refused == [None] * len(graph.nodes)
    return simulator.job(graph, networks.values(graph, seed))


def _check(graph: Graph, seed: int, own: Job, status: int, written: bytes) -> None:
    assert status == 0
    expected = evaluate(graph, networks.values(graph, seed), registry())
    for name, data in own.outputs(written).items():
        found = np.frombuffer(data, np.int8).reshape(graph.types[name].shape)
        np.testing.assert_array_equal(found, expected[name])


def test_every_command_equals_the_reference() -> None:
    graph = networks.everything()
    own = _job(graph)
    assert {c.opcode for c in _commands(graph)} == set(commands.OPCODES.values())
    (((status, written),),) = simulator.run([(own, [own.stream])])
    _check(graph, 0, own, status, written)


def test_random_layers_equal_the_reference() -> None:
    graphs = [networks.random_layer(seed) for seed in range(400)]
    jobs = [_job(graph, seed) for seed, graph in enumerate(graphs)]
    found = simulator.run([(own, [own.stream]) for own in jobs])
    assert {c.opcode for g in graphs for c in _commands(g)} == set(commands.OPCODES.values())
    for seed, (graph, own, ((status, written),)) in enumerate(
        zip(graphs, jobs, found, strict=True)
    ):
        _check(graph, seed, own, status, written)


def _commands(graph: Graph) -> list[commands.Command]:
    return [commands.command(node, graph) for node in graph.nodes]


def _all_refused(own: Job, streams: list[bytes]) -> list[int]:
    """The statuses of the streams. None of them may succeed or write."""
    (found,) = simulator.run([(own, streams)])
    for status, written in found:
        assert status in (MALFORMED, UNSUPPORTED)
        assert written == own.untouched
    return [status for status, _ in found]


def test_a_changed_byte_is_refused() -> None:
    """Every byte is changed to several values: of the magic, the version, the sizes, and the rest,
    which the checksum covers."""
    own = _job(networks.everything())
    _all_refused(
        own,
        [
            own.stream[:at] + bytes([own.stream[at] ^ change]) + own.stream[at + 1 :]
            for at in range(len(own.stream))
            for change in (1, 0x80, 0xFF)
        ],
    )


def test_a_stream_cut_short_is_refused() -> None:
    own = _job(networks.everything())
    _all_refused(own, [own.stream[:n] for n in range(len(own.stream))])
    ends = _ends(own)
    inside = [n for n in range(HEADER.size, len(own.stream)) if n not in ends]
    _all_refused(own, [simulator.resealed(own.stream[:n]) for n in inside])
    _all_refused(own, [simulator.resealed(own.stream + b"\0")])


def _ends(own: Job) -> set[int]:
    """The ends of commands. A stream may be cut only there."""
    at = HEADER.size + 4 * len(own.memories)
    ends = {at}
    for made in _commands(own.graph):
        at += 4 + 12 * len(made.operands) + 4 * len(made.parameters)
        ends.add(at)
    assert at == len(own.stream)
    return ends


def _survives(own: Job, streams: list[bytes]) -> int:
    """The number of streams that are accepted. The others write nothing."""
    (found,) = simulator.run([(own, streams)])
    for status, written in found:
        assert status in (0, MALFORMED, UNSUPPORTED)
        assert status == 0 or written == own.untouched
    return sum(status == 0 for status, _ in found)


def test_mutants_with_a_right_checksum_do_no_harm() -> None:
    """The simulator reads and writes only within the memories, does not overflow int32, and ends,
    whatever a stream says.

    Each byte in turn is changed to many values, and each word to extreme ones.
    """
    own = _job(networks.everything())
    rng = np.random.default_rng(0)
    mutants = []
    for at in range(HEADER.size, len(own.stream)):
        others = [v for v in range(256) if v != own.stream[at]]
        for value in rng.choice(others, 16, replace=False):
            mutants.append(own.stream[:at] + bytes([int(value)]) + own.stream[at + 1 :])
    for at in range(HEADER.size, len(own.stream) - 3, 4):
        for word in EXTREMES:
            changed = int(word).to_bytes(4, "little", signed=True)
            mutants.append(own.stream[:at] + changed + own.stream[at + 4 :])
    while len(mutants) < 30_000:
        mutants.append(_mutant(own.stream, rng))
    accepted = _survives(own, [simulator.resealed(mutant) for mutant in mutants])
    assert 0 < accepted < len(mutants)


def _mutant(data: bytes, rng: np.random.Generator) -> bytes:
    """The stream with several words changed, swapped or copied from elsewhere."""
    words = np.frombuffer(data[HEADER.size :], "<i4").copy()
    for _ in range(int(rng.integers(1, 5))):
        at, other = rng.integers(len(words), size=2)
        choice = rng.integers(4)
        if choice == 0:
            words[at] = words[other]
        elif choice == 1:
            words[at] ^= 1 << int(rng.integers(31))
        elif choice == 2:
            words[[at, other]] = words[[other, at]]
        else:
            words[at] = rng.choice(EXTREMES[:-1])
    return data[: HEADER.size] + words.tobytes()


def test_mutated_constants_do_no_harm() -> None:
    """Tables of multipliers and shifts, and biases, are checked, too."""
    own = _job(networks.everything())
    rng = np.random.default_rng(1)
    jobs = []
    for _ in range(300):
        constants = bytearray(own.memories[0][1])
        for at in rng.integers(len(constants), size=3):
            constants[at] = int(rng.integers(256))
        jobs.append(Job(own.graph, own.stream, ((False, bytes(constants)), *own.memories[1:])))
    for mutated, ((status, written),) in zip(
        jobs, simulator.run([(job, [job.stream]) for job in jobs]), strict=True
    ):
        assert status in (0, MALFORMED)
        assert status == 0 or written == mutated.untouched


def test_versions_and_commands_that_are_not_known_are_unsupported() -> None:
    own = _job(networks.everything())
    newer = bytearray(own.stream)
    newer[4] = 2
    unknown = bytearray(own.stream)
    unknown[HEADER.size + 4 * len(own.memories)] = 11
    statuses = _all_refused(own, [bytes(newer), simulator.resealed(bytes(unknown))])
    assert statuses == [UNSUPPORTED, UNSUPPORTED]


def test_memories_of_other_sizes_are_refused() -> None:
    own = _job(networks.everything())
    for number in range(len(own.memories)):
        is_written, data = own.memories[number]
        others = [*own.memories]
        others[number] = (is_written, data + b"\0\0\0\0")
        _all_refused(Job(own.graph, own.stream, tuple(others)), [own.stream])
    _all_refused(Job(own.graph, own.stream, own.memories[:-1]), [own.stream])


def _header(name: str) -> str:
    return (Path(resources.folder("crt")) / "src" / "accelerator" / name).read_text()


def test_python_and_c_say_the_same() -> None:
    text = _header("accelerator_stream.h")
    names = re.findall(r"^    MG_ACCELERATOR_(\w+?)(?: = 1)?,?$", text, re.M)
    symbols = [f"mg_{n.lower()}_s8".replace("_twice_s8", "_s8_twice") for n in names]
    assert {symbol: i for i, symbol in enumerate(symbols, 1)} == commands.OPCODES
    assert f"MG_ACCELERATOR_MAX_TENSOR {commands.MAX_TENSOR:#X}".replace("0X", "0x") in text
    assert f"MG_ACCELERATOR_VERSION {commands.VERSION}U" in text
    magic = int.from_bytes(commands.MAGIC, "little")
    assert f"MG_ACCELERATOR_MAGIC 0x{magic:X}U" in text
    check = _header("accelerator_commands.h")
    assert f"MG_ACCELERATOR_MAX_EXTENT {commands.MAX_EXTENT}" in check
    assert "LARGEST_PRODUCT (255U * 128U)" in _header("accelerator_check.c")
