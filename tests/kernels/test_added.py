"""An implementation is one module and one header: two files added, nothing edited."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.base import resources
from microgen.graph import ops
from microgen.graph.ir import interpreter
from microgen.interface import api
from microgen.kernels.requantization import transforms
from microgen.options import Options
from microgen.project.firmware import crt_files
from tests.support.compiling import write_project
from tests.support.graphs import Builder
from tests.support.tools import NEEDS_ARM

HERE = Path(__file__).parent / "added"


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The module beside microgen's kernels, the header in a copy of ``crt``."""
    crt = tmp_path / "crt"
    shutil.copytree(resources.folder("crt"), crt)
    shutil.copy(HERE / "dense_s8_folded.h", crt / "include" / "microgen")
    folder = resources.folder
    monkeypatch.setattr(resources, "folder", lambda name: crt if name == "crt" else folder(name))
    monkeypatch.setattr(kernels, "__path__", [*kernels.__path__, str(HERE)])
    caches = (kernels.modules, kernels.registry, transforms.known, crt_files._with_included)
    for cache in (*caches, crt_files._headers):
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in (*caches, crt_files._headers):
        cache.cache_clear()


@pytest.mark.usefixtures("added")
@NEEDS_ARM
@pytest.mark.parametrize("goal", ["speed", "flash"])
def test_it_is_chosen_computed_and_verified(goal: str, tmp_path: Path) -> None:
    b = Builder()
    graph = b.graph(b.dense(b.input(1, 12), 7))
    project = tmp_path / "p"
    write_project(graph, project, Options(optimize=goal), "mps2_an386")
    record = json.loads((project / "microgen.json").read_text())
    (call,) = record["calls"]
    assert [step["kernel"] for step in call["steps"]] == ["mg_dense_s8_folded"]
    (folded,) = (c for c in record["constants"] if c["transform"] == "folded_bias")
    assert len(folded["sources"]) == 2
    data = b.rng.integers(-128, 128, (1, 12)).astype(np.int8)
    ran = api.run(project, {"input0": data})
    assert ran.checks.ok
    (found,) = ran.outputs.values()
    expected = interpreter.evaluate(graph, {"input0": data}, ops.registry())[graph.outputs[0]]
    np.testing.assert_array_equal(found, expected)
    assert {c.name: c.status for c in ran.checks.checks}["constants_bytes"] == "ok"
