"""TensorFlow Lite Micro's figures for a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from microgen.frontends.tflite import records
from microgen.graph.ir.graph import Graph
from microgen.planner.program.types import RunnerCall
from scripts.bench.other import kinds
from scripts.bench.other.kinds import Layer
from scripts.bench.tflm import running


@dataclass(frozen=True)
class Peer:
    """TensorFlow Lite Micro with CMSIS-NN: instructions with those of its interpreter; bytes of its
    arena's head, which has activations, input, output and scratch buffers, and of the whole arena,
    which also has the interpreter's structures; units and instructions by kind of layer. Figures of
    a network that others published have instructions and the head only."""

    instructions: int
    arena: int = 0
    whole: int = 0
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)


def of(content: bytes, core: str, calls: Sequence[RunnerCall], graph: Graph) -> Peer:
    """Run the network, whose ``calls`` are ours, by TensorFlow Lite Micro. Raises MicrogenError."""
    ran = running.of(content, core)
    file = records.read(content, "model.tflite")
    results = [
        file.tensors[operator.outputs[0]].name if operator.outputs else ""
        for operator in file.operators
    ]
    if len(results) != len(ran.operators):  # subgraphs ran, whose operators are not known apart
        return Peer(ran.instructions, ran.head, ran.arena)
    rows = [(name, count) for name, (_, count) in zip(results, ran.operators, strict=True)]
    layers = _by_call(rows, list(kinds.of_calls(calls, graph)))
    return Peer(ran.instructions, ran.head, ran.arena, kinds.by_kind(layers))


def _by_call(
    operators: Sequence[tuple[str, int]], calls: Sequence[tuple[RunnerCall, Layer]]
) -> list[tuple[Layer, int]]:
    """The operators' instructions by our calls. An operator without a result of ours, as a padding
    that a convolution of ours has in it, belongs to the call of the next one that has one."""
    owners = {step.tensor: number for number, (call, _) in enumerate(calls) for step in call.steps}
    sums = [0] * len(calls)
    waiting, last = 0, len(calls) - 1
    for name, instructions in operators:
        waiting += instructions
        if name in owners:
            last = owners[name]
            sums[last] += waiting
            waiting = 0
    sums[last] += waiting
    return [(layer, count) for (_, layer), count in zip(calls, sums, strict=True)]
