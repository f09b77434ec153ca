"""The graph executor's program and pool: the JSON's storages have the offsets that C computes."""

from __future__ import annotations

import dataclasses
import random
import subprocess
from pathlib import Path

import pytest

from microgen.planner.executors import graph as executor
from microgen.planner.executors import stored, tables
from microgen.planner.program.types import Storage
from tests.planner.executors.test_graph import chain, lowered, seed_demo

CRT = Path(__file__).resolve().parents[3] / "crt"
COMPILERS = {
    "host": ("gcc",),
    "arm": ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"),
    "riscv": ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"),
}


def test_outputs_and_intermediates_are_storages_and_inputs_stay_the_callers() -> None:
    graph = chain([(2, 3), (3, 2), (2, 3), (3, 2), (2, 3)])
    program = lowered(graph)
    made = executor.build(program)
    found = stored.stored(program, made)
    names = [[a.name for a in call.args] for call in found.calls]
    assert names == [["t0", "sid_1"], ["sid_1", "sid_2"], ["sid_2", "sid_1"], ["sid_1", "sid_2"]]
    assert found.calls[0].args[0].storage is Storage.INPUT
    assert [(b.name, b.nbytes, b.tensor) for b in found.buffers] == [
        ("sid_1", 24, "t1"),
        ("sid_2", 24, "t2"),
    ]


def test_the_pool_has_tables_storages_and_scratch() -> None:
    graph = seed_demo()
    program = lowered(graph)
    made = executor.build(program)
    found = stored.stored(program, made)
    plan = stored.plan(found, made, 4)
    output, scratch = plan.placements
    first = tables.table_bytes(tables.counts(made), 4)
    assert (output.name, output.offset, output.nbytes) == ("sid_3", first, 401408)
    assert (scratch.name, scratch.offset) == ("scratch_0", first + 401408)
    assert plan.peak == first + 401408 + program.calls[0].scratch
    assert stored.executor_bytes(found, made, 4) == first + 401408


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_tables_are_as_large_as_the_compiler_says(compiler: str, tmp_path: Path) -> None:
    draw = random.Random(1)
    lines = ['#include "tvm/runtime/crt/graph_executor.h"']
    for number in range(50):
        counts = tables.GraphCounts(*(draw.randrange(1, 60) for _ in range(8)))
        passed = ", ".join(map(str, dataclasses.astuple(counts)))
        small, large = (tables.table_bytes(counts, width) for width in (4, 8))
        expected = f"(sizeof(void *) == 4U ? {small}U : {large}U)"
        size = f"TVM_GRAPH_EXECUTOR_TABLE_BYTES({passed}) == {expected} ? 1 : -1"
        lines.append(f"typedef char check_{number}[{size}];")
    source = tmp_path / "sizes.c"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [*COMPILERS[compiler], "-fsyntax-only", "-I", CRT / "include"]
    subprocess.run([*command, "-idirafter", CRT / "libc", source], check=True)
