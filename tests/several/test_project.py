"""A project of several models: its files, its manifest, its library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import CapacityError, UnsupportedError
from microgen.interface import inspection
from microgen.interface.cli import main
from microgen.interface.inspection import library
from tests.several import models
from tests.support.places import SMALL

SOURCES = "model/codegen/host/src"


def _pairs(directory: Path, *names: str) -> list[tuple[Path, str]]:
    files = models.written(directory)
    return [(files[name], name) for name in names]


def test_one_model_is_what_compile_model_makes_of_it(tmp_path: Path) -> None:
    for options in ({}, {"interface": "packed"}, {"executor": "graph"}):
        alone = microgen.compile_model(SMALL, "mps2_an386", name="kws", **options)
        several = microgen.compile_models([(SMALL, "kws")], "mps2_an386", **options)
        assert several.files == alone.files
        assert several.models[0].manifest == alone.manifest


@pytest.mark.parametrize("executor", ["aot", "graph"])
def test_each_models_own_files_are_those_it_has_alone(executor: str, tmp_path: Path) -> None:
    pairs = _pairs(tmp_path, "kws", "sum")
    both = microgen.compile_models(pairs, "mps2_an386", executor=executor)
    for path, name in pairs:
        alone = microgen.compile_model(path, "mps2_an386", name=name, executor=executor)
        own = [
            file
            for file in alone.files.files
            if file.startswith("model/") and file.endswith((".c", ".h", ".S", ".params", ".graph"))
        ]
        assert len(own) > 6
        for file in own:
            if "registry" not in file and not file.endswith("_note.h"):
                assert both.files.files[file] == alone.files.files[file]


def test_one_registry_has_the_functions_of_all(tmp_path: Path) -> None:
    both = microgen.compile_models(_pairs(tmp_path, "kws", "sum"), "native", interface="packed")
    own = {name: data for name, data in both.files.files.items() if name.startswith(SOURCES)}
    (registry,) = [data for name, data in own.items() if name.endswith("_registry.c")]
    for name in ("tvmgen_kws_run", "tvmgen_sum_run", "tvmgen_sum_get_c_metadata"):
        assert f'"{name}\\0"'.encode() in registry
    assert registry.count(b"TVMSystemLibEntryPoint(void)") == 1


def test_the_manifest_has_every_model(tmp_path: Path) -> None:
    pairs = _pairs(tmp_path, "kws", "small", "state")
    done = microgen.generate_models(pairs, "mps2_an386", tmp_path / "p", shared_workspace=True)
    read = manifest.load(tmp_path / "p")
    assert read.dumps() == done.manifest.dumps()
    assert [module.module for module in read.modules] == ["kws", "small", "state"]
    for own in read.modules:
        seen = read.seen_from(own)
        assert manifest.record_fields(seen) == manifest.record_fields(own)
        assert {m.module for m in seen.modules} == {"kws", "small", "state"}
        assert seen.files == read.files
    assert read.shared_workspace is not None
    assert read.shared_workspace.modules == ("kws", "small")
    assert read.shared_workspace.nbytes == max(m.plan.peak for m in read.modules[:2])


def _largest(project: Path) -> int:
    """The bytes of the largest workspace of a project's models."""
    return max(module.plan.peak for module in manifest.load(project).modules)


def test_the_library_and_inspect_have_every_model(tmp_path: Path) -> None:
    pairs = _pairs(tmp_path, "kws", "small")
    microgen.generate_models(pairs, "native", tmp_path / "p", shared_workspace=True)
    found = json.loads((tmp_path / "p" / "model" / "metadata.json").read_bytes())
    assert {name: m["model_name"] for name, m in found["modules"].items()} == {
        "kws": "kws",
        "small": "small",
    }
    microgen.export(tmp_path / "p", tmp_path / "p.tar")
    for path in (tmp_path / "p" / "model", tmp_path / "p.tar"):
        data = library.inspect(path).data
        assert set(data["modules"]) == {"kws", "small"}
        assert data["modules"]["kws"]["parameters"] != data["modules"]["small"]["parameters"]
    shown = inspection.inspect(tmp_path / "p").data
    assert [module["module"] for module in shown["modules"]] == ["kws", "small"]
    assert [len(module["calls"]) for module in shown["modules"]] == [2, 4]
    assert shown["shared_workspace"] == _largest(tmp_path / "p") > 0


def test_capacity_is_of_all_models_together(tmp_path: Path) -> None:
    pairs = _pairs(tmp_path, "small", "kws")
    alone = [microgen.compile_model(path, "mps2_an386").manifest.estimate for path, _ in pairs]
    both = microgen.compile_models(pairs, "mps2_an386").manifest.estimate
    one = microgen.compile_models(pairs, "mps2_an386", shared_workspace=True)
    least = min(c.plan.peak for c in one.models)
    assert both.ram > max(estimate.ram for estimate in alone)
    assert both.ram - one.manifest.estimate.ram == least
    assert sum(e.flash for e in alone) >= both.flash > max(e.flash for e in alone)
    with pytest.raises(
        CapacityError, match=r"RAM, but the --ram budget is .*small\.global_workspace"
    ):
        microgen.compile_models(pairs, "mps2_an386", ram=both.ram_least // 2)
    microgen.compile_models(pairs, "mps2_an386", ram=both.ram, flash=both.flash)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (("kws", "state"), {}, "can share one; without a workspace, or with a state: state"),
        (("kws", "small"), {"executor": "graph"}, "the graph executor keeps its tables"),
        (
            ("kws", "small"),
            {"workspace_io": True},
            "inputs and outputs in the workspace must be kept",
        ),
        (("kws", "small"), {"pool": ("w:9000",)}, "with --pool the caller decides"),
    ],
)
def test_what_cannot_share_is_refused(
    names: tuple[str, ...], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError, match=message) as caught:
        microgen.compile_models(
            _pairs(tmp_path, *names), "native", shared_workspace=True, **options
        )
    assert caught.value.where == "--shared-workspace"


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = models.written(tmp_path)
    given = [str(files["kws"]), str(files["small"])]
    tail = ["-b", "native", "-o", str(tmp_path / "p"), "--json"]
    assert main(["generate", *given, *tail]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [m["module"] for m in data["modules"]] == ["kws", "small_int8"]
    assert main(["generate", *given, "--name", "a,b", "--shared-workspace", *tail]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [m["module"] for m in data["modules"]] == ["a", "b"]
    assert data["shared_workspace"] == _largest(tmp_path / "p") > 0
    for bad, where in (
        ([*given, "--name", "a"], "--name"),
        ([*given, "--name", "a,A"], "--name"),
        ([given[0], "--shared-workspace"], "--shared-workspace"),
    ):
        assert main(["generate", *bad, "-b", "native", "-o", str(tmp_path / "q")]) == 2
        assert f"microgen: {where}: " in capsys.readouterr().err
    assert not (tmp_path / "q").exists()


def test_modules_of_relay_can_be_given_as_data(tmp_path: Path) -> None:
    from microgen import relay

    module, _ = relay.load(models.written(tmp_path)["sum"])
    done = microgen.compile_models([(module, "one"), (module, "two")], "native")
    assert [c.program.module for c in done.models] == ["one", "two"]
    assert "model/src/two.relay" in done.files.files
