"""Deviations of generated C from MISRA C: each rule that is not kept has a reason."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import microgen
from scripts import misra
from tests.support.places import DIGITS

pytestmark = pytest.mark.skipif(
    shutil.which("cppcheck") is None, reason="cppcheck is missing: apt-get install cppcheck"
)
FORMS: Mapping[str, dict[str, Any]] = {
    "rows": {"input_rows": 2},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", FORMS)
def test_rules_that_are_not_kept_have_a_reason(form: str, tmp_path: Path) -> None:
    microgen.generate(DIGITS, "mps2_an386", tmp_path / "p", optimize="ram", **FORMS[form])
    found = misra.of_project(tmp_path / "p")
    assert {one.rule for one in found} <= misra.GENERATED.keys(), [
        one for one in found if one.rule not in misra.GENERATED
    ]


def test_a_deviation_is_found(tmp_path: Path) -> None:
    """A second return in the runner, and a pointer plus a number."""
    microgen.generate(DIGITS, "mps2_an386", tmp_path / "p", optimize="speed")
    runner = tmp_path / "p" / "model" / "codegen" / "host" / "src" / "default_lib0.c"
    text = runner.read_text()
    end = "    return status;\n}\n"
    assert text.count(end) == 1
    planted = "    if (*((const int8_t *)inputs + status) == 0) {\n        return 1;\n    }\n"
    runner.write_text(text.replace(end, planted + end))
    found = {one.rule for one in misra.of_project(tmp_path / "p", "*_lib0.c")}
    assert {"15.5", "18.4"} <= found - misra.GENERATED.keys()
