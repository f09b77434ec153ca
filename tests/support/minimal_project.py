"""A project with a handwritten model of two operators: y = x + (1, 2, ..., 24), in int8."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from microgen.base.files import FileTree
from microgen.base.manifest import FORMAT, EstimateRecord, Manifest, ModelRecord, PlanRecord
from microgen.building import toolchain
from microgen.building.builder import BuildResult, build
from microgen.graph.ir.graph import ArrayType, DType
from microgen.kernels import headers
from microgen.planner.program.kernel_call import KernelCode
from microgen.planner.program.types import Port
from microgen.project.firmware import project
from microgen.running.runner import qemu
from microgen.target import board as boards
from tests.support.tools import needs

OPERATORS = "model/codegen/host/src/default_lib1.c"
PARAMS = "model/codegen/host/src/default_params.c"
NBYTES = 24

_FOLDER = Path(__file__).parents[1] / "data" / "minimal_model"
_TYPE = ArrayType((1, NBYTES), DType.INT8, None)

needs_build = needs("cmake", "ninja", "arm-none-eabi-gcc", "cc")
needs_qemu = needs("qemu-system-arm")


# The boards whose firmware microgen builds. That of the others is made by a framework.
BUILT_HERE = [name for name in boards.available() if not boards.load(name).component]


def without_machine(board: boards.Board) -> str:
    """Why QEMU, if it is here, does not run the board: it is too old. Otherwise empty."""
    if board.qemu is None or not toolchain.has(board.qemu.system):
        return ""
    if board.qemu.machine in qemu.machines(board.qemu.system):
        return ""
    return (
        f"{board.qemu.system} has no machine {board.qemu.machine}: install QEMU 9 or newer, such "
        "as qemu-system-arm of Debian's backports"
    )


def _needed(board: boards.Board) -> list[pytest.MarkDecorator]:
    missing = without_machine(board)
    return [
        needs(f"{board.toolchain}gcc", *([board.qemu.system] if board.qemu else [])),
        pytest.mark.skipif(bool(missing), reason=missing or "it is there"),
    ]


def board_params(*names: str) -> list[ParameterSet]:
    """These boards, or all that microgen builds, each skipped if its compiler or its emulator is
    missing."""
    return [pytest.param(name, marks=_needed(boards.load(name))) for name in names or BUILT_HERE]


def model_files(changed: Mapping[str, str] = {}) -> FileTree:
    """The model's files, in which ``changed`` replaces some texts."""
    files = {p.relative_to(_FOLDER).as_posix(): p.read_bytes() for p in _FOLDER.rglob("*.*")}
    return FileTree({**files, **{name: text.encode() for name, text in changed.items()}})


def with_statement(statement: str) -> dict[str, str]:
    """The operators' source, with a C statement in front of the first one's code."""
    text = model_files().files[OPERATORS].decode()
    return {OPERATORS: text.replace("    (void)memcpy", f"    {statement}\n    (void)memcpy")}


def assemble(
    board: str,
    changed: Mapping[str, str] = {},
    kernels: tuple[str, ...] = (),
) -> FileTree:
    """The project without its manifest. ``kernels`` are compiled out of line."""
    codes = tuple(
        KernelCode(f"mg_{name}", headers.path(name), ("MG_ROUND_TWICE",)) for name in kernels
    )
    model = project.Model(
        module="default",
        inputs=(Port("x", "the input", _TYPE),),
        outputs=(Port("y", "the output", _TYPE),),
        kernels=codes,
        shared_kernels=codes,
    )
    return project.assemble(model_files(changed), [model], board=boards.load(board))


def write(root: Path, board: str, changed: Mapping[str, str] = {}) -> Path:
    """Writes the project. Its manifest has only what ``build`` reads."""
    tree = assemble(board, changed)
    manifest = Manifest(
        format=FORMAT,
        microgen="",
        module="default",
        model=ModelRecord("", "", ""),
        board=boards.load(board).to_json(),
        options={},
        inputs=(),
        outputs=(),
        calls=(),
        kernels=(),
        plan=PlanRecord("", 0, 0, "", 0, 16, (), (), ()),
        constants=(),
        estimate=EstimateRecord(0, 0, 0, 0),
        files=tree.digests(),
    )
    tree.merged(FileTree({"microgen.json": manifest.dumps()})).write_to(root)
    return root


@functools.cache
def built(board: str) -> BuildResult:
    """The unchanged model's firmware, built once per test run. Tests must not change it."""
    folder = Path(tempfile.mkdtemp(prefix="microgen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build(write(folder / "project", board))
