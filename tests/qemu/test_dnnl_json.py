"""The C runtime of dnnl_json on emulated boards.

Tests compare its results, and the memory that it takes where pointers have 4 bytes.
"""

from __future__ import annotations

import dataclasses
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen.building.builder import build
from microgen.running.runner import qemu
from microgen.target import board as boards
from microgen.tvm.codegens.dnnl import codegen, runtime
from tests.crt.dnnl import dnnl_json_cases as cases
from tests.crt.dnnl.dnnl_json_numpy import DRAWS, drawn
from tests.support import minimal_project
from tests.tvm.codegens.dnnl.random_functions import random_function, random_inputs

MAIN = Path(__file__).with_name("dnnl_json_main.c")
POINTER = 4


def examples() -> list[cases.Example]:
    found = []
    for name in DRAWS:
        for seed in range(3):
            node = drawn(name, seed)
            found.append(cases.Example(node.graph(), node.operands))
    for seed in range(40):
        module = random_function(seed)
        assert module.types is not None
        made = codegen.serialize("f", module["main"], module.types)
        found.append(cases.Example(made.graph, random_inputs(module, seed), made.constants))
    return found


def packed(example: cases.Example) -> bytes:
    made = cases.case(example.graph, example.inputs, example.constants)
    made = dataclasses.replace(made, pool=runtime.pool_bytes(example.graph, POINTER))
    data = made.packed()
    return struct.pack("<I", len(data)) + data


def firmware(board: str, folder: Path) -> Path:
    """A built project that contains the runtime, with another main."""
    text = minimal_project.model_files().files[minimal_project.OPERATORS].decode()
    changed = {minimal_project.OPERATORS: f'#include "dnnl/runtime_dnnl_json.h"\n{text}'}
    project = minimal_project.write(folder / "project", board, changed)
    (project / "src" / "main.c").write_text(MAIN.read_text())
    assert (project / "crt/src/dnnl/dnnl_operators.c").is_file()
    return build(project).elf


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", minimal_project.board_params("mps3_an547", "qemu_riscv32"))
def test_boards_compute_what_the_host_does(board: str, tmp_path: Path) -> None:
    every = examples()
    (tmp_path / "cases.bin").write_bytes(b"".join(map(packed, every)))
    command = qemu.command(boards.load(board), firmware(board, tmp_path))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = (tmp_path / "results.bin").read_bytes()
    host = cases.compiled(tmp_path)
    given = [cases.case(e.graph, e.inputs, e.constants) for e in every]
    for example, result in zip(every, cases.run(host, given), strict=True):
        words = struct.unpack("<5i", found[:20])
        pool = runtime.pool_bytes(example.graph, POINTER)
        assert words == (0, 0, 0, pool, runtime.workspace_bytes(example.graph))
        nbytes = sum(map(len, result.outputs))
        value, wanted = found[20 : 20 + nbytes], b"".join(result.outputs)
        bits = np.frombuffer(value, "<u4"), np.frombuffer(wanted, "<u4")
        np.testing.assert_array_equal(*bits, err_msg=str(example.graph))
        found = found[20 + nbytes :]
    assert not found
