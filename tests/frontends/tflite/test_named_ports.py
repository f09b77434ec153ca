"""Inputs and outputs have the names of the file's signature, in its order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import InputError, MicrogenError, ModelError, UnsupportedError
from microgen.graph.ir.graph import Array
from microgen.interface import inspection
from microgen.project.firmware.compiled import Compiled
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tflite_builder import (
    OperatorSpec,
    Ref,
    SignatureSpec,
    TensorSpec,
    build_model,
)
from tests.support.tools import NEEDS_NINJA

HEADER = "model/codegen/host/include/tvmgen_default.h"
SHAPE = (1, 4)
Pairs = Sequence[tuple[str, Ref]]
LONG = "n" * 10_000


def difference(
    inputs: Pairs, outputs: Pairs, listed: Sequence[Ref] = ("d", "s"), *, quant: bool = False
) -> bytes:
    """A network of x - y and x + y, with the tensors ``t:0`` (x), ``t:1`` (y), ``d`` and ``s``."""
    dtype, scale = ("int8", {"scale": (0.5,), "zero_point": (-1,)}) if quant else ("float32", {})
    tensors = [TensorSpec(n, SHAPE, dtype, **scale) for n in ("t:0", "t:1", "d", "s")]  # type: ignore[arg-type]
    operators = [
        OperatorSpec("SUB", ["t:0", "t:1"], ["d"], "SubOptions"),
        OperatorSpec("ADD", ["t:0", "t:1"], ["s"], "AddOptions"),
    ]
    signature = SignatureSpec("serving_default", inputs, outputs)
    return build_model(tensors, operators, ["t:0", "t:1"], listed, signatures=[signature])


def compiled(data: bytes, folder: Path, **options: Any) -> Compiled:
    (folder / "m.tflite").write_bytes(data)
    return microgen.compile_model(folder / "m.tflite", "native", **options)


def ports(made: Compiled) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The inputs and the outputs: the name in data, and the field in C."""
    program = made.program
    inputs, outputs = (
        [(port.public_name, port.name) for port in side]
        for side in (program.inputs, program.outputs)
    )
    return inputs, outputs


def results(folder: Path, data: bytes, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of the firmware, which was compared with the reference and with LiteRT."""
    (folder / "m.tflite").write_bytes(data)
    microgen.generate(folder / "m.tflite", "native", folder / "p")
    ran = microgen.run(folder / "p", arrays, compare=True)
    assert [str(v) for v in ran.verdicts if not v.ok or v.is_skipped] == []
    return ran.outputs


X, Y = np.array([[5, 6, 7, 8]], np.float32), np.array([[1, 2, 3, 4]], np.float32)


@NEEDS_NINJA
@needs_litert
def test_the_signatures_order_holds_from_samples_to_results(tmp_path: Path) -> None:
    data = difference([("second", "t:1"), ("first", "t:0")], [("sum", "s"), ("rest", "d")])
    found = results(tmp_path, data, {"first": X, "second": Y})
    assert {name: array.tolist() for name, array in found.items()} == {
        "sum": (X + Y).tolist(),
        "rest": (X - Y).tolist(),
    }
    assert list(found) == ["sum", "rest"]
    again = microgen.run(tmp_path / "p", {"t:0": X, "input0": Y})
    assert again.outputs["rest"].tolist() == (X - Y).tolist()
    with pytest.raises(InputError, match=r"two arrays \(first and t:0\) for the input 'first'"):
        microgen.run(tmp_path / "p", {"first": X, "t:0": X, "second": Y})
    record = manifest.load(tmp_path / "p")
    assert [(p.tensor, p.aliases) for p in record.inputs] == [
        ("second", ("t:1",)),
        ("first", ("t:0",)),
    ]
    metadata = json.loads((tmp_path / "p/model/metadata.json").read_text())
    (main,) = metadata["modules"]["default"]["memory"]["functions"]["main"]
    assert (set(main["inputs"]), set(main["outputs"])) == ({"second", "first"}, {"sum", "rest"})
    model = inspection.inspect(tmp_path / "m.tflite").data
    assert list(model["inputs"]) + list(model["outputs"]) == ["second", "first", "sum", "rest"]


def test_c_has_both_names(tmp_path: Path) -> None:
    data = difference([("second", "t:1"), ("first", "t:0")], [("sum", "s"), ("rest", "d")])
    header = compiled(data, tmp_path).files.files[HEADER].decode()
    assert header.index("void *second;") < header.index("void *first;")
    for name, other in (("second", "t_1"), ("first", "t_0"), ("sum", "s"), ("rest", "d")):
        assert f"        void *{other}; /* the same pointer, by the name that TVM" in header
        sizes = f"#define TVMGEN_DEFAULT_{other.upper()}_SIZE TVMGEN_DEFAULT_{name.upper()}_SIZE"
        assert f"{sizes}\n" in header
    # The subgraph's first output is the signature's second, so a number would mislead.
    assert "output0" not in header


def test_outputs_in_the_subgraphs_order_are_also_numbered(tmp_path: Path) -> None:
    same = compiled(difference([], [("rest", "d"), ("sum", "s")]), tmp_path)
    assert [port.second_names for port in same.program.outputs] == [
        ("d", "output0"),
        ("s", "output1"),
    ]
    only = compiled(difference([], [("sum", "s")], ["s"]), tmp_path)
    assert [port.second_names for port in only.program.outputs] == [("s", "output")]


def test_without_a_signature_nothing_changes(tmp_path: Path) -> None:
    made = compiled(difference([], []), tmp_path)
    assert ports(made) == (
        [("t:0", "t_0"), ("t:1", "t_1")],
        [("d", "output0"), ("s", "output1")],
    )
    assert [port.aliases for port in made.program.inputs] == [(), ()]


@NEEDS_NINJA
@needs_litert
def test_an_input_and_an_output_may_have_one_name(tmp_path: Path) -> None:
    """As the states of streaming networks do; here "x" is also an output of another tensor."""
    data = difference(
        [("x", "t:0"), ("y", "t:1")], [("x", "d"), ("t:1", "t:1"), ("y", "s")], ["d", "t:1", "s"]
    )
    found = results(tmp_path, data, {"x": X, "y": Y})
    assert {name: array.tolist() for name, array in found.items()} == {
        "x": (X - Y).tolist(),
        "t:1": Y.tolist(),
        "y": (X + Y).tolist(),
    }
    fields = [port.name for port in manifest.load(tmp_path / "p").outputs]
    assert fields == ["x_1", "t_1", "y_1"]


@NEEDS_NINJA
@needs_litert
def test_one_tensor_with_two_names(tmp_path: Path) -> None:
    """An input has both names, an output is returned under both, as by LiteRT."""
    inputs: Pairs = [("a", "t:0"), ("y", "t:1"), ("b", "t:0")]
    data = difference(inputs, [("one", "d"), ("two", "d"), ("s", "s")])
    found = results(tmp_path, data, {"b": X, "y": Y})
    assert {name: array.tolist() for name, array in found.items()} == {
        "one": (X - Y).tolist(),
        "two": (X - Y).tolist(),
        "s": (X + Y).tolist(),
    }
    record = manifest.load(tmp_path / "p")
    assert [(port.tensor, port.aliases) for port in record.inputs] == [
        ("a", ("t:0", "b")),
        ("y", ("t:1",)),
    ]


@NEEDS_NINJA
@needs_litert
def test_names_may_be_anything(tmp_path: Path) -> None:
    names = ["int", "*/ int x; /*"], ["a/b", "A:B"]
    pairs = [
        list(zip(side, refs, strict=True))
        for side, refs in zip(names, (("t:0", "t:1"), ("d", "s")), strict=True)
    ]
    found = results(tmp_path, difference(*pairs), {"int": X, "*/ int x; /*": Y})
    assert found["a/b"].tolist() == (X - Y).tolist()
    assert found["A:B"].tolist() == (X + Y).tolist()
    record = manifest.load(tmp_path / "p")
    assert [port.name for port in record.outputs] == ["a_b", "A_B_1"]
    assert [port.name for port in record.inputs] == ["t_int", "t_int_x____"]


@NEEDS_NINJA
@needs_litert
def test_names_may_be_long_or_other_tensors(tmp_path: Path) -> None:
    """A name that another tensor has in the file means the port; the other tensor gives way."""
    data = difference([(f"{LONG}1", "t:0"), (f"{LONG}2", "t:1")], [("s", "d"), ("d", "s")])
    found = results(tmp_path, data, {f"{LONG}1": X, "t:1": Y})
    assert found["s"].tolist() == (X - Y).tolist()
    assert found["d"].tolist() == (X + Y).tolist()
    fields = [port.name for port in manifest.load(tmp_path / "p").inputs]
    assert len({*fields}) == 2
    assert {len(name) for name in fields} == {97}


def test_ports_that_the_signature_leaves_out_follow(tmp_path: Path) -> None:
    made = compiled(difference([("y", "t:1")], [("", "s"), ("rest", "d")]), tmp_path)
    assert ports(made) == (
        [("y", "y"), ("t:0", "t_0")],
        [("s", "s"), ("rest", "rest")],
    )
    # A signature without any name is as none.
    made = compiled(difference([("", "t:1"), ("", "t:0")], []), tmp_path)
    assert ports(made)[0] == [("t:0", "t_0"), ("t:1", "t_1")]


@pytest.mark.parametrize("number", [2, 3, 2**31 - 1])
def test_a_signature_of_other_tensors_is_left_out_with_a_note(number: int, tmp_path: Path) -> None:
    made = compiled(difference([("x", number), ("y", "t:1")], [("rest", "d")]), tmp_path)
    assert ports(made)[0] == [("t:0", "t_0"), ("t:1", "t_1")]
    assert ports(made)[1] == [("rest", "rest"), ("s", "s")]
    said = f"the signature's inputs are not the network's (\"x\" is tensor {number})"
    assert any(said in note for note in inspection.inspect(tmp_path / "m.tflite").data["notes"])


@pytest.mark.parametrize(
    ("inputs", "outputs", "side"),
    [([("x", "t:0"), ("x", "t:1")], [], "inputs"), ([], [("x", "d"), ("x", "s")], "outputs")],
)
def test_a_name_that_is_there_twice_is_refused(
    inputs: Pairs, outputs: Pairs, side: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=f'has a signature with two {side} called "x"'):
        compiled(difference(inputs, outputs), tmp_path)


@pytest.mark.parametrize(
    ("options", "file"),
    [
        ({"interface": "packed"}, "model/codegen/host/src/default_metadata.c"),
        ({"executor": "graph"}, "model/executor-config/graph/default.graph"),
    ],
)
def test_other_interfaces_have_the_names_too(
    options: dict[str, str], file: str, tmp_path: Path
) -> None:
    inputs, outputs = [("second", "t:1"), ("first", "t:0")], [("sum", "s"), ("rest", "d")]
    made = compiled(difference(inputs, outputs), tmp_path, **options)
    text = made.files.files[file].decode()
    assert text.index('"second"') < text.index('"first"')
    assert ports(made)[1] == [("sum", "sum"), ("rest", "rest")]


@pytest.mark.parametrize("name", ["x:1", "t:0:1"])
def test_open_sizes_have_either_name(name: str, tmp_path: Path) -> None:
    tensors = [TensorSpec(n, (1, 1), "float32", shape_signature=(-1, -1)) for n in ("t:0", "y")]
    signature = SignatureSpec("serving_default", [("x", "t:0")], [])
    relu = OperatorSpec("RELU", ["t:0"], ["y"])
    data = build_model(tensors, [relu], ["t:0"], ["y"], signatures=[signature])
    with pytest.raises(UnsupportedError, match=r'leave the size "x:1" open; .* --dim x:1=N'):
        compiled(data, tmp_path)
    made = compiled(data, tmp_path, dim=(f"{name}=5",))
    assert [port.type.shape for port in made.program.inputs] == [(1, 5)]
    with pytest.raises(MicrogenError, match="gives 'x:1' twice"):
        compiled(data, tmp_path, dim=("x:1=5", "t:0:1=6"))
