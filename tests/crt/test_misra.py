"""The list of deviations from MISRA C in crt/README.md."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError, ToolError
from scripts import misra, sections
from scripts.misra import Finding

LISTED = sections.text(misra.DOCUMENT, "misra")
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in LISTED.splitlines()
    if re.match(r"\| \d", line)
]
NEEDS_CPPCHECK = pytest.mark.skipif(
    shutil.which("cppcheck") is None, reason="cppcheck is missing: apt-get install cppcheck"
)


def test_the_readme_has_the_reason_of_each_rule_and_their_sum() -> None:
    places = 0
    for rule, what, count, headers, why in ROWS:
        assert (what, why) == misra.REASONS[rule]
        assert 0 < int(headers) <= int(count.replace(",", ""))
        places += int(count.replace(",", ""))
    said = re.match(r"Cppcheck [\d.]+ finds ([\d,]+) places", LISTED)
    assert said is not None
    assert said[1] == f"{places:,}"
    assert {"2.5", "10.1", "11.5", "12.1", "15.5", "18.4"} <= {row[0] for row in ROWS}


def test_the_headers_that_the_readme_names_need_more_than_c99() -> None:
    """A kernel that was added since is not named before the script has run again."""
    listed = " ".join(LISTED.partition("(rule 1.2, directive 4.3):")[2].split())
    words = {"`__asm__`": ["__asm__"], "`__attribute__`": ["__attribute__"]}
    words |= {"built into": ["__builtin_"], "intrinsics": ["arm_mve.h", "arm_acle.h"]}
    for part, (what, sought) in zip(listed.split("- ")[1:], words.items(), strict=True):
        assert what in part
        named = re.findall(r"`(\w+\.h)`", part)
        assert f"in {len(named)} headers: " in part
        assert named
        assert set(named) <= set(misra.headers_with(*sought))


@NEEDS_CPPCHECK
def test_what_cppcheck_finds_in_some_headers_is_in_the_list() -> None:
    """One with blocks, one with assembly and one that reads words at any address."""
    some = [p for p in misra.HEADERS if p.name in ("affine_sum_s8.h", "argmax.h", "winograd.h")]
    found = misra.findings(some)
    assert {one.header for one in found} == {path.name for path in some}
    assert {one.rule for one in found} <= {row[0] for row in ROWS}


@NEEDS_CPPCHECK
def test_a_new_kind_of_deviation_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    include = tmp_path / "include" / "microgen"
    include.mkdir(parents=True)
    planted = "static int f(int x)\n{\n    if (x > 3) {\n        goto end;\n    }\nend:\n"
    (include / "new.h").write_text(f"{planted}    return x;\n}}\n")
    monkeypatch.setattr(misra, "CRT", tmp_path)
    monkeypatch.setattr(misra, "CORES", {"any": ()})
    found = misra.findings([include / "new.h"])
    assert Finding("15.1", "new.h", 4) in found
    with pytest.raises(MicrogenError, match=r"new\.h:4: rule 15\.1 is not kept"):
        misra.table(found)
    assert [p.name for p in include.iterdir()] == ["new.h"]


def test_without_cppcheck_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _program: None)
    with pytest.raises(ToolError, match="apt-get install cppcheck"):
        misra.findings()


@pytest.mark.slow  # minutes
@NEEDS_CPPCHECK
def test_the_list_is_what_cppcheck_finds() -> None:
    listed = LISTED.partition(" finds ")[0]
    if misra.version() != listed:
        pytest.skip(f"the list is of {listed}, this is {misra.version()}")
    assert misra.text(misra.findings()) == LISTED
