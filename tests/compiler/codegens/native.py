"""Compiles and runs functions of ``CSource`` objects on the host, many in one process."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen.base import resources
from microgen.compiler.codegens.external import CFunction, CSource, ExternalFunction
from microgen.graph.ir.graph import Array
from microgen.planner.program.kernel_call import ctype
from tests.support.each_compiled import quick_linker

WARNINGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef"),
    *("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wcast-align", "-Werror"),
    "-ffp-contract=off",
)
SANITIZERS = ("-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
DRIVER = Path(__file__).with_name("native_driver.c")


@dataclass(frozen=True)
class Case:
    """A function, the C function that a generator made of it, and the arrays to call it with."""

    function: ExternalFunction
    made: CFunction
    inputs: Sequence[Array]

    @property
    def read(self) -> list[Array]:
        return [*self.inputs, *(array for _, array in self.made.constants)]

    @property
    def prototype(self) -> str:
        read = [f"const {ctype(a.dtype.name)} *" for a in self.read]
        written = [f"{ctype(t.type.dtype)} *" for t in self.function.outputs]
        scratch = ["uint8_t *"] if self.made.scratch else []
        return f"int32_t {self.made.symbol}({', '.join([*read, *written, *scratch])});"


def cases(
    source: CSource, functions: Sequence[ExternalFunction], inputs: Mapping[str, Sequence[Array]]
) -> list[Case]:
    made = {f.symbol: f for f in source.functions}
    return [Case(f, made[f.symbol], inputs[f.symbol]) for f in functions]


def source_text(source: CSource, of: Sequence[Case]) -> str:
    """The source as microgen writes it, with prototypes first."""
    prototypes = "\n".join(case.prototype for case in of)
    return f"#include <stdint.h>\n\n{prototypes}\n\n{source.code}\n"


def compiled(text: str, folder: Path, *command: str, name: str = "source") -> Path:
    """The object file of a source that must compile without a warning."""
    path = folder / f"{name}.c"
    path.write_text(text)
    target = path.with_suffix(".o")
    line = [*command, *WARNINGS, "-c", str(path), "-o", str(target)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return target


@dataclass(frozen=True)
class _Brought:
    """The files that a source brings: those to compile, and the flags to find the others."""

    sources: Sequence[Path]
    includes: Sequence[str]


def _brought(source: CSource, root: Path) -> _Brought:
    paths = []
    for name, contents in source.files.items():
        paths.append(root / name)
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_bytes(contents)
    includes = [flag for name in source.include_dirs for flag in ("-isystem", str(root / name))]
    runtime = str(resources.folder("crt") / "include")
    return _Brought([p for p in paths if p.suffix == ".c"], [*includes, f"-I{runtime}"])


def _object(path: Path, *flags: str) -> Path:
    target = path.with_suffix(".o")
    subprocess.run(["gcc", "-std=c99", *flags, "-c", str(path), "-o", str(target)], check=True)
    return target


def run(
    sources: Sequence[tuple[CSource, Sequence[Case]]], folder: Path, *lenient: str
) -> list[list[Array]]:
    """The outputs of all cases, in order.

    Buffers have exactly the sizes that are needed. ``lenient`` are flags for the files that sources
    bring.
    """
    everything = [case for _, of in sources for case in of]
    objects = []
    for i, (source, of) in enumerate(sources):
        brought = _brought(source, folder / f"files{i}")
        flags = [*SANITIZERS, *brought.includes]
        objects += [_object(path, *flags, "-w", *lenient) for path in brought.sources]
        objects.append(compiled(source_text(source, of), folder, "gcc", *flags, name=f"source{i}"))
    (folder / "calls.h").write_text(_calls(everything))
    (folder / "in.bin").write_bytes(
        b"".join(np.ascontiguousarray(a).tobytes() for case in everything for a in case.read)
    )
    program = folder / "program"
    line = ["gcc", *WARNINGS, *SANITIZERS, f"-I{folder}", str(DRIVER), *map(str, objects)]
    subprocess.run([*line, *quick_linker(), "-o", str(program)], check=True)
    files = [str(folder / "in.bin"), str(folder / "out.bin")]
    done = subprocess.run([str(program), *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return _outputs(everything, (folder / "out.bin").read_bytes())


def _calls(of: Sequence[Case]) -> str:
    """A wrapper for each case, and a table of the wrappers with the sizes of their arguments."""
    lines = [case.prototype for case in of]
    rows = []
    for number, case in enumerate(of):
        sizes = [array.nbytes for array in case.read]
        sizes += [t.type.nbytes for t in case.function.outputs]
        count = len(sizes)
        sizes += [case.made.scratch] if case.made.scratch else []
        passed = ", ".join(f"p[{i}]" for i in range(len(sizes)))
        lines.append(f"static int32_t call_{number}(void **p)")
        lines.append(f"{{\n    return {case.made.symbol}({passed});\n}}")
        listed = ", ".join(map(str, sizes))
        rows.append(
            f"    {{call_{number}, {len(case.read)}, {count}, {len(sizes)}, {{{listed}}}}},"
        )
    table = "static const struct call calls[] = {"
    return "\n".join([*lines, table, *rows, "};"]) + "\n"


def _outputs(of: Sequence[Case], data: bytes) -> list[list[Array]]:
    found, at = [], 0
    for case in of:
        mine = []
        for tensor in case.function.outputs:
            kind = tensor.type
            raw = data[at : at + kind.nbytes]
            mine.append(np.frombuffer(raw, kind.dtype.numpy).reshape(kind.shape))
            at += kind.nbytes
        found.append(mine)
    assert at == len(data)
    return found
