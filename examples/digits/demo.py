"""From the shipped model to verified firmware that reads handwritten digits: `make demo`.

Generates a project, builds it, proves from the ELF that it is as planned, runs every held-out
image through it in the emulator, and compares each output with two references. Every number in
the table comes from this run. Exit status 1 if anything is not as it should be.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from microgen.base.errors import MicrogenError, ToolError
from microgen.base.manifest import Manifest
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Graph
from microgen.graph.ops import registry
from microgen.interface import api
from microgen.planner.program.ram import ARENA_IO, TOTAL
from microgen.project.firmware import ram
from microgen.verifier import Sizes, VerifyReport, measure, stack_bound

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
MODEL = HERE / "digits_int8.tflite"
INPUT, OUTPUT = "image", "probabilities"

Outputs = npt.NDArray[np.int8]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Reference:
    """Outputs [N,10] that the device's must equal, and the name of what computed them."""

    name: str
    outputs: Outputs


@dataclass(frozen=True)
class Measured:
    """The results of one run of the demo."""

    labels: npt.NDArray[np.int64]
    references: tuple[Reference, ...]
    project: Manifest
    report: VerifyReport
    sizes: Sizes
    stack_bound: int
    result: api.RunResult

    @property
    def device(self) -> Outputs:
        """The device's outputs, [N,10], without the model's own batch axis of 1."""
        return self.result.outputs[OUTPUT][:, 0]

    @property
    def is_exact(self) -> bool:
        """Whether every output byte equals every reference's."""
        return all(np.array_equal(self.device, r.outputs) for r in self.references)

    @property
    def is_sound(self) -> bool:
        """Whether everything is as it should be."""
        return self.is_exact and self.report.ok and self.result.stack <= self.stack_bound


def demonstrate(board: str, project: Path) -> Measured:
    """Generate into ``project``, build, verify, run, compare."""
    images = np.load(HERE / "test_samples.npz")[INPUT]
    samples = {INPUT: images}
    compiled = stage("generate", lambda: api.generate(MODEL, board, project, force=True))
    built = stage("build", lambda: api.build(project))
    return Measured(
        labels=np.load(HERE / "digits_labels.npz")["labels"],
        report=stage("verify", lambda: api.verify(project)),
        sizes=measure(built.elf, compiled.manifest),
        stack_bound=stack_bound(project).nbytes if compiled.manifest.board["stack_bytes"] else 0,
        result=stage(f"run {len(images)} images", lambda: run(project, samples)),
        references=stage("references", lambda: references(compiled.graph, images)),
        project=compiled.manifest,
    )


def run(project: Path, samples: dict[str, Outputs]) -> api.RunResult:
    """Run all samples in one process, counting instructions if that is possible."""
    try:
        return api.run(project, samples, profile=True)
    except ToolError as error:
        print(f"\ninstructions are not counted: {error}", file=sys.stderr)
        return api.run(project, samples)


def references(graph: Graph, images: Outputs) -> tuple[Reference, ...]:
    """Microgen's numpy reference, and LiteRT's reference kernels if they are installed."""
    runs = [interpreter.evaluate(graph, {INPUT: image}, registry()) for image in images]
    found = [Reference("numpy reference", np.concatenate([run[OUTPUT] for run in runs]))]
    if importlib.util.find_spec("ai_edge_litert"):
        import evaluate

        kernels = evaluate.OpResolverType.BUILTIN_REF
        found.append(Reference("LiteRT", evaluate.litert_outputs(kernels)))
    return tuple(found)


def stage(name: str, work: Callable[[], Result]) -> Result:
    """Do the work, and print its name and its duration on stderr."""
    print(f"{name:<20}", end="", file=sys.stderr, flush=True)
    start = time.monotonic()
    result = work()
    print(f"{time.monotonic() - start:6.1f} s", file=sys.stderr)
    return result


def table(measured: Measured) -> Table:
    """The results that a newcomer needs, one line each."""
    title = f"Handwritten digits\n{measured.project.board['title']}"
    shown = Table("", "measured", title=title, min_width=62)
    shown.columns[1].justify = "right"
    _add_accuracy(shown, measured)
    shown.add_section()
    _add_memory(shown, measured)
    if measured.result.instructions and measured.result.per_call:
        shown.add_section()
        _add_instructions(shown, measured)
    return shown


def _add_accuracy(shown: Table, measured: Measured) -> None:
    shown.add_row("Digits read correctly, device", correct(measured.device, measured.labels))
    for reference in measured.references:
        shown.add_row(
            f"Digits read correctly, {reference.name}", correct(reference.outputs, measured.labels)
        )
    for reference in measured.references:
        equal = (measured.device == reference.outputs).all(axis=1).sum()
        shown.add_row(
            f"Outputs bit-exact with {reference.name}", f"{equal} of {measured.labels.size}"
        )


def correct(outputs: Outputs, labels: npt.NDArray[np.int64]) -> str:
    """The number and share of outputs that are largest at their label."""
    hits = int((outputs.argmax(axis=1) == labels).sum())
    return f"{hits} of {labels.size} ({hits / labels.size:.1%})"


def _add_memory(shown: Table, measured: Measured) -> None:
    sizes = measured.sizes
    applicable = [check for check in measured.report.checks if check.status != "n/a"]
    passed = sum(check.status == "ok" for check in applicable)
    shown.add_row("Checks of the ELF file passed", f"{passed} of {len(applicable)}")
    plan = measured.project.plan
    used = ram.of_total(measured.project, sizes.arena, sizes.ram, sizes.stack)
    shown.add_row(f"RAM: {ARENA_IO}", f"{used.arena_io:,} B")
    shown.add_row("RAM: lower bound of that", f"{plan.lower_bound + plan.io_bytes:,} B")
    if used.stack:
        shown.add_row("RAM: static data", f"{used.static:,} B")
        shown.add_row("RAM: reserved for the stack", f"{used.stack:,} B")
        shown.add_row(TOTAL, f"{used.total:,} B")
    shown.add_row("Flash: code", f"{sizes.code:,} B")
    shown.add_row("Flash: weights", f"{sizes.weights:,} B")
    shown.add_row("Flash: total", f"{sizes.flash:,} B")
    # The host has neither a bound nor a painted stack.
    if measured.stack_bound:
        shown.add_row("Stack: worst case, proven", f"{measured.stack_bound:,} B")
    if measured.result.stack:
        shown.add_row("Stack: deepest seen", f"{measured.result.stack:,} B")


def _add_instructions(shown: Table, measured: Measured) -> None:
    """Means over all images, because a clamp or a carry more makes some images take longer."""
    total = np.mean(measured.result.instructions)
    shown.add_row("Instructions per inference, mean", f"{total:,.0f}")
    per_call = np.mean(measured.result.per_call, axis=0)
    for call, mean in zip(measured.project.calls, per_call, strict=True):
        shown.add_row(f"  {' + '.join(call.layers)}", f"{mean:,.0f} ({mean / total:.1%})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="mps2_an386")
    parser.add_argument("--output", type=Path, help="the project (build/demo/BOARD)")
    arguments = parser.parse_args()
    board = arguments.board
    try:
        measured = demonstrate(board, arguments.output or CHECKOUT / "build" / "demo" / board)
    except MicrogenError as error:
        print(f"\n{error}", file=sys.stderr)
        return error.exit_code
    Console().print(table(measured))
    print(f"Next: microgen generate MODEL.tflite -b {board} -o out")
    print("      microgen run out --compare")
    return 0 if measured.is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
