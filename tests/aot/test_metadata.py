"""The metadata of a compiled model: of its executor and of its functions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.graph import params_file
from microgen.project.firmware.compiled import MAIN, Compiled
from microgen.project.firmware.metadata import PoolInfo, TensorInfo
from microgen.relay import Function
from tests.aot.native import CONVENTIONS, compiled, inferred

SIZE = 5 * 7 * 4
_NPU = """def @main(%a: Tensor[(5, 7), float32]) {
  %0 = @npu_main_0(%a);
  exp(%0)
}
def @npu_main_0(%y: Tensor[(5, 7), float32], Compiler="npu", Primitive=1, Inline=1,
    global_symbol="npu_main_0") -> Tensor[(5, 7), float32] {
  %0 = tanh(%y);
  add(%0, meta[relay.Constant][0])
}
"""
ONES = np.ones((5, 7), np.float32)


def _partitioned(**options: object) -> Compiled:
    module = relay.parse(_NPU, "npu.relay", {"relay.Constant.0": ONES})
    return compiled(module, targets=("npu:device-api",), **options)


def _chain() -> Function:
    """A function with a constant and three storage ids, two of which are live at once."""
    a = relay.var("a", shape=(5, 7))
    first = relay.exp(a)
    second = relay.add(first, relay.const(ONES))
    return Function([a], relay.multiply(relay.tanh(second), second))


def test_the_executors_metadata_has_names_types_pools_and_devices() -> None:
    found = _partitioned(pool=("sram:*:external",), alignment=32, constant_alignment=8).metadata
    assert found.inputs == (TensorInfo("a", "a", (5, 7), "float32", SIZE),)
    assert found.outputs == (TensorInfo("%1", "output", (5, 7), "float32", SIZE),)
    assert found.workspace_pools == (
        PoolInfo("sram", found.workspace_size_bytes, 32, is_internal=False),
    )
    assert found.devices == ("npu",)
    assert (found.executor, found.mod_name) == ("aot", "tvmgen_default")
    assert (found.interface_api, found.unpacked_api) == ("c", True)
    assert (found.workspace_alignment, found.constant_alignment) == (32, 8)
    assert (found.constants_size_bytes, found.io_size_bytes) == (SIZE, 2 * SIZE)


@pytest.mark.parametrize("planner", ["optimal", "greedy", "on-demand"])
def test_the_executors_metadata_is_that_of_any_planner(planner: str) -> None:
    """TVM knows the pools only after USMP has run. Here every plan has them."""
    made = compiled(_chain(), planner=planner)
    found = made.metadata
    assert found.inputs == (TensorInfo("a", "a", (5, 7), "float32", SIZE),)
    assert found.outputs == (TensorInfo("%3", "output", (5, 7), "float32", SIZE),)
    assert found.workspace_pools == (
        PoolInfo("global_workspace", made.plan.peak, 16, is_internal=True),
    )
    assert (found.executor, found.mod_name) == ("aot", "tvmgen_default")
    assert (found.interface_api, found.unpacked_api) == ("c", True)
    assert (found.devices, found.workspace_alignment, found.constant_alignment) == ((), 16, 4)
    assert found.workspace_size_bytes == made.plan.peak > 0
    assert (found.constants_size_bytes, found.io_size_bytes) == (SIZE, 2 * SIZE)


def test_a_function_has_io_constants_and_workspace() -> None:
    made = compiled(_chain(), planner="on-demand")
    infos = made.get_function_metadata()
    assert infos[MAIN].workspace == {"host": made.plan.peak}
    assert made.plan.peak == 2 * 144 + SIZE  # storage ids start at multiples of 16
    assert (infos[MAIN].io, infos[MAIN].constants) == ({"host": 2 * SIZE}, {"host": SIZE})
    added = infos["tvmgen_default_fused_add"]
    assert (added.workspace, added.io) == ({"host": 0}, {"host": 2 * SIZE})
    assert added.constants == {"host": SIZE}
    assert infos["tvmgen_default_fused_multiply"].io == {"host": 3 * SIZE}


def test_constants_alone_and_workspace_alone() -> None:
    a = relay.var("a", shape=(5, 7))
    constant = compiled(Function([a], relay.add(a, relay.const(ONES)))).get_function_metadata()
    assert (constant[MAIN].workspace, constant[MAIN].constants) == ({"host": 0}, {"host": SIZE})
    workspace = compiled(Function([a], relay.exp(relay.exp(a)))).get_function_metadata()
    assert (workspace[MAIN].workspace, workspace[MAIN].constants) == ({"host": SIZE}, {"host": 0})


@pytest.mark.parametrize("pool", ["sram:*", "sram:*:external", "flash:*:const"])
def test_pools_do_not_change_what_a_function_needs(pool: str) -> None:
    plain = compiled(_chain()).get_function_metadata()
    assert compiled(_chain(), pool=(pool,)).get_function_metadata() == plain


def test_functions_of_several_targets_have_a_workspace_of_their_own() -> None:
    infos = _partitioned().get_function_metadata()
    assert list(infos) == ["npu_main_0", "tvmgen_default_fused_exp", MAIN]
    external = infos["npu_main_0"]
    assert external.workspace == {"npu": SIZE}  # the tensor between its two steps
    assert (external.io, external.constants) == ({"npu": 2 * SIZE}, {"npu": SIZE})


@pytest.mark.parametrize("interface", ["c", "packed"])
def test_the_library_says_the_same(interface: str) -> None:
    files = compiled(_chain(), interface=interface, name="add").files.files
    record = json.loads(files["model/metadata.json"])["modules"]["add"]
    (main,) = record["memory"]["functions"]["main"]
    assert main["inputs"] == {"a": {"dtype": "float32", "size": SIZE}}
    assert main["outputs"] == {"output": {"dtype": "float32", "size": SIZE}}
    assert (main["constants_size_bytes"], main["io_size_bytes"]) == (SIZE, 2 * SIZE)
    operators = record["memory"]["functions"]["operator_functions"]
    assert [o["function_name"] for o in operators] == [
        f"tvmgen_add_fused_{op}" for op in ("exp", "add", "tanh", "multiply")
    ]


def test_outputs_of_nested_tuples_have_their_own_names_and_types() -> None:
    x = relay.var("x", shape=(3, 4), dtype="int32")
    y = relay.var("y", shape=(3,))
    inner = relay.Tuple([relay.Tuple([relay.add(x, x), relay.subtract(x, x)]), relay.exp(y)])
    made = compiled(Function([x, y], relay.Tuple([relay.multiply(x, x), inner])))
    assert [(t.field, t.dtype, t.nbytes) for t in made.metadata.outputs] == [
        ("output0", "int32", 48),
        ("output1", "int32", 48),
        ("output2", "int32", 48),
        ("output3", "float32", 12),
    ]


_NAMED = """def @main(%x: Tensor[(3, 4), int32], %y: Tensor[(3), float32],
    output_tensor_names=[{}]) {{
  %0 = add(%x, %x);
  (%0, ((%x, %0), exp(%y)))
}}
"""


def test_outputs_are_called_as_the_module_calls_them(tmp_path: Path) -> None:
    names = ("test output:a", "workspace", "x", "Identity")
    made = compiled(_NAMED.format(", ".join(f'"{name}"' for name in names)))
    assert [t.name for t in made.metadata.outputs] == list(names)
    fields = ["test_output_a", "workspace_1", "x_1", "Identity"]
    assert [t.field for t in made.metadata.outputs] == fields
    record = json.loads(made.files.files["model/metadata.json"])["modules"]["default"]
    outputs = record["memory"]["functions"]["main"][0]["outputs"]
    assert {name: o["size"] for name, o in outputs.items()} == {
        **dict.fromkeys(fields[:3], 48),
        "Identity": 12,
    }
    x, y = np.arange(12, dtype=np.int32).reshape(3, 4), np.zeros(3, np.float32)
    found = inferred(made, tmp_path, [x, y])
    for got, wanted in zip(found, [x + x, x, x + x, np.exp(y)], strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_one_output_may_have_a_name_too() -> None:
    text = 'def @main(%x: Tensor[(2), int32], output_tensor_names=["Identity"]) { add(%x, %x) }'
    made = compiled(text)
    header = made.files.files["model/codegen/host/include/tvmgen_default.h"].decode()
    assert "void *Identity;" in header
    assert "#define TVMGEN_DEFAULT_IDENTITY_SIZE 8\n" in header


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('"a", "b"', "output_tensor_names has 2 names, @main has 4 outputs"),
        ("1, 2, 3, 4", "output_tensor_names is not a list of strings"),
    ],
)
def test_names_that_are_not_the_outputs_are_refused(names: str, message: str) -> None:
    with pytest.raises(MicrogenError, match=message):
        compiled(_NAMED.format(names))


_MIXED = """def @main(%a: Tensor[(1, 2), int8], %b: Tensor[(1, 2), float32],
    %c: Tensor[(1, 2), float32]) {
  %0 = cast(%a, dtype="float32");
  %1 = multiply(%b, %c);
  add(%0, %1)
}
"""


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_bound_parameters_stand_in_the_library(convention: str) -> None:
    """TVM links bound parameters for the AOT executor and leaves its parameter file empty. Here
    they are in the file, too."""
    c = np.array([[2, 4]], np.float32)
    module = relay.bind_params(relay.parse(_MIXED, "add.relay"), {"c": c})
    files = compiled(module, convention, name="add").files.files
    params = params_file.loads(files["model/parameters/add.params"])
    assert list(params) == ["p0"]
    np.testing.assert_array_equal(params["p0"], c)
    memory = json.loads(files["model/metadata.json"])["modules"]["add"]["memory"]
    (main,) = memory["functions"]["main"]
    assert (main["constants_size_bytes"], main["io_size_bytes"]) == (8, 2 + 8 + 8)
    bound = [sid.get("input_binding") for sid in memory.get("sids", [])]
    expected = ["a", "b", None, "p0", None, None] if convention == "graph executor" else []
    assert bound == expected


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_names_of_outputs_may_be_anything(convention: str, tmp_path: Path) -> None:
    names = ["", "*/ int x; /*", "é%s", "int", "a" * 300, "a" * 300]
    x = relay.var("x", shape=(2,), dtype="int32")
    total = relay.add(x, x)
    body = relay.Tuple([total, x, total, x, x, relay.subtract(total, x)])
    function = Function([x], body, attrs={"output_tensor_names": tuple(names)})
    made = compiled(function, convention)
    assert [p.public_name for p in made.program.outputs][:5] == names[:5]
    given = np.array([3, 4], np.int32)
    found = inferred(made, tmp_path, [given])
    assert [a[0] for a in found] == [6, 3, 6, 3, 3, 3]
