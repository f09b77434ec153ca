"""The stack of many small firmwares, read from ELF files that are built without CMake."""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import microgen
from microgen import relay, verifier
from microgen.base.manifest import EstimateRecord
from microgen.relay import Expr, Function, IRModule
from microgen.target import board as boards
from scripts.measuring.code_bytes import compiler
from tests.frontends.relay.random_networks import Network
from tests.support.each_compiled import each_compiled

_LISTED = re.compile(r"^(?:  |list\(APPEND RUNTIME_SOURCES )(\S+\.[cS])\)?$", re.MULTILINE)
# The flags of projects, without those for debuggers and warnings, and with CMake's for each file.
_C = ("-std=c99", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off", "-w")
_INCLUDE = ("-Imodel/codegen/host/include", "-Icrt/include", "-Icrt/src", "-idirafter", "crt/libc")
_LINK = ("-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-nostdlib")


@dataclass
class Firmwares:
    """Firmwares of a board, which have the objects of equal runtime sources in common. ``folder``
    is an empty folder."""

    board: str
    toolchain: str
    folder: Path
    objects: dict[str, Path] = field(default_factory=dict)

    def stack(self, module: IRModule, **options: Any) -> tuple[int, EstimateRecord]:
        """The bytes that a module's firmware takes, and what was estimated."""
        made = microgen.compile_model(module, self.board, toolchain=self.toolchain, **options)
        project = self.folder / "project"
        made.files.write_to(project, force=True)
        (project / "build").mkdir()
        objects = [self._object(project, name) for name in _sources(project)]
        self._link(project, objects)
        found = verifier.stack_bound(project)
        assert found.problems == (), found.problems
        return found.nbytes, made.manifest.estimate

    def _object(self, project: Path, name: str) -> Path:
        key = hashlib.sha256((project / name).read_bytes()).hexdigest()
        is_models = name.startswith(("model/", "src/main.c"))
        if is_models or key not in self.objects:
            (made,) = each_compiled(self._command(name), [project / name], project)
            self.objects[key] = made.rename(self.folder / f"{key}.o")
        return self.objects[key]

    def _link(self, project: Path, objects: list[Path]) -> None:
        board = boards.load(self.board)
        gcc = [f"{board.toolchain}gcc", *board.cpu.flags("gcc"), *board.cflags]
        found = (*gcc, "-print-libgcc-file-name")
        library = subprocess.run(found, check=True, capture_output=True, text=True).stdout.strip()
        linker = gcc
        if self.toolchain == "llvm":
            linker = [*compiler(board.cpu, "llvm"), *board.cflags, "-fuse-ld=lld"]
        script = project / "boards" / f"{self.board}.ld"
        out = project / "build" / "firmware.elf"
        command = [*linker, *_LINK, "-T", script, *objects, library, "-o", out]
        subprocess.run(command, check=True, capture_output=True)

    def _command(self, name: str) -> list[str]:
        board = boards.load(self.board)
        flags = [*compiler(board.cpu, self.toolchain), *board.cflags, *_INCLUDE]
        if name.endswith(".c"):
            flags += [*_C, "-O2" if name.startswith("model/") else "-Os"]
            flags += ["-fomit-frame-pointer"] if self.toolchain == "llvm" else []
        return flags


def _sources(project: Path) -> list[str]:
    """The sources that a bare-metal build compiles, as the project's CMakeLists.txt lists them."""
    text = (project / "CMakeLists.txt").read_text(encoding="utf-8")
    lists, _, rest = text.partition("if(MICROGEN_ZEPHYR)")
    own = rest.partition("option(MICROGEN_WERROR")[2].partition("if(MICROGEN_TVM_RUNTIME)")[0]
    return _LISTED.findall(lists + own)


def drawn(seed: int) -> IRModule:
    """A random module: most are some steps on vectors or images, whose results are outputs and
    operands of each other; a quarter are networks of layers."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 3:
        return IRModule.from_expr(Network(seed).function(int(rng.integers(2, 8))))
    dtype = ("float32", "float32", "int32")[seed % 4]
    shape = tuple(map(int, rng.integers(1, 6, int(rng.integers(1, 4)))))
    inputs = [relay.var(f"x{i}", shape=shape, dtype=dtype) for i in range(int(rng.integers(1, 5)))]
    two = [relay.add, relay.subtract, relay.multiply, relay.maximum, relay.minimum]
    one = [relay.nn.relu, relay.negative, relay.abs]
    if dtype == "float32":
        two, one = [*two, relay.divide], [*one, relay.exp, relay.tanh, relay.sigmoid, relay.sqrt]
    live: list[Expr] = [*inputs]
    for _ in range(int(rng.integers(1, 9))):
        kind, left, right = int(rng.integers(len(two) + len(one))), *_two(rng, live)
        live.append(two[kind](left, right) if kind < len(two) else one[kind - len(two)](left))
    made = live[len(inputs) :]
    most = len(made) if rng.integers(2) else int(rng.integers(1, len(made) + 1))
    outputs = [made[int(i)] for i in rng.permutation(len(made))[:most]]
    return IRModule.from_expr(Function(inputs, outputs[0] if most == 1 else relay.Tuple(outputs)))


def _two(rng: np.random.Generator, live: list[Expr]) -> tuple[Expr, Expr]:
    left, right = rng.integers(0, len(live), 2)
    return live[int(left)], live[int(right)]
