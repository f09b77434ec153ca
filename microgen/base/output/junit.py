"""JUnit XML, which continuous integration systems show as a list of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from microgen.base.errors import ProjectError
from microgen.base.files import write_whole
from microgen.base.printable import printable


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: ``status`` is "ok", "failed" or "n/a", and ``message`` says why."""

    group: str
    name: str
    status: str
    message: str = ""


def document(suite: str, cases: Sequence[Case]) -> str:
    """The report as text: failed cases with their message, "n/a" ones as skipped."""
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(cases)),
        failures=str(sum(case.status == "failed" for case in cases)),
        # Errors in JUnit are defects of the test itself, and a check has none.
        errors="0",
        skipped=str(sum(case.status == "n/a" for case in cases)),
    )
    for case in cases:
        own = ElementTree.SubElement(
            root, "testcase", classname=case.group, name=printable(case.name)
        )
        # XML 1.0 does not allow control characters, which names in a broken ELF may have.
        if case.status != "ok":
            kind = "failure" if case.status == "failed" else "skipped"
            ElementTree.SubElement(own, kind, message=printable(case.message))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def write(path: Path, suite: str, cases: Sequence[Case]) -> None:
    """Write the report. Raises ProjectError if it cannot be written."""
    try:
        write_whole(path, document(suite, cases).encode())
    except OSError as error:
        raise ProjectError(f"cannot be written: {error.strerror}", where=str(path)) from error
