"""Prints the tables of docs/guides/executors.md: sizes and times with each executor.

    scripts/measure.py executors [--board B] [--executor E] [--interface I] [MODEL ...]

``generate`` is CPU time of the whole process; the other times are wall clock. RAM is the arena with
the input and output buffers. Instructions are those of one inference on
``numpy.random.RandomState(0)``; "around calls" are the ones outside the operators. Without models,
the shipped example is measured. ``make bench`` measures more, with the default executor.
``--executor`` and ``--interface`` are ``generate``'s options. The graph executor has a second line
with the instructions that creating it takes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from microgen.base import manifest
from microgen.graph.ir.graph import Array
from microgen.interface import api
from microgen.running import runner
from microgen.verifier import measure, stack_bound
from scripts.bench.measure import random_input
from scripts.measuring.tables import CHECKOUT

EXAMPLE = CHECKOUT / "examples" / "digits" / "digits_int8.tflite"
COLUMNS = (
    "model",
    "generate CPU s",
    "build s",
    "arena + I/O B",
    "bound B",
    "code B",
    "weights B",
    "stack bound B",
    "instructions",
    "around calls",
)


def children_cpu_seconds() -> float:
    """CPU time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def generate(model: Path, board: str, project: Path, options: list[str]) -> float:
    """Generate with the command line; returns its CPU seconds."""
    before = children_cpu_seconds()
    command = [sys.executable, "-m", "microgen", "generate", model, "-b", board, "-o", project]
    subprocess.run([*command, *options, "-q"], check=True, stdin=subprocess.DEVNULL)
    return children_cpu_seconds() - before


def creation(project: Path, inputs: dict[str, Array]) -> int:
    """Instructions that create a graph executor: the difference between an inference that creates
    it and one that does not.

    Changes the project's ``main.c``, which creates it before anything is counted.
    """
    main = project / "src" / "main.c"
    call = f"(void){manifest.load(project).prefix}_graph_executor(&executor);"
    text = main.read_text().replace(call, "(void)executor;")
    main.write_text(text.replace("TVMGraphExecutor *executor;", "TVMGraphExecutor *executor = 0;"))
    twice = {name: np.stack([array, array]) for name, array in inputs.items()}
    elf = api.build(project).elf
    first, second = runner.run(project, twice, elf=elf, profile=True).instructions or (0, 0)
    return first - second


def row(model: Path, board: str, project: Path, options: list[str]) -> tuple[str, ...]:
    """The measurements of one model as a row."""
    cpu_seconds = generate(model, board, project, options)
    start = time.monotonic()
    built = api.build(project)
    build_seconds = time.monotonic() - start
    record = manifest.load(project)
    sizes, plan = measure(built.elf, record), record.plan
    found = api.run(project, random_input(record), profile=True)
    (instructions,) = found.instructions or (0,)
    (calls,) = found.per_call or ((),)
    return (
        model.name,
        f"{cpu_seconds:.2f}",
        f"{build_seconds:.1f}",
        f"{plan.peak + plan.io_bytes:,}",
        f"{plan.lower_bound + plan.io_bytes:,}",
        f"{sizes.code:,}",
        f"{sizes.weights:,}",
        f"{stack_bound(project).nbytes:,}",
        f"{instructions:,}",
        f"{instructions - sum(calls):,}",
    )


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    description = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="measure.py executors", description=description)
    parser.add_argument("models", type=Path, nargs="*", default=[EXAMPLE])
    parser.add_argument("--board", default="mps2_an386")
    parser.add_argument("--executor", default="aot")
    parser.add_argument("--interface", default="c")
    asked = parser.parse_args(arguments)
    options = ["--executor", asked.executor, "--interface", asked.interface]
    table = Table(*COLUMNS, title=f"{asked.board} {' '.join(options)}")
    with tempfile.TemporaryDirectory(prefix="microgen-bench-") as folder:
        for index, model in enumerate(asked.models):
            project = Path(folder) / str(index)
            table.add_row(*row(model, asked.board, project, options))
            if asked.executor == "graph":
                made = creation(project, random_input(manifest.load(project)))
                table.add_row("  made", *[""] * (len(COLUMNS) - 3), f"{made:,}", "")
    Console(width=120).print(table)
