"""Several models in one firmware, built and run on the host: each computes the same as alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import BuildError, InputError, RunError
from microgen.building import builder
from microgen.graph.ir.graph import Array
from microgen.running import runner
from tests.several import models
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA


def _inputs(project: Path, *, seed: int = 1) -> dict[str, Array]:
    """Random samples of all inputs, keyed by full names."""
    found: dict[str, Array] = {}
    rng = np.random.default_rng(seed)
    for module in manifest.load(project).modules:
        for port in module.inputs:
            shape = (models.SAMPLES, *port.shape)
            array = rng.integers(-128, 128, shape)
            found[f"{module.module}.{port.tensor}"] = array.astype(port.dtype)
    return found


def _generated(directory: Path, *names: str, **options: object) -> Path:
    files = models.written(directory)
    project = directory / "all"
    microgen.generate_models([(files[n], n) for n in names], "native", project, **options)
    return project


def _alone(directory: Path, name: str, inputs: dict[str, Array], **options: object) -> list[Array]:
    """The outputs of firmware with only that model, for its inputs among these."""
    project = directory / name
    microgen.generate(models.written(directory)[name], "native", project, name=name, **options)
    own = {k.split(".", 1)[1]: v for k, v in inputs.items() if k.startswith(f"{name}.")}
    outputs = microgen.run(project, own).outputs
    return list(outputs.values())


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("names", "shared", "options"),
    [
        (("kws", "small", "state", "sum"), True, {}),
        # tests/qemu/test_several.py runs this interface, too.
        pytest.param(("small", "kws"), True, {"interface": "packed"}, marks=pytest.mark.slow),
        pytest.param(
            ("kws", "small"),
            True,
            {"interface": "packed", "unpacked_api": True},
            marks=pytest.mark.slow,
        ),
        (("small", "sum", "kws"), False, {"executor": "graph"}),
        (("kws", "wide"), False, {"workspace_io": True}),
        (("kws", "wide"), False, {"pool": ("w:4096:external", "c:4096:const:external")}),
    ],
)
def test_each_gives_what_it_gives_alone(
    names: tuple[str, ...], shared: bool, options: dict[str, object], tmp_path: Path
) -> None:
    project = _generated(tmp_path, *names, shared_workspace=shared, **options)
    inputs = _inputs(project)
    found = microgen.run(project, inputs, sanitize=True, compare=True)
    assert found.verdicts
    assert all(v.ok or v.is_skipped for v in found.verdicts)
    assert {v.name.split(":")[0] for v in found.verdicts if not v.is_skipped} == set(names)
    assert found.checks.check("shared_workspace").status == "ok"
    outputs = dict(found.outputs)
    for name in names:
        for expected in _alone(tmp_path, name, inputs, **options):
            mine = next(key for key in outputs if key.startswith(f"{name}."))
            np.testing.assert_array_equal(outputs.pop(mine), expected)
    assert not outputs


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kws, wide and sum with shared kernels. Each has an input x."""
    folder = tmp_path_factory.mktemp("several")
    made = _generated(folder, "kws", "wide", "sum", optimize="flash", shared_workspace=True)
    microgen.build(made)
    return made


def test_kernels_are_linked_once(project: Path) -> None:
    elf = project / "build" / "firmware.elf"
    listing = subprocess.run(["nm", elf], check=True, capture_output=True, text=True).stdout
    defined = [x.split()[-1] for x in listing.splitlines() if " T " in x or " t " in x]
    record = manifest.load(project)
    shared = {kernel for module in record.modules[:2] for kernel in module.kernels}
    assert record.modules[0].kernels == record.modules[1].kernels
    for kernel in shared:
        assert defined.count(kernel) == 1
    objects = [path.name for path in (project / "build").rglob("*.o*") if "kernels" in path.parts]
    assert len(objects) == len(set(objects)) >= len(shared)


def test_without_an_input_file_every_line_says_whose_output_it_is(project: Path) -> None:
    lines = runner.run(project).console.splitlines()
    heads = [line.split(" =")[0] for line in lines]
    assert heads[:3] == [
        "microgen: output kws.output",
        "microgen: output wide.output",
        "microgen: output sum.output",
    ]
    assert lines[-1].startswith("microgen: status=0 samples=1 ")


def test_a_tensors_own_name_will_do_where_one_model_has_it(project: Path) -> None:
    inputs = _inputs(project)
    expected = runner.run(project, inputs).outputs
    inputs["y"] = inputs.pop("sum.y")
    found = runner.run(project, inputs).outputs
    assert found.keys() == expected.keys() == {"kws.y", "wide.y", "sum.%1"}
    inputs["x"] = inputs.pop("kws.x")
    with pytest.raises(
        InputError, match=r"'x' could mean 3 inputs.*'kws\.x' or 'wide\.x' or 'sum\.x'"
    ):
        runner.run(project, inputs)
    del inputs["x"]
    with pytest.raises(InputError, match=r"no array for the input 'kws\.x'"):
        runner.run(project, inputs)


def test_models_of_one_device_share_its_hooks_and_context(tmp_path: Path) -> None:
    file = models.written(tmp_path)["device"]
    project = tmp_path / "p"
    pairs = [(file, "one"), (file, "two")]
    microgen.generate_models(pairs, "native", project, targets=("npu:device-api",))
    run = ["Activate", "Open", "Close", "Deactivate"]
    found = microgen.run(project, compare=False)
    lines = [line for line in found.console.splitlines() if "device" in line]
    assert lines == [f"microgen: device npu {hook}" for hook in run * 2]
    assert (project / "src" / "devices.c").read_text().count("DeviceNpuOpen(") == 1


def test_a_model_that_fails_is_named(tmp_path: Path) -> None:
    project = _generated(tmp_path, "kws", "wide", optimize="flash")
    source = project / "model" / "codegen" / "host" / "src" / "wide_lib0.c"
    text = source.read_text()
    source.write_text(text.replace("    return 0;\n", "    return 77;\n", 1))
    built = builder.build(project)
    with pytest.raises(RunError, match="the model 'wide' returned error code 77 at sample 0"):
        runner.run(project, elf=built.elf)


def _with_bytes_in_front(directory: Path) -> Path:
    """A project that links the shared bytes before one model's symbols instead of after them."""
    project = _generated(directory, "small", "kws", shared_workspace=True)
    cmake = project / "CMakeLists.txt"
    folder = "  model/codegen/host/src"
    last = f"{folder}/kws_memory.S\n{folder}/workspace.S\n"
    assert last in cmake.read_text()
    swapped = f"{folder}/workspace.S\n{folder}/kws_memory.S\n"
    cmake.write_text(cmake.read_text().replace(last, swapped))
    return project


def test_the_linker_refuses_a_workspace_that_is_not_where_it_was_planned(tmp_path: Path) -> None:
    project = _with_bytes_in_front(tmp_path)
    with pytest.raises(BuildError, match="tvmgen_kws_global_workspace is not in the shared"):
        builder.build(project)


def test_verify_sees_a_workspace_that_is_not_where_it_was_planned(tmp_path: Path) -> None:
    project = _with_bytes_in_front(tmp_path)
    script = project / "boards" / "native.ld"
    script.write_text(re.sub(r"^ASSERT.*\n.*$", "", script.read_text(), flags=re.MULTILINE))
    builder.build(project)
    report = microgen.verify(project, project_files=False)
    (failed,) = report.failed
    assert failed.name == "shared_workspace"
    assert "tvmgen_kws_global_workspace" in failed.found
    assert "is not the start of mg_shared_workspace" in failed.found


def test_verify_names_the_model_whose_constant_is_wrong(tmp_path: Path) -> None:
    project = _generated(tmp_path, "small", "kws")
    source = project / "model" / "codegen" / "host" / "src" / "kws_params.c"
    head, brace, rest = source.read_text().partition("{\n    ")
    number, comma, tail = rest.partition(",")
    source.write_text(f"{head}{brace}{int(number) ^ 1}{comma}{tail}")
    builder.build(project)
    report = microgen.verify(project, project_files=False)
    assert [check.name for check in report.failed] == ["constants_bytes"]
    assert report.failed[0].found.startswith("kws: tvmgen_kws_h_weight: byte 0 is")
