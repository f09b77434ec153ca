"""Several models as one program that gives each of them its memory, and finds what was written
elsewhere: for the host with sanitizers, and for emulated boards with guard zones.

Inputs and outputs are in the memory, too, so that outputs may overlap inputs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen.building.builder import build
from microgen.graph.ir.graph import Array
from microgen.pipeline import Compiled, Firmware
from microgen.target import board as boards
from tests.crt.executor.executor_graphs import CRT
from tests.differential.program import flags, joined
from tests.differential.stock import SAMPLES
from tests.support import shared_kernels
from tests.support.each_compiled import UNOPTIMIZED, each_compiled

OPTIONS = {"pool": ("memory:*:external",), "workspace_io": True, "alignment": 4}
GUARD = 64  # bytes before and after a model's memory
STRAY = 3  # the status after a write outside of all buffers
_DRIVER = Path(__file__).with_name("guarded_driver.c")
_MODEL = """
static const int32_t gaps_{module}[][2] = {{{gaps}{{0, 0}}}};

static int run_{module}(int32_t cases, int32_t results)
{{
    uint8_t *memory = allocated({nbytes});
    struct tvmgen_{module}_workspace_pools pools = {{memory}};
    struct tvmgen_{module}_inputs inputs = tvmgen_{module}_map_inputs(&pools);
    struct tvmgen_{module}_outputs outputs = tvmgen_{module}_map_outputs(&pools);
    int status = 0;

    for (int k = 0; k < SAMPLES && !status; k++) {{
        (void)memset(memory, FILLER, {nbytes});
{reads}
        status = tvmgen_{module}_run(&pools) ? 1 : strays(memory, {nbytes}, gaps_{module});
{writes}
    }}
    released(memory);
    return status;
}}
"""


class GuardedError(Exception):
    """The program ends with an error. The message is its status and output."""


@dataclass(frozen=True)
class Host:
    """A program of several models, with sanitizers. Each model's memory is a block of its own."""

    folder: Path
    models: tuple[Compiled, ...]

    def run(self, index: int, inputs: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """The outputs of one model for each sample. Raises GuardedError."""
        (self.folder / "cases.bin").write_bytes(_record(index, inputs))
        done = subprocess.run(
            ["./program"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise GuardedError(f"status {done.returncode}: {done.stdout}{done.stderr[:1500]}")
        (found,) = _parsed((self.folder / "results.bin").read_bytes(), [self.models[index]])
        return found


def for_host(models: Sequence[Compiled], folder: Path) -> Host:
    """Compiles models with different module names."""
    folder.mkdir(parents=True, exist_ok=True)
    for model in models:
        model.files.write_to(folder / model.program.module, force=True)
    command = ("cc", *flags(), "-DGUARD=0", f"-I{CRT}/include", f"-I{CRT}/src")
    kernels = shared_kernels.written([model.program for model in models], folder / "kernels")
    platform = [CRT / "src/platform/io.c", folder / models[0].program.module / "src/platform.c"]
    made = each_compiled(command, [*platform, *kernels], folder)
    (folder / "main.c").write_text(driver(models))
    own = ["main.c", *(str(joined(folder / model.program.module)) for model in models)]
    headers = [f"-I{m.program.module}/model/codegen/host/include" for m in models]
    last = [*UNOPTIMIZED, *headers, *own, *map(str, made)]
    done = subprocess.run(
        [*command, *last, "-o", "program"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr[:3000]
    return Host(folder, tuple(models))


def on_board(
    firmware: Firmware, folder: Path, board: str, inputs: Sequence[Sequence[Sequence[Array]]]
) -> list[list[list[Array]]]:
    """The outputs of each model for each sample, computed on an emulated board. Raises
    GuardedError."""
    project = folder / "project"
    firmware.files.write_to(project)
    (project / "src" / "main.c").write_text(driver(firmware.models))
    elf = build(project).elf
    records = [_record(index, samples) for index, samples in enumerate(inputs)]
    (folder / "cases.bin").write_bytes(b"".join(records))
    machine = boards.load(board).qemu
    assert machine is not None, "the board is emulated"
    command = [machine.system, "-M", machine.machine, *machine.args, "-nographic"]
    files = ["-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*command, *files, "-kernel", str(elf)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise GuardedError(f"status {done.returncode}: {done.stdout}{done.stderr}")
    return _parsed((folder / "results.bin").read_bytes(), firmware.models)


def driver(models: Sequence[Compiled]) -> str:
    """The program's main source."""
    names = [model.program.module for model in models]
    room = max(model.plan.peak for model in models)
    return f"#define ROOM {room}\n" + _DRIVER.read_text().replace(
        "/* models */",
        "".join(
            [
                *(f'#include "tvmgen_{name}.h"\n' for name in names),
                *map(_function, models),
                "\nstatic int (*const run[])(int32_t, int32_t) = {",
                ", ".join(f"run_{name}" for name in names),
                "};",
            ]
        ),
    )


def _function(model: Compiled) -> str:
    program, (pool,) = model.program, model.plan.pools
    return _MODEL.format(
        module=program.module,
        nbytes=pool.nbytes,
        gaps="".join(f"{{{first}, {end}}}, " for first, end in _gaps(model)),
        reads="\n".join(
            f"        status |= read_bytes(cases, inputs.{port.name}, {port.type.nbytes});"
            for port in program.inputs
        ),
        writes="\n".join(
            f"        status |= write_bytes(results, outputs.{port.name}, {port.type.nbytes});"
            for port in program.outputs
        ),
    )


def _gaps(model: Compiled) -> Iterator[tuple[int, int]]:
    """The parts of the memory that no buffer ever has."""
    (pool,) = model.plan.pools
    taken = np.zeros(pool.nbytes + 2, np.int8)
    for place in model.plan.placements:
        taken[1 + place.offset : 1 + place.offset + place.nbytes] = 1
    taken[[0, -1]] = 1
    edges = np.flatnonzero(np.diff(taken))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _record(index: int, inputs: Sequence[Sequence[Array]]) -> bytes:
    head = np.array([index], "<i4").tobytes()
    return head + b"".join(array.tobytes() for sample in inputs for array in sample)


def _parsed(data: bytes, models: Sequence[Compiled]) -> list[list[list[Array]]]:
    """The outputs of the models' samples, in order."""
    at, found = 0, []
    for model in models:
        samples = []
        for _ in range(SAMPLES):
            arrays = []
            for kind in (port.type for port in model.program.outputs):
                values = np.frombuffer(data[at : at + kind.nbytes], kind.dtype.numpy)
                arrays.append(values.reshape(kind.shape))
                at += kind.nbytes
            samples.append(arrays)
        found.append(samples)
    assert at == len(data), "the program wrote another number of bytes"
    return found
