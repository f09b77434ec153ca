"""Sound firmware passes, however it was compiled; reports have their documented form."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from microgen import verifier
from microgen.base.errors import ProjectError
from microgen.base.output import junit
from microgen.verifier import CHECKS, Check, Sizes, VerifyReport, measure, table, verify
from scripts import check_table, sections
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC

Make = Callable[..., Any]
NOT_ASKED = {"boot_block", "device_hooks", "graph", "ram_budget", "flash_budget", "registry"} | {
    *("shared_workspace", "module_blob", "module_loaders", "external_functions", "reproduce"),
    *("requantization", "proofs"),  # its layers are requantized as specified
}


@pytest.mark.sampled(4)
@NEEDS_ARM_GCC
@pytest.mark.parametrize("level", ["-Os", "-O3"])
@pytest.mark.parametrize(
    "board", ["microbit", "mps2_an385", "mps2_an386", "mps2_an500", "mps3_an547"]
)
def test_sound_firmware_passes_at_every_optimisation(project: Make, board: str, level: str) -> None:
    built = project(board)
    built.flags = [level]
    report = verify(built.build().root)
    assert report.failed == ()
    assert {c.name for c in report.checks if c.status == "n/a"} == NOT_ASKED


@NEEDS_CC
def test_on_the_host_what_has_no_meaning_is_not_ok(project: Make) -> None:
    report = verify(project("native").build().root)
    assert report.ok
    assert {c.name for c in report.checks if c.status == "n/a"} == NOT_ASKED | {
        *("vector_table", "sections_fit", "heap", "libc", "soft_float", "build_attributes"),
        *("runner", "layout", "stack"),
    }


@NEEDS_ARM_GCC
def test_sizes_add_up(project: Make) -> None:
    built = project().build()
    sizes = measure(built.elf, built.manifest)
    assert sizes.weights == 64 + 16 + 16 + 4
    assert (sizes.arena, sizes.stack) == (256, 4096)
    assert sizes.code == sizes.flash - sizes.weights > 0
    # 132 = 16 of input + 112 of output + 4 of status
    assert sizes.ram == pytest.approx(256 + 4096 + 132, abs=16)
    assert sizes.top("ram").startswith("stack 4096, tvmgen_default_global_workspace 256")


def test_not_built_yet(project: Make) -> None:
    laid_out = project("native")
    laid_out.write()
    with pytest.raises(ProjectError, match=r"firmware\.elf: cannot be read.*microgen build"):
        verify(laid_out.root)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"no ELF at all" * 9])
def test_damaged_elf(project: Make, content: bytes) -> None:
    laid_out = project("native")
    laid_out.write()
    laid_out.elf.write_bytes(content)
    with pytest.raises(ProjectError, match="is not an ELF executable"):
        verify(laid_out.root)


@NEEDS_ARM_GCC
def test_truncated_elf_is_one_clear_error_or_a_failed_check(project: Make) -> None:
    built = project().build()
    whole = built.elf.read_bytes()
    for cut in range(0, len(whole), len(whole) // 40 + 1):
        built.elf.write_bytes(whole[:cut])
        with pytest.raises(
            ProjectError, match=r"is not an ELF executable|past the end of the file"
        ):
            verify(built.root)


def test_the_document_has_the_table_of_checks() -> None:
    """If this fails, run ``python -m scripts.check_table``."""
    assert sections.text(check_table.DOCUMENT, "checks") == check_table.markdown()


def test_every_check_is_in_the_table() -> None:
    """A check that nobody registers never fails."""
    rows = [*CHECKS.values()]
    registered = [found for row in rows for found in (row.function, row.in_model) if found]
    assert len({row.name for row in rows}) == len(rows) == len(table.ROWS)
    known = {f"{found.__module__}.{found.__name__}" for found in registered}
    found = set()
    for info in pkgutil.walk_packages(verifier.__path__, "microgen.verifier."):
        for name, function in vars(importlib.import_module(info.name)).items():
            is_own = getattr(function, "__module__", "") == info.name and not name.startswith("_")
            hints = getattr(function, "__annotations__", {})
            if is_own and hints == {"subject": "Subject", "return": "Finding"}:
                found.add(f"{info.name}.{name}")
    assert {name for name in known if ".<locals>." not in name} >= found
    assert len(found) > 30


REPORT = VerifyReport(
    (
        Check("sids", "failed", "11 objects", 'sid_1 is at 0x10 & "more"\x1b'),
        Check("arena", "ok", "16 bytes", "16 bytes", {"nbytes": 16}),
        Check("stack", "n/a", "", "the host's stack"),
    ),
    Sizes(flash=10, ram=9, stack=0, arena=2, weights=3, code=7, contributors=()),
)


def test_json_has_the_contracts_form() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert data["ok"] is False
    assert data["checks"][1] == {
        "name": "arena",
        "status": "ok",
        "expected": "16 bytes",
        "found": "16 bytes",
        "values": {"nbytes": 16},
    }
    assert data["counts"] == {"ok": 1, "failed": 1, "n/a": 1}
    assert data["flash"] == {"total": 10, "code": 7, "weights": 3}


def test_junit_names_failures_and_skips() -> None:
    suite = ElementTree.fromstring(junit.document("microgen verify", REPORT.cases()))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failure = suite.find("testcase[@name='sids']/failure")
    assert failure is not None
    assert failure.get("message") == 'expected 11 objects; found sid_1 is at 0x10 & "more"?'


def test_text_names_every_check_once_and_failures_first() -> None:
    lines = REPORT.to_text().splitlines()
    assert lines[1].split()[:2] == ["sids", "failed"]
    assert lines[-1] == "1 ok, 1 failed, 1 n/a"
