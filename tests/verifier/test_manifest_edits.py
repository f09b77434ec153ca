"""Every edit of ``microgen.json`` is noticed, even if the editor computes the digests anew.

These tests also say which edits would be noticed if the firmware had no notes.
"""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen import verifier
from microgen.base import manifest
from microgen.base.errors import MicrogenError
from microgen.base.manifest import note
from microgen.verifier.again import built_from
from tests.support.minimal_project import needs_build
from tests.support.places import DIGITS

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "verify.md"
Way = tuple[str | int, ...]
Chosen = Callable[[list[Way]], list[Way]]

_EMPTY = {str: "", list: [], dict: {}, int: 0, float: 0.0, bool: False, type(None): None}

# Values that can be edited unnoticed with a new digest, by reason. "*" is any element.
_READ_BY_PEOPLE = """
calls.*.steps.*.kernel calls.*.steps.*.layer calls.*.steps.*.op calls.*.steps.*.reason
calls.*.steps.*.refusals calls.*.steps.*.refusals.*
constants.*.layer constants.*.ctype estimate.flash estimate.ram estimate.flash_least
estimate.flash_most estimate.ram_least estimate.ram_most microgen model.file
plan.algorithm plan.proof plan.lower_bound plan.buffers.*.tensor
options.codegen options.codegen.* options.composite options.merge_regions
options.flash options.ram
schedule schedule.considered schedule.cycles schedule.flash schedule.functions
schedule.functions.* schedule.functions.*.choices schedule.functions.*.choices.*
schedule.functions.*.choices.*.computes schedule.functions.*.choices.*.computes.*
schedule.functions.*.choices.*.form schedule.functions.*.choices.*.implementation
schedule.functions.*.choices.*.in_place schedule.functions.*.choices.*.rows
schedule.functions.*.codegen schedule.goal
schedule.instructions schedule.ram_bound schedule.unmeasured
kernel_sources kernel_sources.* kernel_sources.*.header kernel_sources.*.kernel
kernel_sources.*.modules kernel_sources.*.modules.*
"""
_READ_BY_RUN_AND_COMPARE = """
calls.*.steps.*.tensor calls.*.target options.numerics options.signature
inputs.*.tensor inputs.*.scale inputs.*.zero_point outputs.*.tensor outputs.*.scale
outputs.*.zero_point inputs.*.aliases outputs.*.aliases
"""
_SAME_BYTES_IN_ANOTHER_SHAPE_OR_ORDER = """
calls.*.steps.*.shape calls.*.steps.*.shape.* inputs.*.shape inputs.*.shape.* outputs.*.shape
outputs.*.shape.* constants plan.buffers plan.in_place plan.pools
"""
_WIDER_THAN_NEEDED = """
plan.peak plan.buffers.*.first plan.buffers.*.last kernels kernels.*
options.input_consumed options.input_rows options.output_workspace
"""
_CHOICE_OF_THE_USER = "estimate.stack_bound estimate.stack_margin options.stack_margin"
_SAME_CONSTANT = """
constants.*.arguments constants.*.arguments.float32_scales constants.*.arguments.double_scales
constants.*.pool
"""
_ABSENT_IS_THE_DEFAULT = """
calls.*.args.*.in_struct calls.*.args.*.offset calls.*.can_fail calls.*.device calls.*.packed
calls.*.steps.*.in_round calls.*.steps.*.in_rows calls.*.steps.*.offset calls.*.steps.*.unseen
constants.*.name constants.*.offset constants.*.section devices inputs.*.buffer inputs.*.fixed
inputs.*.over more outputs.*.buffer outputs.*.fixed outputs.*.over passed_pools
plan.buffers.*.is_state plan.in_place.*.lag plan.pools.*.before plan.pools.*.capacity
plan.pools.*.memory plan.pools.*.port plan.pools.*.promised plan.pools.*.targets
"""
_ONE_OF_THE_PROJECTS_FILES = "files.*"
ALLOWED = {
    *_READ_BY_PEOPLE.split(),
    *_READ_BY_RUN_AND_COMPARE.split(),
    *_SAME_BYTES_IN_ANOTHER_SHAPE_OR_ORDER.split(),
    *_WIDER_THAN_NEEDED.split(),
    *_CHOICE_OF_THE_USER.split(),
    *_SAME_CONSTANT.split(),
    *_ABSENT_IS_THE_DEFAULT.split(),
    _ONE_OF_THE_PROJECTS_FILES,
}


def test_unnoticed_edits_are_documented() -> None:
    section = DOCUMENT.read_text().split("## Edits of the manifest")[1]
    rows = re.findall(r"^\| (`.+?`) \| ", section.split("\n## ")[0], re.MULTILINE)
    assert set(re.findall(r"`(.+?)`", " ".join(rows))) == ALLOWED


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built project. Tests may change its manifest."""
    folder = tmp_path_factory.mktemp("edits") / "project"
    microgen.generate(DIGITS, "mps2_an386", folder)
    microgen.build(folder)
    return folder


def _ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """The paths to all values below a value."""
    items: Any = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, below in items:
        yield (*way, key)
        yield from _ways(below, (*way, key))


def _kind(way: Way) -> str:
    if way[0] == "files" and len(way) > 1:
        return "files.*"
    return ".".join("*" if isinstance(key, int) else key for key in way)


def _last(ways: list[Way]) -> list[Way]:
    return ways[-1:]


def _first_and_last(ways: list[Way]) -> list[Way]:
    return ways[:: max(1, len(ways) - 1)]


def _kinds(data: Any, chosen: Chosen) -> dict[str, list[Way]]:
    """The paths to the chosen values of each kind."""
    found: dict[str, list[Way]] = {}
    for way in _ways(data):
        found.setdefault(_kind(way), []).append(way)
    return {kind: chosen(ways) for kind, ways in found.items()}


def _other(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, list):
        return value[::-1] if value[::-1] != value else [*value, *value[:1]]
    if isinstance(value, dict):
        return {**value, "further": 1}
    return value + ("x" if isinstance(value, str) else 1)


def _edited(data: Any, way: Way) -> Iterator[Any]:
    """The manifest with a value deleted, emptied or changed."""
    old: Any = functools.reduce(lambda at, key: at[key], way, data)
    yield _with(data, way)
    for new in (_EMPTY[type(old)], _other(old)):
        if json.dumps(new) != json.dumps(old):
            yield _with(data, way, new)


def _with(data: Any, way: Way, *new: Any) -> Any:
    """A copy with another value, or without it. What is not on the way is not copied."""
    edited = copy.copy(data)
    key, *rest = way
    if rest:
        edited[key] = _with(data[key], tuple(rest), *new)
    elif new:
        edited[key] = copy.deepcopy(new[0])
    else:
        del edited[key]
    return edited


def _unnoticed(
    project: Path, noticed: Callable[[], bool], *, with_digest: bool, chosen: Chosen
) -> set[str]:
    path = project / "microgen.json"
    original = path.read_bytes()
    data = json.loads(original)
    found = set()
    try:
        for kind, ways in _kinds(data, chosen).items():
            for edited in (edited for way in ways for edited in _edited(data, way)):
                text = manifest.digested(edited) if with_digest else json.dumps(edited)
                path.write_text(text)
                if not noticed():
                    found.add(kind)
    finally:
        path.write_bytes(original)
    return found


@needs_build
@pytest.mark.parametrize("with_all", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_edit_is_noticed(with_all: bool, project: Path) -> None:
    def noticed() -> bool:
        try:
            manifest.load(project)
            return not manifest.is_as_written(project)
        except MicrogenError:
            return True

    assert not noticed()
    assert not _unnoticed(project, noticed, with_digest=False, chosen=list if with_all else _last)


@needs_build
def test_verify_says_that_the_manifest_was_edited(project: Path) -> None:
    path = project / "microgen.json"
    original = path.read_text()
    for key, value in {"scale": 0.7, "zero_point": 1, "tensor": "other"}.items():
        data = json.loads(original)
        data["inputs"][0][key] = value
        path.write_text(json.dumps(data))
        check = verifier.verify(project).check("project_files")
        assert (check.status, check.found) == ("failed", "microgen.json has changed")
    path.write_text(json.dumps(json.loads(original)))  # only the layout of the JSON differs
    assert verifier.verify(project).ok
    path.write_text(original)


@needs_build
@pytest.mark.parametrize("channels", [2**32 + 1, 1e13])
def test_more_channels_than_bytes_are_refused_before_they_are_made(
    project: Path, channels: float
) -> None:
    path = project / "microgen.json"
    original = path.read_text()
    data = json.loads(original)
    for constant in data["constants"]:
        if "channels" in constant["arguments"]:
            constant["arguments"]["channels"] = channels
            constant["nbytes"] = 2**40
    path.write_text(manifest.digested(data))
    check = verifier.verify(project).check("constants_bytes")
    path.write_text(original)
    assert check.status == "failed"
    assert f"{channels} channels in " in check.found


@needs_build
@pytest.mark.parametrize(
    "with_all", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["ends", "all"]
)
def test_every_edit_with_new_digests_is_noticed_by_the_notes(
    project: Path, with_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Except an edit of a digest that is written anew, and of that of the notes' header, which
    ``project_files`` compares with the file."""
    monkeypatch.setattr(verifier.elf, "load", functools.cache(verifier.elf.load))

    def noticed() -> bool:
        path = project / "microgen.json"
        data = json.loads(path.read_bytes())
        try:
            data["built_from"] = note.digest(data)
            path.write_text(manifest.digested(data))
            return not built_from.is_of(project, project / "build" / "firmware.elf")
        except (MicrogenError, KeyError, TypeError, AttributeError):
            return True

    assert not noticed()
    found = _unnoticed(project, noticed, with_digest=False, chosen=list if with_all else _last)
    header = {"files.*"} if with_all else set()  # that file is neither the first nor the last
    assert found == {"digest", "built_from", *header}


@pytest.mark.slow
@needs_build
def test_which_edits_are_noticed_without_the_digests(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reasons for the others are above."""
    others = {name: check for name, check in verifier.CHECKS.items() if name != "built_from"}
    monkeypatch.setattr(verifier, "CHECKS", others)
    monkeypatch.setattr(verifier, "disassemble", functools.cache(verifier.disassemble))
    monkeypatch.setattr(verifier.elf, "load", functools.cache(verifier.elf.load))

    # The check of the stack takes longest, so it comes last, if no other check has failed.
    order = sorted(verifier.CHECKS, key=lambda name: name in ("stack", "project_files"))

    def noticed() -> bool:
        try:
            subject = verifier._subject(project, None)
            checks = (verifier._run(verifier.CHECKS[name], subject) for name in order)
            return any(check.status == "failed" for check in checks)
        except MicrogenError:
            return True

    found = _unnoticed(project, noticed, with_digest=True, chosen=_first_and_last)
    assert found - {"digest", "built_from"} == ALLOWED
