"""Compiles cases with the codegen, and runs the functions on the host and on boards."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from microgen.building.builder import build
from microgen.compiler.codegens.cmsis_nn import CODEGEN
from microgen.compiler.codegens.external import CFunction, CSource, ExternalFunction
from microgen.graph.ir.graph import Array, Graph, Origin
from microgen.target import board as boards
from microgen.target.board import Board
from tests.compiler.codegens import native
from tests.kernels.conformance import conformance as c
from tests.support import minimal_project

TREE = os.environ.get("CMSIS_NN_PATH", "")
NEEDS_TREE = pytest.mark.skipif(
    not TREE, reason="CMSIS_NN_PATH does not name a source tree of CMSIS-NN"
)
_MVE_DRIVER = Path(__file__).parents[3] / "qemu" / "mve_driver.c"
GUARD = 32  # bytes after every output on a board that must not change
_FILLER = 0x5A
_ARGUMENTS = 29  # the most that a function has
_WORDS = _ARGUMENTS + 3
_LENIENT = ("-fno-sanitize=shift",)  # CMSIS-NN shifts negative numbers to the left


@dataclass(frozen=True)
class Example:
    """An external function with inputs and the outputs that it must compute."""

    name: str
    graph: Graph
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    @classmethod
    def of(cls, case: c.Case) -> Example:
        given = tuple(t.array for t in case.inputs if not t.is_constant)
        return cls(f"{case.name}: {case.attrs}", case.graph, given, (case.expected,))


def accepted(cases: Sequence[c.Case], board: Board) -> list[Example]:
    """Examples of the cases that the codegen takes."""
    taken = [case for case in cases if not CODEGEN.refusal(case.node, case.graph, board)]
    return [Example.of(case) for case in taken]


def functions(examples: Sequence[Example]) -> list[ExternalFunction]:
    return [
        ExternalFunction(f"external_{i}", each.graph, None, {}, Origin("case", each.name))
        for i, each in enumerate(examples)
    ]


def compiled(examples: Sequence[Example], board: Board) -> CSource:
    """The codegen's source for the examples on a board."""
    (source,) = CODEGEN.configured({"path": TREE}).compile(functions(examples), board)
    return source


def check(examples: Sequence[Example], board: str, folder: Path) -> None:
    """Checks the outputs of all examples, on the host with sanitizers or on a board's emulator."""
    target = boards.load(board)
    source = compiled(examples, target)
    if target.is_host:
        _run_on_host(source, examples, folder)
    else:
        _run_on_board(source, examples, target, folder)


def _arguments(function: CFunction, example: Example) -> list[Array]:
    outputs = [np.full_like(array, _FILLER) for array in example.outputs]
    # Scratch starts as garbage.
    scratch = [np.full(function.scratch, 0x77, np.uint8)] if function.scratch else []
    return [*example.inputs, *(array for _, array in function.constants), *outputs, *scratch]


def _first_output(function: CFunction, example: Example) -> int:
    return len(example.inputs) + len(function.constants)


def _write(source: CSource, folder: Path) -> None:
    """Writes the codegen's files, and its code after prototypes."""
    for name, contents in source.files.items():
        path = folder / "cmsis" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
    (folder / "prototypes.h").write_text(_prototypes(source))
    (folder / "cases.c").write_text(f"{_prototypes(source)}{source.code}")


def _prototypes(source: CSource) -> str:
    heads = re.findall(r"^int32_t \w+\([^)]*\)(?=\n\{)", source.code, re.MULTILINE)
    return "".join(["#include <stdint.h>\n", *(f"{head};\n" for head in heads)])


def _call(function: CFunction, example: Example) -> str:
    count = len(_arguments(function, example))
    return f"{function.symbol}({', '.join(f'a[{i}]' for i in range(count))})"


# The host


def _run_on_host(source: CSource, examples: Sequence[Example], folder: Path) -> None:
    made = functions(examples)
    inputs = {f.symbol: e.inputs for f, e in zip(made, examples, strict=True)}
    outputs = native.run([(source, native.cases(source, made, inputs))], folder, *_LENIENT)
    for example, (found,) in zip(examples, outputs, strict=True):
        _compare(example, found.tobytes())


def table(rows: str) -> str:
    return f"#define ARGUMENTS {_ARGUMENTS}\nstatic const function functions[] = {{{rows}}};\n"


def _compare(example: Example, found: bytes) -> bytes:
    """The rest of ``found`` after the example's only output, which is compared."""
    (expected,) = example.outputs
    array = np.frombuffer(found[: expected.nbytes], expected.dtype).reshape(expected.shape)
    wrong = np.argwhere(array != expected)
    assert not len(wrong), (
        f"{example.name}: {len(wrong)} of {expected.size} differ, first at {wrong[0]}: "
        f"{array[tuple(wrong[0])]}, {expected[tuple(wrong[0])]} is expected"
    )
    return found[expected.nbytes :]


# Boards


def _run_on_board(source: CSource, examples: Sequence[Example], board: Board, folder: Path) -> None:
    pairs = list(zip(source.functions, examples, strict=True))
    records = [
        board_record(i, _arguments(f, e), _first_output(f, e)) for i, (f, e) in enumerate(pairs)
    ]
    found = run_on_board(source, _board_functions(source, pairs), records, board, folder)
    for example in examples:
        found = _compare(example, found)
        guard, found = found[:GUARD], found[GUARD:]
        assert guard == bytes([_FILLER]) * GUARD, (
            f"{example.name}: fails, or writes past its output"
        )
    assert not found


def run_on_board(
    source: CSource, calls: str, records: Sequence[bytes], board: Board, folder: Path
) -> bytes:
    """What mve_driver.c writes when it is built with ``calls`` and reads ``records``."""
    _write(source, folder)
    project = minimal_project.write(folder / "project", board.name)
    shutil.copytree(folder / "cmsis", project / "cmsis")
    shutil.copytree(c.CRT, project / "crt", dirs_exist_ok=True)
    shutil.copy(folder / "cases.c", project / "src" / "cases.c")
    (project / "src" / "functions.inc").write_text(calls)
    (project / "src" / "main.c").write_text(_MVE_DRIVER.read_text())
    with (project / "CMakeLists.txt").open("a") as file:
        file.write(_more_cmake(source))
    elf = build(project).elf
    (folder / "cases.bin").write_bytes(b"".join(records))
    assert board.qemu is not None
    command = [board.qemu.system, *board.qemu.args, "-M", board.qemu.machine, "-nographic"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(elf)]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "outputs.bin").read_bytes()


def _board_functions(source: CSource, pairs: Sequence[tuple[CFunction, Example]]) -> str:
    """Functions that call the cases, and change the bytes after the output if the case fails."""
    lines = [_prototypes(source)]
    for i, (function, example) in enumerate(pairs):
        output = _first_output(function, example)
        after = f"((uint8_t *)a[{output}])[{example.outputs[0].nbytes}] = 0;"
        lines.append(f"static void call_{i}(const void *p, void **a)")
        lines.append(f"{{ (void)p; if ({_call(function, example)} != 0) {{ {after} }} }}")
    return "\n".join([*lines, table(", ".join(f"call_{i}" for i in range(len(pairs))))])


def _more_cmake(source: CSource) -> str:
    sources = " ".join(sorted(f"cmsis/{n}" for n in source.files if n.endswith(".c")))
    folders = " ".join(f"cmsis/{name}" for name in source.include_dirs)
    return (
        f"target_sources(firmware PRIVATE src/cases.c {sources})\n"
        f"target_include_directories(firmware PRIVATE {folders})\n"
        f"set_property(SOURCE {sources} APPEND PROPERTY COMPILE_OPTIONS -w -O2)\n"
    )


def board_record(index: int, arrays: Sequence[Array], output: int) -> bytes:
    """A case in the form that mve_driver.c reads; every array starts at a multiple of 16."""
    parts = [array.tobytes() for array in arrays]
    parts[output] += bytes([_FILLER]) * GUARD
    offsets, body = [], b""
    for part in parts:
        offsets.append(4 * _WORDS + len(body))
        body += part + bytes(-len(part) % 16)
    places = [*offsets, *[-1] * (_ARGUMENTS - len(offsets))]
    words = [0, *places, offsets[output], len(parts[output])]
    return np.array([index, 4 * _WORDS + len(body), *words], "<i4").tobytes() + body
