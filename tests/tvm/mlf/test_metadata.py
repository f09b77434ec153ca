"""microgen's ``metadata.json``: entries per target and per storage id, the same every time."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen import planner
from microgen.base.errors import InternalError, MicrogenError
from microgen.planner.executors import graph as executor
from microgen.planner.program.types import PrimFunc, Program
from microgen.target import board as boards
from microgen.tvm import mlf
from microgen.tvm.mlf import metadata
from tests.support.compiling import program_of
from tests.support.graphs import Builder, random_graph
from tests.support.places import DIGITS


@pytest.fixture(autouse=True)
def _no_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


def _two_targets() -> Program:
    """A convolution whose function runs on another target, and a softmax on the host."""
    b = Builder()
    conv = b.conv(b.input(1, 4, 4, 2), 3)
    program = program_of(b.graph(b.softmax(b.dense(b.reshape(conv, 1, 48), 4))))

    def moved(function: PrimFunc) -> PrimFunc:
        other = "conv2d" in function.name
        return dataclasses.replace(function, target="cmsis-nn" if other else function.target)

    calls = tuple(
        dataclasses.replace(call, scratch=32 * (call.index + 1)) for call in program.calls
    )
    return dataclasses.replace(program, functions=tuple(map(moved, program.functions)), calls=calls)


ON_A_TARGET = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8), float32]) {
  %0 = @npu0_main_0(%x);
  nn.softmax(%0)
}

def @npu0_main_0(%y: Tensor[(1, 8), float32], Compiler="npu0", Primitive=1,
    global_symbol="npu0_main_0") -> Tensor[(1, 8), float32] {
  nn.relu(%y)
}
"""


def _module(program: Program, **options: Any) -> dict[str, Any]:
    plan = planner.plan(program)
    return metadata.module(program, plan, boards.load("native"), **options)


def test_the_record_of_a_model_has_every_field_of_tvms() -> None:
    files = microgen.compile_model(DIGITS, "mps2_an386", name="kws").files.files
    text = files["model/metadata.json"].decode()
    found = json.loads(text)
    assert text == json.dumps(found, indent=2, sort_keys=True) + "\n"
    assert found["version"] == 7
    module = found["modules"]["kws"]
    assert {
        key: module[key] for key in ("model_name", "export_datetime", "executors", "style")
    } == {
        "model_name": "kws",
        "export_datetime": "1970-01-01 00:00:00Z",
        "executors": ["aot"],
        "style": "full-model",
    }
    assert module["target"] == ["c -keys=cortex-m4f"]
    assert set(module["memory"]) == {"functions"}
    (main,) = module["memory"]["functions"]["main"]
    assert main["inputs"] == {"image": {"dtype": "int8", "size": 64}}
    assert main["outputs"] == {"output": {"dtype": "int8", "size": 10}}
    assert main["io_size_bytes"] == 74
    (dependency,) = module["external_dependencies"]
    assert set(dependency) == {"short_name", "url", "url_type", "version_spec"}


def test_metadata_agrees_with_the_header_and_the_manifest() -> None:
    done = microgen.compile_model(DIGITS, "mps2_an386")
    record = json.loads(done.files.files["model/metadata.json"])["modules"]["default"]
    (main,) = record["memory"]["functions"]["main"]
    header = done.files.files["model/codegen/host/include/tvmgen_default.h"].decode()
    assert f"TVMGEN_DEFAULT_WORKSPACE_SIZE {main['workspace_size_bytes']}\n" in header
    assert main["workspace_size_bytes"] == done.plan.peak > 0
    assert main["constants_size_bytes"] == sum(c.nbytes for c in done.manifest.constants)
    operators = [f["function_name"] for f in record["memory"]["functions"]["operator_functions"]]
    assert operators == [f.name for f in done.program.functions]


def test_two_targets_of_one_device_type_have_an_entry_each() -> None:
    """TVM keys them by device type, so the last one overwrites the others."""
    program = _two_targets()
    functions = _module(program)["memory"]["functions"]
    host, other = functions["main"]
    assert (host["device"], other["device"]) == (1, 1)
    assert (host["target"], other["target"]) == ("c -keys=host", "cmsis-nn")
    assert host["workspace_size_bytes"] == planner.plan(program).peak
    assert other["workspace_size_bytes"] == 32
    assert other["io_size_bytes"] == 0
    assert other["constants_size_bytes"] > 0
    assert host["constants_size_bytes"] + other["constants_size_bytes"] == sum(
        c.array.nbytes for c in program.constants
    )


def test_a_target_with_another_device_has_its_number() -> None:
    functions = _module(_two_targets(), device_types={"cmsis-nn": 12})["memory"]["functions"]
    assert [entry["device"] for entry in functions["main"]] == [1, 12]
    found = {
        need["target"]: need["device"]
        for function in functions["operator_functions"]
        for need in function["workspace"]
    }
    assert found == {"c -keys=host": 1, "cmsis-nn": 12}


@pytest.mark.parametrize(
    ("target", "number"),
    [("npu0", 12), ("npu0:device-type=7:device-api", 7), ("npu0:device-type=1", 1)],
)
def test_the_number_is_that_of_the_declared_target(
    target: str, number: int, tmp_path: Path
) -> None:
    (tmp_path / "m.relay").write_text(ON_A_TARGET)
    files = microgen.compile_model(tmp_path / "m.relay", "native", targets=(target,)).files.files
    record = json.loads(files["model/metadata.json"])["modules"]["default"]
    host, other = record["memory"]["functions"]["main"]
    assert (host["device"], other["device"], other["target"]) == (1, number, "npu0")


def test_targets_stand_in_the_modules_list_host_first() -> None:
    assert _module(_two_targets())["target"] == ["c -keys=host", "cmsis-nn"]


def test_an_operators_workspace_is_the_most_that_its_calls_need() -> None:
    b = Builder()
    first = b.conv(b.input(1, 4, 4, 2), 2)
    program = program_of(b.graph(b.conv(first, 2)))
    assert len(program.functions) == 1
    calls = tuple(dataclasses.replace(c, scratch=(48, 16)[c.index]) for c in program.calls)
    found = _module(dataclasses.replace(program, calls=calls))["memory"]["functions"]
    (function,) = found["operator_functions"]
    assert function["workspace"] == [
        {"device": 1, "target": "c -keys=host", "workspace_size_bytes": 48}
    ]


def test_a_target_without_scratch_or_constants_needs_none() -> None:
    program = _two_targets()
    quiet = dataclasses.replace(
        program, calls=tuple(dataclasses.replace(c, scratch=0) for c in program.calls)
    )
    needs = [e["workspace_size_bytes"] for e in _module(quiet)["memory"]["functions"]["main"]]
    assert needs == [planner.plan(quiet).peak, 0]


@pytest.mark.parametrize(
    ("epoch", "text"),
    [("0", "1970-01-01 00:00:00Z"), ("1697796548", "2023-10-20 10:09:08Z")],
)
def test_the_date_is_that_of_source_date_epoch_in_utc(
    epoch: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert metadata.export_datetime() == text


@pytest.mark.parametrize("epoch", ["", "-1", "now", "1.5", "9" * 30, "\u0661"])
def test_another_epoch_is_refused(epoch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(MicrogenError, match=r"SOURCE_DATE_EPOCH: .* is not a number of seconds"):
        metadata.export_datetime()


# join's result uses storage 2 again, and needs more bytes there than split's first result.
GRAPH: dict[str, Any] = {
    "nodes": [
        {"op": "null", "name": "d1", "inputs": []},
        {"op": "null", "name": "p0", "inputs": []},
        {"op": "tvm_op", "name": "split", "inputs": [[0, 0, 0], [1, 0, 0]]},
        {"op": "tvm_op", "name": "join", "inputs": [[2, 0, 0], [2, 1, 0]]},
        {"op": "null", "name": "late", "inputs": []},
    ],
    "arg_nodes": [0, 1, 4],
    "heads": [[3, 0, 0]],
    "node_row_ptr": [0, 1, 2, 4, 5, 6],
    "attrs": {
        "storage_id": ["list_int", [0, 1, 2, 3, 2, 4]],
        "shape": ["list_shape", [[4], [2, 3], [2], [100], [8], []]],
        "dltype": ["list_str", ["int8", "float32", "int16", "bool", "int32", "int64"]],
    },
}


def test_a_storage_id_has_the_bytes_of_its_largest_entry() -> None:
    """TVM takes the shape at the index of the id, which is wrong as soon as an id is used again."""
    assert metadata.sids(GRAPH) == [
        {"storage_id": 0, "size_bytes": 4, "input_binding": "d1"},
        {"storage_id": 1, "size_bytes": 24, "input_binding": "p0"},
        {"storage_id": 2, "size_bytes": 32},
        {"storage_id": 3, "size_bytes": 100},
        {"storage_id": 4, "size_bytes": 8, "input_binding": "late"},
    ]


@pytest.mark.parametrize("seed", range(6))
def test_storage_ids_need_what_the_graph_executor_plans(seed: int) -> None:
    graph = random_graph(seed)
    program = program_of(graph)
    built = executor.build(program)
    found = metadata.sids(built.to_json())
    assert {s["storage_id"]: s["size_bytes"] for s in found} == dict(enumerate(built.storage_bytes))
    bound = [s["input_binding"] for s in found if "input_binding" in s]
    assert bound == [node.name for node in built.nodes if node.op == "null"]


def test_a_dtype_that_is_none_is_our_defect() -> None:
    attrs = GRAPH["attrs"] | {"dltype": ["list_str", ["handle"] * 6]}
    with pytest.raises(InternalError, match="dtype 'handle'"):
        metadata.sids(GRAPH | {"attrs": attrs})


def test_the_graph_executors_library_has_its_graph_and_storage_ids() -> None:
    program = _two_targets()
    data = json.dumps(GRAPH).encode()
    model = {".relay": b"def @main() {}\n", ".params": b"beside"}
    tree = mlf.library(program, model, text="not this", graph_json=data).files
    described = mlf.described({"default": _module(program, graph_json=data)}).files
    record = json.loads(described["model/metadata.json"])["modules"]["default"]
    assert record["executors"] == ["graph"]
    assert record["memory"]["sids"] == metadata.sids(GRAPH)
    assert json.loads(tree["model/executor-config/graph/default.graph"]) == GRAPH
    assert tree["model/src/default.relay"] == b"def @main() {}\n"
    assert tree["model/src/default.params"] == b"beside"


def test_the_networks_text_stands_beside_a_model_that_is_no_text() -> None:
    files = microgen.compile_model(DIGITS, "native").files.files
    text = files["model/src/default.relay"].decode()
    assert text.startswith("def @main(%image: Tensor[(1, 8, 8, 1), int8])")
    assert files["model/src/default.tflite"] == DIGITS.read_bytes()
    assert "model/executor-config/graph/default.graph" not in files
