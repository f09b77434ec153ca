"""One model on one board, as a program: ``python -m microgen.interface.zoo.stages FOLDER``.

FOLDER has the model and ``results.TASK``. The program writes ``results.STAGE`` before each stage,
and ``results.RESULT`` in the end.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from microgen import frontends
from microgen.base import manifest, resources
from microgen.base.errors import (
    CapacityError,
    InternalError,
    MicrogenError,
    ModelError,
    ToolError,
    UnsupportedError,
    of_machine,
    one_line,
)
from microgen.base.files import write_whole
from microgen.interface import api
from microgen.interface.zoo.results import RESULT, STAGE, TASK, Cell, Stage, failed
from microgen.interface.zoo.work import Done
from microgen.project.firmware import ram
from microgen.target import board as boards
from microgen.verifier.report import VerifyReport

_PROJECT = "project"
_TEMPORARY = re.compile(rf"{re.escape(tempfile.gettempdir())}/[^\s/:;,]*/?")


def main() -> int:
    """Work on the task in a folder; 0, unless Python itself fails."""
    folder = Path(sys.argv[1])
    task = json.loads((folder / TASK).read_bytes())
    try:
        done = Done(_Work(folder, task).cell())
    except ToolError as lacking:
        # A missing program is not a result of the model, so it is not a cell of its own.
        done = Done(failed("build", "is not known"), refusal=lacking.what, hint=lacking.hint)
    write_whole(folder / RESULT, json.dumps(asdict(done)).encode())
    return 0


class _Work:
    """The stages of one cell."""

    def __init__(self, folder: Path, task: dict[str, Any]) -> None:
        self._folder, self._model, self._board = folder, folder / task["model"], task["board"]
        options = task["options"].items()
        self._options: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in options
        }
        self._project = folder / _PROJECT
        self._stage: Stage = "generate"
        self._known: dict[str, Any] = {}

    def cell(self) -> Cell:
        """The cell after its last stage, whether it succeeded, failed or was refused. Raises
        ToolError if a program is missing."""
        try:
            with of_machine():
                return self._stages()
        except ToolError:
            raise
        except MicrogenError as error:
            return self._ended(error)
        except Exception as error:
            return self._ended(InternalError.of(error))

    def _stages(self) -> Cell:
        self._at("generate", self._generate)
        self._at("build", lambda: api.build(self._project))
        report = self._at("verify", lambda: api.verify(self._project))
        self._known["sizes"] = _sizes(self._project, report)
        if not report.ok:
            checks = (f"{c.name}: expected {c.expected}, found {c.found}" for c in report.failed)
            return self._failed("; ".join(checks))
        # Instructions are counted by an emulator, which the host does not have.
        is_counted = not boards.load(self._board).is_host
        run = self._at("run", lambda: api.run(self._project, compare=True, profile=is_counted))
        self._stage = "compare"
        self._known["instructions"] = run.instructions[0] if run.instructions else None
        return self._compared(run)

    def _at(self, stage: Stage, work: Callable[[], Any]) -> Any:
        self._stage = stage
        (self._folder / STAGE).write_text(stage, encoding="ascii")
        return work()

    def _generate(self) -> None:
        oracle = frontends.oracle(self._model, profile=self._options.get("numerics", ""))
        self._known["lacking"] = oracle.lacking() if oracle else ""
        api.generate(self._model, self._board, self._project, **self._options)

    def _compared(self, run: api.RunResult) -> Cell:
        """The cell after a run. A difference from any source is a failure."""
        verdicts = [verdict.to_json() for verdict in run.verdicts]
        self._known["compared"] = {one["name"]: one["status"] for one in verdicts}
        wrong = [one["detail"] for one in verdicts if one["status"] == "failed"]
        return self._failed("; ".join(wrong)) if wrong else Cell("ok", self._stage, **self._known)

    def _ended(self, error: MicrogenError) -> Cell:
        """The cell after an error. It is a refusal if the error is about the model and the board.
        An error of exactly the class MicrogenError means that the file is of another kind, or has
        no model."""
        # These errors say that microgen cannot take the model, not that it failed.
        is_refusal = isinstance(error, ModelError | UnsupportedError | CapacityError)
        failure = self._failed(f"{error.where}: {error.what}", error.hint)
        if is_refusal or (type(error) is MicrogenError and self._stage == "generate"):
            return Cell("refused", failure.stage, failure.cause, failure.hint, **self._known)
        return failure

    def _failed(self, cause: str, hint: str = "") -> Cell:
        return failed(self._stage, self._plain(cause), self._plain(hint), **self._known)

    def _plain(self, text: str) -> str:
        """The text without the paths of this machine, and without the model's file at its
        beginning."""
        package = Path(resources.__file__).parents[1]
        for folder in (self._folder, self._folder.resolve()):
            text = text.replace(f"{folder}/", "")
        text = text.replace(f"{package}/", "microgen/")
        text = _TEMPORARY.sub("", one_line(text)).replace(" (-v lists all)", "")
        return re.sub(rf"^(?:{re.escape(self._model.name)}|{_PROJECT})?: ", "", text)


def _sizes(project: Path, report: VerifyReport) -> dict[str, int]:
    """Bytes by name. RAM in total is not known on the host."""
    sizes = report.sizes
    used = ram.of_total(manifest.load(project), sizes.arena, sizes.ram, sizes.stack).to_json()
    figures = {"flash": sizes.flash, "code": sizes.code, "weights": sizes.weights}
    figures |= {"workspace": used["workspace"], "io": used["io"], "ram": used["total"]}
    return {name: nbytes for name, nbytes in figures.items() if nbytes is not None}


if __name__ == "__main__":
    sys.exit(main())
