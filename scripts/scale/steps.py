"""Runs one command of microgen for a network, and gives its CPU seconds or its Python calls."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx

from scripts.scale.networks import make

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("generate", "plan", "build", "verify", "run")
# Seconds that ``unit`` takes on the machine whose seconds the goals are. There, `generate` of the
# MLPerf Tiny network kws for Cortex-M4 took 2.1 s with commit 3a2156aa. On other machines, idle or
# busy, ``unit`` takes 0.45 times as long as that (0.42 to 0.46).
USUAL = 0.945
_TIMEOUT = 1200


@dataclass(frozen=True, slots=True)
class Case:
    """A network that ``networks.make`` makes, or a file if ``number`` is 0, and the options."""

    network: str
    number: int
    board: str
    goal: str

    @property
    def title(self) -> str:
        """The name, with the number if there is one."""
        return f"{self.network} {self.number}" if self.number else Path(self.network).stem


class StepError(Exception):
    """The last line that a command wrote to stderr."""


@contextmanager
def stored(case: Case) -> Iterator[Path]:
    """A new folder with the case's network as ``model.onnx``, or a link to its file."""
    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name)
        if case.number:
            onnx.save(make(case.network, case.number), folder / "model.onnx")
        else:
            path = Path(case.network).resolve()
            (folder / f"model{path.suffix}").symlink_to(path)
        yield folder


def seconds(folder: Path, case: Case, step: str, tree: Path = ROOT) -> float:
    """CPU seconds of a step with all its processes. ``tree`` is the checkout that computes it.

    Raises StepError if its exit code is not 0."""
    before = _taken()
    _run([sys.executable, "-P", "-m", "microgen", *command(folder, case, step)], folder, tree)
    return _taken() - before


def scale() -> float:
    """How many times longer this machine takes now than the one whose seconds the goals are."""
    before = _taken()
    _run([sys.executable, "-P", "-m", "scripts.scale.unit"], ROOT, ROOT)
    return (_taken() - before) / USUAL


def _taken() -> float:
    """CPU seconds of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def calls(folder: Path, case: Case, step: str) -> int:
    """Calls of Python functions of a step, without those of imports. Raises StepError."""
    counted = [sys.executable, "-P", "-m", "scripts.scale.counted"]
    return int(_run([*counted, *command(folder, case, step)], folder, ROOT).split()[-1])


def command(folder: Path, case: Case, step: str) -> Sequence[str]:
    """The arguments of microgen."""
    (model,) = folder.glob("model.*")
    project, options = folder / "project", ["-b", case.board, "--optimize", case.goal]
    match step:
        case "generate":
            return ["generate", str(model), *options, "-o", str(project), "--force", "-q"]
        case "plan":
            return ["plan", str(model), *options]
        case "run":
            return ["run", str(project), "--compare"]
    return [step, str(project)]


def _run(arguments: Sequence[str], folder: Path, tree: Path) -> str:
    path = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            arguments, cwd=folder, env=path, capture_output=True, text=True, timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired as error:
        raise StepError(f"more than {_TIMEOUT} s") from error
    if done.returncode:
        raise StepError((done.stderr.strip() or "it failed").splitlines()[-1])
    return done.stdout
