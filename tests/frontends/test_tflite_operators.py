"""TFLite's builtin operators: each has an importer or a reason, and impossible ones are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite import importers, lacking
from tests.frontends.tweaked import Network, integers, refusal
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def test_every_operator_has_an_importer_or_a_reason() -> None:
    known = set(importers.registry())
    assert [
        name for name in lacking.builtin() if name not in known and not lacking.reason(name)
    ] == []
    assert known & set(lacking.REASONS) == set()


def test_the_table_has_the_ops_that_operators_become() -> None:
    rows = lacking.table()
    for row in (
        "| ABS | `abs` | |",
        "| REDUCE_ANY | `all`, `logical_not` | |",
        "| RANK | no op | |",
    ):
        assert row in rows


def test_a_missing_operator_is_refused_with_its_reason() -> None:
    network = _network("RFFT2D", [("x", (2,), "float32")])
    assert refusal(network, UnsupportedError).count(lacking.reason("RFFT2D")) == 1


def _network(
    code: str,
    fed: list[tuple[str, tuple[int, ...], str]],
    *constants: TensorSpec,
    outputs: int = 1,
    kind: str = "float32",
    options: str = "",
    **values: Any,
) -> Network:
    tensors = [TensorSpec(*each) for each in fed] + [*constants]
    names = [tensor.name for tensor in tensors]
    made = ["y", "z"][:outputs]
    tensors += [TensorSpec(name, (1,), "int32" if name == "z" else kind) for name in made]
    operator = OperatorSpec(code, names, made, options, values)
    return Network(tuple(tensors), (operator,), tuple(each[0] for each in fed), tuple(made))


_X = ("x", (2, 3), "float32")
_IDS = ("ids", (2,), "int32")


def _floats(name: str, values: Any) -> TensorSpec:
    data = np.array(values, np.float32)
    return TensorSpec(name, data.shape, "float32", data)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (_network("TOPK_V2", [_X], integers("k", 4), outputs=2), "greatest [4] of each row"),
        (_network("TOPK_V2", [_X], integers("k", [1, 2]), outputs=2), "greatest [1, 2]"),
        (_network("TOPK_V2", [("x", (), "float32")], integers("k", 1), outputs=2), "float32[]"),
        (_network("RANGE", [_X], integers("a", 0), integers("b", 0), integers("c", 1)), "has 4"),
        (
            _network("DILATE", [_X], integers("by", [1, 0]), _floats("v", 0)),
            "dilates float32[2,3] by [1, 0]",
        ),
        (
            _network("DILATE", [_X], integers("by", [2**30, 2**30]), _floats("v", 0)),
            "at most 2147483647 are accepted",
        ),
        (
            _network("MATRIX_SET_DIAG", [_X, ("d", (3,), "float32")]),
            "has the diagonal float32[3] for float32[2,3]",
        ),
        (
            _network("SCATTER_ND", [_X], integers("n", [2, 3])),
            "has 2 inputs",
        ),
        (
            _network("UNSORTED_SEGMENT_SUM", [_X], integers("i", [0, 5]), integers("n", 2)),
            "has the segment 5; at most 1 is expected",
        ),
        (
            _network("UNSORTED_SEGMENT_SUM", [_X, _IDS], integers("n", [0])),
            "[0] as their number",
        ),
        (
            _network("UNSORTED_SEGMENT_SUM", [_X, _IDS], integers("n", 2**31 - 1)),
            "[2147483647] as their number",
        ),
        (
            _network("FAKE_QUANT", [_X], options="FakeQuantOptions", min=1.0, max=2.0, numBits=8),
            "has 8 bits from 1.0 to 2.0",
        ),
        (
            _network("FAKE_QUANT", [_X], options="FakeQuantOptions", min=-1.0, max=2.0, numBits=99),
            "has 99 bits",
        ),
        (
            _network("BUCKETIZE", [_X], kind="int32", options="BucketizeOptions"),
            "one or more ascending numbers",
        ),
        (
            _network("BUCKETIZE", [_X], kind="int32", options="BucketizeOptions",
                     boundaries=[1.0, 0.0]),
            "one or more ascending numbers",
        ),
    ],
)  # fmt: skip
def test_impossible_operators_are_refused(network: Network, said: str) -> None:
    assert said in refusal(network, ModelError)


@pytest.mark.parametrize(("code", "inputs"), [("MATRIX_DIAG", 1), ("MATRIX_SET_DIAG", 2)])
def test_diagonals_of_bool_are_refused(code: str, inputs: int) -> None:
    fed = [("x", (2, 2), "bool"), ("d", (2,), "bool")][:inputs]
    said = refusal(_network(code, fed, kind="bool"), UnsupportedError)
    assert "is of bool, which LiteRT mixes up" in said


@pytest.mark.parametrize("dtype", ["bool", "int8"])
def test_sequences_that_litert_does_not_reverse(dtype: str) -> None:
    scaled: dict[str, Any] = {"scale": (0.5,), "zero_point": (3,)} if dtype == "int8" else {}
    ends = [TensorSpec(name, (2, 3), dtype, **scaled) for name in "xy"]
    code, options = "REVERSE_SEQUENCE", {"seqDim": 1, "batchDim": 0}
    operator = OperatorSpec(code, ("x", "n"), ("y",), "ReverseSequenceOptions", options)
    network = Network((*ends, integers("n", [2, 3])), (operator,))
    said = refusal(network, UnsupportedError)
    assert f"reverses {dtype}[2,3], which LiteRT does not compute" in said
    unsigned = network.with_tensor("x", dtype="uint8").with_tensor("y", dtype="uint8")
    assert dtype == "bool" or unsigned.load().nodes


def test_computed_weights_have_no_bias_in_integers() -> None:
    tensors = (
        TensorSpec("x", (2, 3), "int8", None, (0.5,), (0,)),
        TensorSpec("w", (4, 3), "int8", None, (0.5,), (0,)),
        integers("b", [1, 2, 3, 4]),
        TensorSpec("y", (2, 4), "int8", None, (0.5,), (0,)),
    )
    operator = OperatorSpec("FULLY_CONNECTED", ("x", "w", "b"), ("y",), "FullyConnectedOptions")
    network = Network(tensors, (operator,), ("x", "w"))
    said = refusal(network, UnsupportedError)
    assert "supported: computed integer weights without a bias" in said


def test_places_that_may_be_equal_are_refused_for_stored_values() -> None:
    tensors = (
        integers("i", [[1], [1]]),
        TensorSpec("x", (2, 3), "int8", None, (0.5,), (0,)),
        integers("n", [4, 3]),
        TensorSpec("y", (4, 3), "int8", None, (0.5,), (0,)),
    )
    operator = OperatorSpec("SCATTER_ND", ("i", "x", "n"), ("y",))
    assert "places that may be equal" in refusal(Network(tensors, (operator,)), UnsupportedError)
    far = tuple(integers("i", [[1], [4]]) if each.name == "i" else each for each in tensors)
    said = refusal(Network(far, (operator,)), ModelError)
    assert "has indices of rows 1 to 4; 0 to 3 are expected" in said


@pytest.mark.parametrize("code", ["SCATTER_ND", "SPARSE_TO_DENSE"])
def test_enormous_shapes_are_refused(code: str) -> None:
    more = (_floats("v", 0),) if code == "SPARSE_TO_DENSE" else ()
    tensors = (
        TensorSpec("i", (1, 3), "int32"),
        integers("n", [2**20] * 3),
        TensorSpec("x", (1,), "float32"),
        *more,
        TensorSpec("y", (1,), "float32"),
    )
    names = ("i", "x", "n") if code == "SCATTER_ND" else ("i", "n", "x", "v")
    network = Network(tensors, (OperatorSpec(code, names, ("y",)),), ("i", "x"))
    assert "at most 2147483647 rows are accepted" in refusal(network, ModelError)


def test_enormous_depths_are_refused() -> None:
    constants = (integers("d", 2**31 - 1), _floats("on", 1), _floats("off", 0))
    network = _network("ONE_HOT", [_IDS], *constants, options="OneHotOptions", axis=-1)
    refusal(network, UnsupportedError)


def test_open_ranges_are_refused() -> None:
    network = _network(
        "RANGE", [("n", (), "int32")], integers("a", 0), integers("b", 1), kind="int32"
    )
    assert "its shape is open; supported: three constants" in refusal(network, UnsupportedError)


@pytest.mark.parametrize("ends", [(0, 0, 1), (0, 5, 0), (0, 5, -1), (0.0, 1.0, 0.0)])
def test_ranges_of_nothing_are_refused(ends: tuple[float, ...]) -> None:
    make = integers if isinstance(ends[0], int) else _floats
    constants = [make(name, value) for name, value in zip("abc", ends, strict=True)]
    network = _network("RANGE", [], *constants, kind=constants[0].dtype)
    tensors = (*network.tensors, TensorSpec("x", (1,), "float32"))
    found = refusal(network.replace(tensors=tensors, inputs=("x",)), ModelError)
    assert "no number is between" in found


def test_enormous_ranges_are_refused() -> None:
    constants = [_floats(name, value) for name, value in zip("abc", (0, 1e30, 1e-3), strict=True)]
    network = _network("RANGE", [], *constants)
    tensors = (*network.tensors, TensorSpec("x", (1,), "float32"))
    refusal(network.replace(tensors=tensors, inputs=("x",)), UnsupportedError)
