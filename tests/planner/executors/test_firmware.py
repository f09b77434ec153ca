"""Firmware whose graph executor runs the JSON and the parameter file: built, verified, run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.base import manifest
from microgen.base.errors import MicrogenError, RunError
from microgen.building import builder
from microgen.graph import params_file
from microgen.graph.ir.graph import Array
from microgen.relay import Function, IRModule
from microgen.running import runner
from tests.support.places import DIGITS, SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV

# tests/qemu/test_mlperf_tiny_graph.py has the executor on mps3_an547 in every run of the tests.
BOARDS = {
    "native": (),
    "mps2_an386": (NEEDS_ARM,),
    "mps3_an547": (NEEDS_ARM, pytest.mark.slow),
    "qemu_riscv32": (NEEDS_RISCV,),
}

pytestmark = NEEDS_NINJA


def generated(directory: Path, board: str, *, model: Path = DIGITS, **options: object) -> Path:
    project = directory / board
    microgen.generate(model, board, project, executor="graph", **options)
    return project


def ahead_of_time(directory: Path, inputs: dict[str, Array]) -> dict[str, Array]:
    project = directory / "aot"
    microgen.generate(DIGITS, "native", project)
    return dict(microgen.run(project, inputs).outputs)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", [pytest.param(b, marks=m) for b, m in BOARDS.items()])
def test_gives_what_the_aot_executor_gives(board: str, tmp_path: Path) -> None:
    project = generated(tmp_path, board)
    (port,) = manifest.load(project).inputs
    inputs = {
        port.tensor: np.random.default_rng(1).integers(-128, 128, (5, *port.shape)).astype(np.int8)
    }
    found = microgen.run(project, inputs, compare=True)
    assert all(verdict.ok for verdict in found.verdicts)
    expected = ahead_of_time(tmp_path, inputs)
    for name, array in expected.items():
        np.testing.assert_array_equal(found.outputs[name], array)


def test_inputs_may_have_names_of_c_objects(tmp_path: Path) -> None:
    """Constants are C objects, whose names begin with the module's. Inputs keep their own names."""
    names = ("tvmgen_default_x", "sid_0", "tvmgen_default_constant_0")
    inputs = [relay.var(name, shape=(3,), dtype="float32") for name in names]
    total = relay.add(relay.add(inputs[0], inputs[1]), inputs[2])
    constant = relay.const(np.array([1, 2, 3], np.float32))
    network = Function(inputs, relay.nn.relu(relay.multiply(total, constant)))
    project = tmp_path / "p"
    microgen.generate(IRModule.from_expr(network), "native", project, executor="graph")
    given = {name: np.full((3,), i + 1, np.float32) for i, name in enumerate(names)}
    found = microgen.run(project, given, compare=True)
    assert microgen.verify(project).check("graph").status == "ok"
    assert found.verdicts[0].ok
    (output,) = found.outputs.values()
    np.testing.assert_array_equal(output.reshape(3), [6, 12, 18])


@NEEDS_ARM
@NEEDS_LLVM
def test_llvm_links_the_abi_of_the_c_code(tmp_path: Path) -> None:
    """Its linker takes the ABI from the first object, so that may not be the assembled graph."""
    project = generated(tmp_path, "mps2_an386", model=SMALL, toolchain="llvm", optimize="ram")
    found = microgen.run(project, compare=True)
    assert all(verdict.ok for verdict in found.verdicts)


def test_the_board_reads_the_files_of_the_library(tmp_path: Path) -> None:
    """The graph and the parameters in the ELF equal the files, and the plan is the graph's."""
    project = generated(tmp_path, "native")
    folder = project / "model" / "executor-config" / "graph"
    graph = json.loads((folder / "default.graph").read_text())
    record = manifest.load(project)
    called = [n["attrs"]["func_name"] for n in graph["nodes"] if n["op"] != "null"]
    assert called.count("__nop") == 1  # the reshape before the dense layer
    assert [f for f in called if f != "__nop"] == [call.packed for call in record.calls]
    arrays = params_file.loads((folder / "default.params").read_bytes())
    assert set(arrays) == {n["name"] for n in graph["nodes"] if n["op"] == "null"} - {"image"}
    widths = [array.dtype.itemsize for array in arrays.values()]
    assert widths == sorted(widths, reverse=True)
    microgen.build(project)
    image = (project / "build" / "firmware.elf").read_bytes()
    for name in ("default.graph", "default.params"):
        assert (folder / name).read_bytes() in image


@pytest.mark.parametrize(("name", "code"), [("default.graph", 0x0780), ("default.params", 0x0782)])
def test_a_damaged_file_is_an_error_code(name: str, code: int, tmp_path: Path) -> None:
    project = generated(tmp_path, "native", model=SMALL)
    path = project / "model" / "executor-config" / "graph" / name
    path.write_bytes(b"x" + path.read_bytes()[1:])
    elf = builder.build(project, sanitize=True).elf
    with pytest.raises(RunError, match=f"error code {code} at sample 0"):
        runner.run(project, None, elf=elf)


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"interface": "packed"}, "--interface"),
        ({"unpacked_api": True}, "--unpacked-api"),
        ({"link_params": False}, "--link-params"),
        ({"planner": "greedy"}, "--planner"),
        ({"alignment": 32}, "--alignment"),
        ({"constant_alignment": 8}, "--constant-alignment"),
    ],
)
def test_what_does_not_go_with_it(options: dict[str, object], where: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError) as caught:
        generated(tmp_path, "native", **options)
    assert caught.value.where == where
    assert not (tmp_path / "native").exists()
