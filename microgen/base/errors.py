"""Every error that a user can get.

MicrogenError            exit code 2: bad input, or a tool that is missing
+-- UsageError           the command line is wrong
+-- ModelError           the model file is malformed, or its graph is impossible
+-- UnsupportedError     the model is valid, but uses something that microgen does not support
+-- BoardError           a board's data is wrong, or there is no such board
+-- CapacityError        the program does not fit the board's memories or the user's budget
+-- ProjectError         a project directory cannot be written, or microgen did not generate it
+-- CodegenError         an external code generator fails, or returns something invalid
+-- ResourceError        this machine has too little memory or stack for the task
+-- InputError           an .npz of samples does not match the model
+-- ToolError            a compiler, QEMU or another program is missing
+-- BuildError           exit code 1: the compiler refused the project
+-- RunError             exit code 1: the firmware faulted, hung or returned an error
|   +-- StatusRunError   a model returned a status other than 0
+-- InternalError        exit code 1: a stage passed on something impossible (our defect)
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from microgen.base.printable import printable

# With a separator, so that a neighbouring folder whose name begins alike is not ours.
_OWN = f"{Path(__file__).parents[1]}{os.sep}"
_LIBRARY = sysconfig.get_path("stdlib")
_OTHERS = sysconfig.get_path("purelib")  # inside the library's folder, but not part of Python


def one_line(text: str) -> str:
    """The text without line breaks, and with ? for characters that a terminal might obey."""
    return " ".join(printable(text).split())


# Messages quote models and files, whose names can have any length.
_LONGEST_WORD = 200  # characters, for example of a path
_LONGEST_TEXT = 2000


def short(name: str, limit: int = 48) -> str:
    """A name cut to fit a message."""
    # 3 for the dots. Converters make long names, which differ at their ends, so the end gets more
    # than the beginning.
    end = (limit - 3) * 5 // 9
    return name if len(name) <= limit else f"{name[: limit - 3 - end]}...{name[-end:]}"


def cut(text: str) -> str:
    """A message that may quote anything, with each word and the whole cut to a readable length."""
    if len(text) <= _LONGEST_WORD:
        return text
    return " ".join(short(word, _LONGEST_WORD) for word in short(text, _LONGEST_TEXT).split(" "))


def few(items: Sequence[str], *, room: int = 120) -> str:
    """As many items as fit ``room`` characters, but at least one, and the number of the others."""
    # A message should be short enough to be read at a glance. The error's `details` have the rest.
    shown = 1
    while shown < len(items) and len(", ".join(items[: shown + 1])) <= room:
        shown += 1
    left = len(items) - shown
    return ", ".join(items[:shown]) + (f" and {left} more (-v lists all)" if left else "")


def likely(word: str, known: Iterable[str]) -> str:
    """The beginning of a hint: the known word that is most like ``word``, followed by a space;
    empty if none is like it."""
    # A longer word is no typing error of an option, and the comparison takes quadratic time.
    like = difflib.get_close_matches(word[:80], list(known), n=1)
    return f"did you mean {like[0]}? " if like else ""


class MicrogenError(Exception):
    """What went wrong, where, and what to do about it; printed as one line, without a traceback.

    ``where`` names a file, a layer or a place in it. ``hint`` is the fix. ``details`` are lines
    that the one line leaves out, for ``-v`` and ``--json``. ``facts`` is further plain data for
    ``--json``. With ``shows_traceback``, ``-v`` also prints the traceback of the cause.
    """

    exit_code = 2
    shows_traceback = False

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", details: Sequence[str] = ()
    ) -> None:
        super().__init__(what)
        self.what, self.where, self.hint = what, where, hint
        self.details = tuple(details)
        # Data that only some errors have; the schema allows any.
        self.facts: Mapping[str, Any] = {}

    def __str__(self) -> str:
        # Errors go to terminals and logs, where one line is one event.
        return one_line(f"{self._found}; {cut(self.hint)}" if self.hint else self._found)

    @property
    def _found(self) -> str:
        what = cut(self.what)
        return f"{cut(self.where)}: {what}" if self.where else what

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the form of docs/schemas/error.json."""
        return {
            "ok": False,
            "error": self._found,
            "where": cut(self.where),
            "hint": cut(self.hint),
            "details": list(self.details),
            "facts": dict(self.facts),
            "exit_code": self.exit_code,
        }


class UsageError(MicrogenError):
    """The command line is wrong."""


class ModelError(MicrogenError):
    """The model file is malformed, or describes an impossible graph."""


class UnsupportedError(MicrogenError):
    """The model is valid, but uses an operator, dtype or attribute that is not supported."""


class BoardError(MicrogenError):
    """A board's data is wrong, or no board has that name."""


class CapacityError(MicrogenError):
    """The program needs more memory than the board or the user's budget has: of one ``kind``, "RAM"
    or "flash", ``needed`` bytes at least, where ``there`` are. Without a kind, these are not
    known."""

    def __init__(
        self, what: str, *, kind: str = "", needed: int = 0, there: int = 0, **options: Any
    ) -> None:
        super().__init__(what, **options)
        self.kind, self.needed, self.there = kind, needed, there
        self.facts = {"memory": kind, "needed": needed, "available": there} if kind else {}


class ProjectError(MicrogenError):
    """A project directory cannot be written, or was not generated by microgen."""


class CodegenError(MicrogenError):
    """An external code generator fails, or returns something invalid."""

    shows_traceback = True

    def __init__(self, what: str, *, where: str) -> None:
        super().__init__(what, where=where, hint="correct it, or report this to its author")


@contextlib.contextmanager
def of_codegen(where: str, doing: str) -> Iterator[None]:
    """Turn every other exception from the block, which runs foreign code, into CodegenError."""
    try:
        yield
    # Our own errors already say what is wrong, and have their own exit code.
    except MicrogenError:
        raise
    # SystemExit, too, because foreign code must not decide the command's exit status.
    except (Exception, SystemExit) as error:
        place = place_of(error)
        found = f"{doing} ended with {type(error).__name__}: {error}"
        made = CodegenError(f"{found} (at {place})" if place else found, where=where)
        made.hint += "; -v prints the traceback"
        raise made from error


def place_of(error: BaseException) -> str:
    """File and line of the innermost frame outside of microgen and of Python's library; empty if
    there is none."""
    # Code that does not compile has no frame, so the error itself has the place.
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{f.filename}:{f.lineno}" for f in frames if _is_others(f.filename)]
    return places[-1] if places else ""


def _is_others(file: str) -> bool:
    # "<string>" and similar names are of generated code, and have no file.
    if file.startswith(("<", _OWN)):
        return False
    # Installed packages are inside the library's folder, so that folder is checked first.
    return file.startswith(_OTHERS) or not file.startswith(_LIBRARY)


class ResourceError(MicrogenError):
    """The memory of this machine, or Python's stack, is too small for the task."""


@contextlib.contextmanager
def of_machine() -> Iterator[None]:
    """Turn running out of memory or stack inside the block into a ResourceError."""
    try:
        yield
    except (MemoryError, RecursionError) as error:
        what = "memory" if isinstance(error, MemoryError) else "stack"
        raise ResourceError(
            f"this machine ran out of {what}", hint="is the input as large as it should be?"
        ) from error


class InputError(MicrogenError):
    """Samples for ``run`` do not match the model's inputs."""


class ToolError(MicrogenError):
    """A program that microgen calls is not installed."""


class BuildError(MicrogenError):
    """The compiler or the linker refused the project."""

    exit_code = 1


class RunError(MicrogenError):
    """The firmware faulted, hung, or ended with an error code."""

    exit_code = 1


class StatusRunError(RunError):
    """The run function of ``module`` (empty: the only model) returned ``status`` at ``sample``,
    which counts from 0. ``said`` is the meaning of the status as text."""

    def __init__(
        self, status: int, sample: int, module: str, said: str, *, where: str, hint: str
    ) -> None:
        model = f"the model {module!r}" if module else "the model"
        self.lead = f"{model} returned error code {status} at sample {sample}"
        super().__init__(f"{self.lead}: {said}", where=where, hint=hint)
        self.status, self.sample, self.module, self.said = status, sample, module, said
        self.facts = {"status": status, "sample": sample, "module": module}

    def at(self, place: str, hint: str, facts: Mapping[str, Any]) -> StatusRunError:
        """The same error with its place and cause as text and as plain data (``facts``). ``hint``
        replaces the general advice for such a status, unless it is empty."""
        same = (self.status, self.sample, self.module)
        # A hint means that the cause is known, so the general meaning of the status is not
        # repeated.
        said = f"status {self.status:#x}" if hint else self.said
        other = StatusRunError(*same, said, where=self.where, hint=hint or self.hint)
        other.what = f"{self.lead} {place} ({said})" if hint else f"{self.lead} {place}: {said}"
        other.facts = {**self.facts, **facts}
        return other


class InternalError(MicrogenError):
    """A stage passed on something impossible: a defect of microgen itself."""

    exit_code = 1
    shows_traceback = True

    def __init__(self, what: str, *, where: str = "") -> None:
        super().__init__(
            what, where=where, hint="this is a defect of microgen: please report it with the model"
        )

    @staticmethod
    def of(error: Exception) -> InternalError:
        """The error for an unexpected exception, with microgen's innermost frame."""
        frames = [
            f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(_OWN)
        ]
        place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        made = InternalError(f"unexpected {type(error).__name__}{place}: {error}")
        made.hint += " and what -v prints"
        # ``raise ... from`` is not possible here, because the caller raises it.
        made.__cause__ = error
        return made
