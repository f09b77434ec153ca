"""The error of modelled cycles against published ones: the table of docs/explanation/timing.md.

    python -m scripts.cycle_error --cmsis-nn SOURCES

Builds MLPerf Tiny's networks with CMSIS-NN's kernels, whose cycles on devices are published for
TensorFlow Lite Micro and microTVM, runs them in QEMU on boards with the devices' clocks and wait
states (``scripts/bench/matrix.yml``), and writes docs/cycle_error.json and the table. The published
programs compute every channel, so no dead channels are removed here.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from microgen.compiler import passes
from microgen.interface import api
from scripts import sections
from scripts.bench import errors, matrix, measure, peers

DOCUMENT = matrix.ROOT / "docs" / "explanation" / "timing.md"
_EVERY_CHANNEL = tuple(p for p in passes.DEFAULT_PIPELINE if p is not passes.dead_channels)


def rows(sources: str) -> Iterator[errors.Row]:
    """A row for each record. Raises MicrogenError if a program cannot be built or run."""
    measured = matrix.load()
    for record in errors.records(peers.load(), measured):
        model, hardware = measured.networks[record.network], measured.boards[record.board]
        job = measure.Job(record.network, record.board, ("speed",), model, hardware)
        with measure.surroundings(job) as folder:
            yield _row(job, folder / "project", sources)


def _row(job: measure.Job, folder: Path, sources: str) -> errors.Row:
    option = (f"cmsis-nn.path={sources}",)
    everything = functools.partial(passes.run, pipeline=_EVERY_CHANNEL)
    # No option of ``generate`` keeps dead channels.
    with mock.patch.object(passes, "run", everything):
        api.generate(
            *(job.model.path, job.board, folder),
            numerics="tflm",
            codegen=("cmsis-nn",),
            codegen_option=option,
        )
    ran = api.run(folder, profile=True)
    assert ran.modelled is not None
    assert ran.instructions is not None
    cycles = ran.modelled.totals[0].cycles
    return errors.Row(job.network, job.board, ran.instructions[0], cycles)


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cmsis-nn", required=True)
    measured = list(rows(parser.parse_args().cmsis_nn))
    errors.FILE.write_text(errors.text(measured), encoding="utf-8")
    table = errors.load(peers.load(), matrix.load()).table()
    sections.write(DOCUMENT, "error", f"{table}\n")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
