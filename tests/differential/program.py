"""Several networks as one C program with sanitizers, because most of the work is compiling.

``./program K`` runs network K on its samples, so an error in one network does not hide the others.
Each tensor is a block of its own of exactly its size, so reads and writes outside of it are found.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen.pipeline import Compiled
from microgen.planner.program.types import Port
from tests.crt.executor.executor_graphs import CRT, EXECUTOR_SOURCES
from tests.differential.stock import Array
from tests.support import shared_kernels
from tests.support.each_compiled import UNOPTIMIZED, each_compiled, quick_linker

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# As in `make test`: compiling takes most of the time, and the sanitizers find the same.
_MAIN = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
{includes}

static void get(void *data, size_t nbytes, FILE *file)
{{
    if (fread(data, 1, nbytes, file) != nbytes) exit(90);
}}
static void put(const void *data, size_t nbytes, FILE *file)
{{
    if (fwrite(data, 1, nbytes, file) != nbytes) exit(91);
}}
{functions}
int main(int argc, char **argv)
{{
    static int (*const run[])(FILE *, FILE *) = {{{names}}};
    FILE *in = fopen("in.bin", "rb"), *out = fopen("out.bin", "wb");
    int status;

    if (argc != 2 || !in || !out) return 92;
    status = run[atoi(argv[1])](in, out);
    fclose(in);
    return fclose(out) ? 93 : status;
}}
"""
_FUNCTION = """
static int run_{module}(FILE *in, FILE *out)
{{
    struct tvmgen_{module}_inputs inputs{inputs};
    struct tvmgen_{module}_outputs outputs{outputs};
    int k, status = 0;

{allocate}
    {reset}
    for (k = 0; k < {samples} && !status; k++) {{
{read}
        status = tvmgen_{module}_run({arguments}) ? 1 : 0;
{write}
    }}
{release}
    return status;
}}
"""


class ProgramError(Exception):
    """The C does not compile, or its program ends with an error. The message is the output."""


@dataclass(frozen=True)
class Program:
    """A compiled program of several networks."""

    folder: Path
    networks: tuple[Compiled, ...]

    def run(self, index: int, inputs: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """The outputs of one network for each sample of ``inputs``, in order. Raises
        ProgramError."""
        ports = self.networks[index].program.outputs
        given = b"".join(array.tobytes() for sample in inputs for array in sample)
        (self.folder / "in.bin").write_bytes(given)
        done = subprocess.run(
            ["./program", str(index)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise ProgramError(f"the program ended with {done.returncode}: {done.stderr[:1500]}")
        return _parsed((self.folder / "out.bin").read_bytes(), ports, len(inputs))


def _parsed(data: bytes, ports: Sequence[Port], samples: int) -> list[list[Array]]:
    arrays, at = [], 0
    for port in [*ports] * samples:
        kind = port.type
        found = np.frombuffer(data[at : at + kind.nbytes], kind.dtype.numpy)
        arrays.append(found.reshape(kind.shape))
        at += kind.nbytes
    if at != len(data):
        raise ProgramError(f"the program wrote {len(data)} bytes; {at} were expected")
    return [arrays[k : k + len(ports)] for k in range(0, len(arrays), len(ports))]


def build(networks: Sequence[Compiled], folder: Path, samples: int) -> Program:
    """Compiles networks with different module names. Raises ProgramError."""
    sources: dict[str, Path] = {}
    includes = set[str]()
    for compiled in networks:
        project = folder / compiled.program.module
        compiled.files.write_to(project, force=True)
        if compiled.manifest.options["executor"] == "graph":
            sources |= _graph_executor(project)
        own_sources = [*(project / "model/codegen/host/src").glob("*.S"), joined(project)]
        sources |= {path.name: path for path in own_sources}
        folders = ["model/codegen/host/include", "model/executor-config/graph"]
        folders += ["crt/include", "crt/src"]
        includes |= {f"-I{project.name}/{part}" for part in folders}
    kernels = shared_kernels.written([one.program for one in networks], folder / "kernels")
    own = [str(path.relative_to(folder)) for path in (*sources.values(), *kernels)]
    return linked(networks, folder, samples, [*flags(), *sorted(includes), *own])


def flags() -> tuple[str, ...]:
    """The compiler's options: not optimized if no slow tests run, see conftest.py."""
    unoptimized = "TESTS_BUILD_QUICKLY" in os.environ
    return ("-std=c99", *SANITIZERS, *(UNOPTIMIZED if unoptimized else ("-O1",)))


def joined(project: Path) -> Path:
    """One source instead of those of a model's C, because starting a compiler takes longer than
    they do."""
    path = project / f"{project.name}.c"
    folder = "model/codegen/host/src"
    names = sorted(source.name for source in (project / folder).glob("*.c"))
    path.write_text("".join(f'#include "{folder}/{name}"\n' for name in names))
    return path


def linked(
    networks: Sequence[Compiled], folder: Path, samples: int, words: Sequence[str]
) -> Program:
    """Compiles a driver in ``folder`` with the compiler's arguments. Raises ProgramError."""
    (folder / "main.c").write_text(_main(networks, samples))
    options = [word for word in words if word.startswith("-")]
    sources = [Path(word) for word in words if word.endswith((".c", ".S"))]
    libraries = [word for word in words if word.endswith(".a")]
    try:
        made = each_compiled(("cc", *options), [Path("main.c"), *sources], folder)
        command = ["cc", *options, *quick_linker(), *map(str, made), *libraries, "-o", "program"]
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as error:
        raise ProgramError(f"does not compile: {error.stderr[:1500]}") from error
    return Program(folder, tuple(networks))


def _graph_executor(project: Path) -> dict[str, Path]:
    """The sources of the executor, once for all networks.

    Each network has a registry of its own, though firmware has only one.
    """
    for name in ("lib0", "registry"):
        path = project / f"model/codegen/host/src/{project.name}_{name}.c"
        own = f"#define TVMSystemLibEntryPoint system_lib_{project.name}\n"
        path.write_text(own + path.read_text())
    sources = {path.name: project / "crt" / path.relative_to(CRT) for path in EXECUTOR_SOURCES}
    return {**sources, "platform.c": project / "src/platform.c"}


def _main(networks: Sequence[Compiled], samples: int) -> str:
    modules = [compiled.program.module for compiled in networks]
    return _MAIN.format(
        includes="\n".join(f'#include "tvmgen_{module}.h"' for module in modules),
        functions="".join(_function(compiled, samples) for compiled in networks),
        names=", ".join(f"run_{module}" for module in modules),
    )


def _function(compiled: Compiled, samples: int) -> str:
    program = compiled.program
    fields = [(f"inputs.{port.name}", port.type.nbytes) for port in program.inputs]
    made = [(f"outputs.{port.name}", port.type.nbytes) for port in program.outputs]

    def lines(template: str, ports: list[tuple[str, int]]) -> str:
        return "\n".join(template.format(name=name, nbytes=nbytes) for name, nbytes in ports)

    is_mapped = program.has_workspace_io
    allocated = [] if is_mapped else [*fields, *made]
    mapped = f" = tvmgen_{program.module}_map_{{}}()" if is_mapped else ""
    return _FUNCTION.format(
        module=program.module,
        samples=samples,
        inputs=mapped.format("inputs"),
        outputs=mapped.format("outputs"),
        arguments="" if is_mapped else "&inputs, &outputs",
        reset=f"tvmgen_{program.module}_reset();" if program.state else "",
        allocate=lines("    {name} = malloc({nbytes});", allocated),
        read=lines("        get({name}, {nbytes}, in);", fields),
        write=lines("        put({name}, {nbytes}, out);", made),
        release=lines("    free({name});", allocated),
    )
