"""What the frontend computes at import, and operators that change a dtype."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.tflite.litert import LiteRT
from tests.frontends.tweaked import Network, activation, integers, refusal, simple
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.running.comparing.standins import Standin
from tests.support.tflite_builder import OperatorSpec, TensorSpec


def plain(name: str, dtype: str, *shape: int, data: object = None) -> TensorSpec:
    return TensorSpec(name, shape, dtype, None if data is None else np.array(data))


def one(code: str, data: TensorSpec, output: TensorSpec, *constants: TensorSpec) -> Network:
    """One operator from ``data`` and constants to ``output``."""
    names = (data.name, *(constant.name for constant in constants))
    operator = OperatorSpec(code, names, (output.name,))
    return Network((data, *constants, output), (operator,), (data.name,), (output.name,))


@pytest.mark.parametrize(
    ("code", "data", "output", "op"),
    [
        ("CAST", plain("x", "int32", 3), plain("y", "float32", 3), "cast"),
        ("CAST", activation("x", 3), plain("y", "bool", 3), "cast"),
        ("CAST", plain("x", "float32", 3), plain("y", "int8", 3), "cast"),
        ("CAST", plain("x", "uint16", 3), plain("y", "float32", 3), "cast"),
        ("CAST", plain("x", "float32", 3), plain("y", "uint32", 3), "cast"),
        ("QUANTIZE", plain("x", "float32", 3), activation("y", 3), "qnn.quantize"),
        ("QUANTIZE", activation("x", 3), activation("y", 3, zero_point=5), "qnn.requantize"),
        ("DEQUANTIZE", activation("x", 3), plain("y", "float32", 3), "qnn.dequantize"),
    ],
)
def test_the_dtypes_say_which_op(code: str, data: TensorSpec, output: TensorSpec, op: str) -> None:
    (node,) = one(code, data, output).load().nodes
    assert (node.op, node.inputs, node.outputs) == (op, ("x",), ("y",))


def scaled32(name: str, *shape: int) -> TensorSpec:
    """int32 numbers with a scale."""
    return TensorSpec(name, shape, "int32", scale=(0.5,), zero_point=(0,))


@pytest.mark.parametrize(
    ("code", "data", "output", "role"),
    [
        ("QUANTIZE", plain("x", "float32", 3), scaled32("y", 3), "output"),
        ("DEQUANTIZE", scaled32("x", 3), plain("y", "float32", 3), "input"),
    ],
)
def test_int32_is_for_relay(code: str, data: TensorSpec, output: TensorSpec, role: str) -> None:
    said = refusal(one(code, data, output), ModelError)
    assert f"the {role} is int32[3]" in said


def test_the_shape_of_a_tensor_is_a_constant_and_what_follows_from_it() -> None:
    """A reshape as converters write it: to [shape[0], 6]."""
    network = Network(
        (
            activation("x", 2, 3, 2),
            plain("shape", "int32", 3),
            integers("begin", [0]),
            integers("end", [1]),
            integers("strides", [1]),
            plain("batches", "int32"),
            integers("rest", 6),
            plain("wanted", "int32", 2),
            activation("y", 2, 6),
        ),
        (
            OperatorSpec("SHAPE", ("x",), ("shape",), "ShapeOptions", {"outType": 2}),
            OperatorSpec(
                "STRIDED_SLICE",
                ("shape", "begin", "end", "strides"),
                ("batches",),
                "StridedSliceOptions",
                {"shrinkAxisMask": 1},
            ),
            OperatorSpec(
                "PACK", ("batches", "rest"), ("wanted",), "PackOptions", {"valuesCount": 2}
            ),
            OperatorSpec("RESHAPE", ("x", "wanted"), ("y",)),
        ),
    )
    graph = network.load()
    assert [(node.op, node.inputs) for node in graph.nodes] == [("reshape", ("x",))]
    assert list(graph.constants) == []


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_shape_may_be_an_output(dtype: str) -> None:
    graph = one("SHAPE", activation("x", 2, 3), plain("y", dtype, 2)).load()
    assert graph.nodes == ()
    assert graph.constants["y"].tolist() == [2, 3]
    assert graph.constants["y"].dtype == dtype


def test_a_filled_tensor_is_a_constant() -> None:
    value = plain("v", "float32", data=0.5)
    network = Network(
        (
            integers("dims", [2, 2]),
            value,
            plain("half", "float32", 2, 2),
            plain("x", "float32", 2),
            plain("y", "float32", 2, 2),
        ),
        (
            OperatorSpec("FILL", ("dims", "v"), ("half",)),
            OperatorSpec("ADD", ("x", "half"), ("y",), "AddOptions"),
        ),
    )
    graph = network.load()
    assert [node.op for node in graph.nodes] == ["add"]
    assert graph.constants["half"].tolist() == [[0.5, 0.5], [0.5, 0.5]]


def halves(*values: float) -> TensorSpec:
    return plain("h", "float16", len(values), data=values)


def with_halves(constant: TensorSpec) -> Network:
    """X + float32 of a float16 constant."""
    return Network(
        (plain("x", "float32", 2), constant, plain("w", "float32", 2), plain("y", "float32", 2)),
        (
            OperatorSpec("DEQUANTIZE", ("h",), ("w",)),
            OperatorSpec("ADD", ("x", "w"), ("y",), "AddOptions"),
        ),
    )


def test_float16_constants_become_float32_constants() -> None:
    graph = with_halves(halves(0.1, -65504)).load()
    assert [node.op for node in graph.nodes] == ["add"]
    assert graph.constants["w"].dtype == np.float32
    assert graph.constants["w"].tolist() == [np.float32(np.float16(0.1)), -65504]


def test_int8_constants_become_float32_constants() -> None:
    network = with_halves(TensorSpec("h", (2,), "int8", np.array([1, -2]), (0.5,), (1,)))
    assert network.load().constants["w"].tolist() == [0, -1.5]


@pytest.mark.parametrize(
    ("network", "kind", "said"),
    [
        (with_halves(halves(0.5, np.nan)), ModelError, 'the constant "h" holds NaN'),
        (
            one("DEQUANTIZE", plain("x", "float16", 2), plain("y", "float32", 2)),
            UnsupportedError,
            'has dtypes that are not supported: float16 in "y" (DEQUANTIZE)',
        ),
        (
            one("DEQUANTIZE", plain("x", "uint8", 2), plain("y", "float32", 2)),
            ModelError,
            "the input uint8[2] must have one scale and one zero point",
        ),
        (
            one("DEQUANTIZE", plain("x", "int32", 2), plain("y", "float32", 2)),
            ModelError,
            "the input is int32[2]; it must be int8 or int16",
        ),
        (
            one("SHAPE", activation("x", 2, 3), plain("y", "float32", 2)),
            ModelError,
            "int32 or int64 is expected",
        ),
        (
            Network(
                (integers("dims", [2]), activation("x", 1), activation("y", 2)),
                (OperatorSpec("FILL", ("dims", "x"), ("y",)),),
            ),
            ModelError,
            '"x" of shape [1]; 0 dimensions are expected',
        ),
        (
            simple("GATHER", (3,), (2,), options_type="GatherOptions")
            .replace(tensors=(activation("x", 3), plain("i", "bool", 2), activation("y", 2)))
            .with_operator(inputs=("x", "i"))
            .replace(inputs=("x", "i")),
            UnsupportedError,
            "has computed indices bool[2]; supported: computed indices of int32 or int64",
        ),
    ],
)
def test_refusals(network: Network, kind: type[MicrogenError], said: str) -> None:
    assert said in refusal(network, kind)


def test_pads_of_float32() -> None:
    """Zero for PAD, a value of its own for PADV2."""
    data, output = plain("x", "float32", 1), plain("y", "float32", 2)
    pads, value = integers("p", [[1, 0]]), plain("v", "float32", data=-0.1)
    for network, expected in (
        (one("PAD", data, output, pads), 0.0),
        (one("PADV2", data, output, pads, value), float(np.float32(-0.1))),
    ):
        (node,) = network.load().nodes
        assert vars_of(node.attrs) == {"pads": ((1, 0),), "value": expected}


def vars_of(attrs: object) -> dict[str, object]:
    return {name: getattr(attrs, name) for name in ("pads", "value")}


@needs_litert
@pytest.mark.parametrize("zero_point", [-5, 0, 5])
def test_litert_is_free_where_c_leaves_a_conversion_undefined(
    zero_point: int, tmp_path: Path
) -> None:
    floats = plain("x", "float32", 6)
    model = one("QUANTIZE", floats, activation("y", 6, zero_point=zero_point))
    path = tmp_path / "m.tflite"
    path.write_bytes(model.to_bytes())
    values = np.array([np.nan, np.inf, -np.inf, 1e30, 1e6, 0.4], np.float32)
    network = Standin(path, ((values,),))
    verdict = network.module().by_oracle()
    assert verdict.ok, str(verdict)
    assert "C leaves NaN and numbers beyond int32 undefined" in str(verdict)
    (own,) = LiteRT().layers({"": path.read_bytes()}, [[values]])
    assert own["y"][4] == 127  # a finite quotient is defined, and compared
