"""What the accelerator takes, what it refuses and why, and the code that is generated for it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.compiler.passes.padding import canonical_padding
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import ArrayType, DType, Graph
from microgen.target import board as boards
from microgen.tvm.codegens.accelerator import CODEGEN
from tests.support.graphs import Builder
from tests.tvm.codegens.accelerator.networks import everything

DIGITS = Path(__file__).parents[4] / "examples" / "digits" / "digits_int8.tflite"
ACCELERATOR = ("accelerator",)


def _refusal(graph: Graph) -> str | None:
    return CODEGEN.refusal(graph.nodes[-1], graph, boards.load("native"))


def test_what_it_takes() -> None:
    graph = everything()
    board = boards.load("native")
    assert [CODEGEN.refusal(node, graph, board) for node in graph.nodes] == [None] * 10


def test_operators_without_a_command_are_refused() -> None:
    b = Builder()
    assert _refusal(b.graph(b.softmax(b.input(1, 4)))) == "it has no command for it"


def test_other_types_are_refused() -> None:
    b = Builder()
    graph = b.graph(b.add(b.input(1, 4), b.input(1, 4)))
    floats = {name: ArrayType((1, 4), DType.FLOAT32) for name in graph.types}
    found = _refusal(dataclasses.replace(graph, types=floats))
    assert found == "'input0' is float32, the kernel computes int8"


def test_another_rounding_is_refused() -> None:
    b = Builder()
    graph = b.graph(b.conv(b.input(1, 4, 4, 2), 3))
    (node,) = graph.nodes
    attrs = dataclasses.replace(node.attrs, rounding=Rounding.UPWARD)  # type: ignore[call-arg]
    found = _refusal(graph.replace(nodes=(dataclasses.replace(node, attrs=attrs),)))
    assert found == "its sums are rounded 'upward', the kernel rounds otherwise"


def test_weights_that_are_computed_are_refused() -> None:
    b = Builder()
    graph = b.graph(b.conv(b.input(1, 4, 4, 2), 3))
    weight = graph.nodes[0].inputs[1]
    constants = {name: array for name, array in graph.constants.items() if name != weight}
    given = dataclasses.replace(graph, inputs=(*graph.inputs, weight), constants=constants)
    found = _refusal(given)
    assert found == f"{weight!r} is computed at run time, the kernel needs a constant"


def test_sums_that_may_leave_int32_are_refused() -> None:
    """The weights do not matter, though the kernel itself would look at them."""
    b = Builder()
    graph = b.graph(b.dense(b.input(1, 70_000), 1))
    weight = graph.nodes[0].inputs[1]
    small = {**graph.constants, weight: np.zeros((1, 70_000), np.int8)}
    found = _refusal(dataclasses.replace(graph, constants=small))
    assert found is not None
    assert found.startswith("its sums may reach 2,284,80")
    b = Builder()
    assert _refusal(b.graph(b.dense(b.input(1, 65_000), 1))) is None


def test_tensors_beyond_its_addresses_are_refused() -> None:
    b = Builder()
    graph = b.graph(b.add(b.input(1, 2**23), b.input(1, 1)))
    assert _refusal(graph) == "'input0' has 8,388,608 bytes; the accelerator addresses 8,388,607"


def test_extents_beyond_its_counters_are_refused() -> None:
    b = Builder()
    graph = canonical_padding(b.graph(b.pool(b.input(1, 1, 32_768, 1), "max", 1)))
    assert _refusal(graph) == "it has an extent of 32,768; the accelerator allows 32,767"


def test_regions_are_merged_if_asked() -> None:
    apart = microgen.compile_model(DIGITS, "native", codegen=ACCELERATOR)
    merged = microgen.compile_model(DIGITS, "native", codegen=ACCELERATOR, merge_regions=True)
    assert [call.device for call in apart.program.calls] == ["accelerator"] * 6 + [""]
    assert [call.device for call in merged.program.calls] == ["accelerator"] * 2 + [""]
    assert [d.target for d in merged.program.devices] == ["accelerator"]


def test_the_project_has_its_driver() -> None:
    files = microgen.compile_model(DIGITS, "mps2_an386", codegen=ACCELERATOR).files.files
    driver = files["src/devices.c"].decode()
    assert "static mg_accelerator accelerator_context;" in driver
    assert "return mg_accelerator_open(context);" in driver
    assert "tracing" not in driver
    assert "crt/src/platform/tracing_device.c" not in files
    build = files["CMakeLists.txt"].decode()
    for source in ("", "_check", "_compute", "_stream"):
        assert (
            build.count(f"  crt/src/accelerator/accelerator{source}.c\n") == 2
        )  # bare metal's and Zephyr's
    assert "a driver that is part of" in files["README.md"].decode()


def test_the_same_model_gives_the_same_files() -> None:
    both = [
        microgen.compile_model(DIGITS, "native", codegen=ACCELERATOR, merge_regions=True)
        for _ in range(2)
    ]
    assert both[0].files.files == both[1].files.files


def test_a_target_of_its_name_must_have_the_device_api() -> None:
    with pytest.raises(MicrogenError, match="'accelerator' is declared without device-api"):
        microgen.compile_model(DIGITS, "native", codegen=ACCELERATOR, targets=("accelerator",))
    declared = ("accelerator:device-api:device-type=1",)
    microgen.compile_model(DIGITS, "native", codegen=ACCELERATOR, targets=declared)


def test_the_packed_entry_point_has_no_place_for_contexts() -> None:
    with pytest.raises(UnsupportedError, match=r"contexts of devices \(accelerator\)"):
        microgen.compile_model(DIGITS, "native", codegen=ACCELERATOR, interface="packed")
