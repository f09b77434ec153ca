"""Attention and embeddings of files that ONNX Runtime has optimized, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry

pytestmark = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())

MICROSOFT = "com.microsoft"
RNG = np.random.default_rng(7)
Operands = dict[str, Array | None]


def floats(*shape: int) -> Array:
    return RNG.normal(0, 0.6, shape).astype(np.float32)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> Array:
    return RNG.integers(low, high, shape).astype(dtype)


# Names that begin with x are inputs, all others constants.
ATTENTION: Operands = {"x": floats(2, 5, 8), "w": floats(8, 24), "b": floats(24)}
HEADS: dict[str, Any] = {"num_heads": 2}
MULTI: Operands = {"xq": floats(2, 3, 8), "xk": floats(2, 5, 8), "xv": floats(2, 5, 4)}
QUANTIZED: Operands = {
    "x": integers(0, 255, 1, 5, 8, dtype=np.uint8),
    # Processors without VNNI add two products in int16, which larger weights would saturate.
    "w": integers(-64, 63, 8, 24, dtype=np.int8),
    "b": floats(24),
    "s": np.float32(0.01),
    "t": np.float32(0.02),
}
EMBED: Operands = {
    "x": integers(0, 9, 2, 4),
    "xs": integers(0, 2, 2, 4),
    "words": floats(9, 8),
    "places": floats(6, 8),
    "segments": floats(2, 8),
    "gamma": floats(8),
    "beta": floats(8),
}
WHERE: Operands = {
    "xc": integers(0, 2, 3, 4).astype(np.bool_),
    "xa": integers(0, 255, 3, 4, dtype=np.uint8),
    "as": np.float32(0.1),
    "az": np.uint8(100),
    "xb": integers(0, 255, 4, dtype=np.uint8),
    "bs": np.float32(0.07),
    "bz": np.uint8(90),
    "zs": np.float32(0.09),
    "zz": np.uint8(120),
}
LENGTHS = np.array([3, 5], np.int32)
CASES: list[tuple[str, str, Operands, dict[str, Any]]] = [
    ("plain", "Attention", ATTENTION, HEADS),
    ("lengths", "Attention", {**ATTENTION, "xm": LENGTHS}, HEADS),
    ("mask", "Attention", {**ATTENTION, "xm": integers(0, 2, 2, 5)}, HEADS),
    ("masks", "Attention", {**ATTENTION, "xm": integers(0, 2, 2, 5, 5)}, HEADS),
    ("causal", "Attention", ATTENTION, {**HEADS, "unidirectional": 1, "scale": 0.3}),
    (
        "widths",
        "Attention",
        {"x": floats(1, 4, 6), "w": floats(6, 20), "b": floats(20)},
        {"num_heads": 4, "qkv_hidden_sizes": [8, 8, 4]},
    ),
    ("bias", "Attention", {**ATTENTION, "": None, "-": None, "xr": floats(2, 2, 5, 5)}, HEADS),
    ("multi", "MultiHeadAttention", MULTI, HEADS),
    (
        "multi bias",
        "MultiHeadAttention",
        {**MULTI, "b": floats(20), "xm": LENGTHS, "xr": floats(1, 2, 3, 5)},
        HEADS,
    ),
    ("quantized", "QAttention", QUANTIZED, HEADS),
    (
        "zero points",
        "QAttention",
        {**QUANTIZED, "": None, "xz": np.uint8(120), "wz": np.int8(0)},
        HEADS,
    ),
    ("embedding", "EmbedLayerNormalization", EMBED, {"epsilon": 1e-5}),
    (
        "two tables",
        "EmbedLayerNormalization",
        {**EMBED, "xs": None, "segments": None},
        {},
    ),
    ("where", "QLinearWhere", WHERE, {}),
]


def model_of(op: str, operands: Operands, attrs: dict[str, Any]) -> bytes:
    names = ["" if value is None else name for name, value in operands.items()]
    arrays = {name: value for name, value in operands.items() if value is not None}
    given = {name: value for name, value in arrays.items() if name.startswith("x")}
    outputs = ["y", ""] if op == "EmbedLayerNormalization" else ["y"]
    node = helper.make_node(op, names, outputs, domain=MICROSOFT, **attrs)
    kinds = {n: helper.np_dtype_to_tensor_dtype(a.dtype) for n, a in given.items()}
    result = TensorProto.UINT8 if op == "QLinearWhere" else TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, kinds[n], a.shape) for n, a in given.items()],
        [helper.make_tensor_value_info("y", result, None)],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items() if n not in given],
    )
    imports = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=9)
    return bytes(made.SerializeToString())


@pytest.mark.parametrize(("_name", "op", "operands", "attrs"), CASES, ids=[c[0] for c in CASES])
def test_operators_compute_what_the_runtime_computes(
    _name: str, op: str, operands: Operands, attrs: dict[str, Any], tmp_path: Path
) -> None:
    import onnxruntime

    data = model_of(op, operands, attrs)
    (tmp_path / "m.onnx").write_bytes(data)
    graph = frontends.load(tmp_path / "m.onnx")
    given = {n: np.asarray(a) for n, a in operands.items() if n.startswith("x") and a is not None}
    (wanted,) = onnxruntime.InferenceSession(data).run(["y"], given)
    found = evaluate(graph, {n: given[n] for n in graph.inputs}, registry())[graph.outputs[0]]
    assert found.shape == wanted.shape
    if wanted.dtype == np.uint8:
        assert np.array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "operands", "attrs", "sentence"),
    [
        ("Attention", {**ATTENTION, "xm": integers(0, 2, 10)}, HEADS, "has the mask int32[10]"),
        ("Attention", ATTENTION, {"num_heads": 3}, "has 3 heads for rows of 8"),
        ("Attention", ATTENTION, {"num_heads": 0}, "has 0 heads; 1 or more are expected"),
        ("Attention", ATTENTION, {**HEADS, "do_rotary": 1}, "rotates its rows; supported: rows"),
        (
            "Attention",
            ATTENTION,
            {**HEADS, "qkv_hidden_sizes": [8, 8]},
            "has the widths [8, 8] for weights of 24",
        ),
        (
            "Attention",
            {**ATTENTION, "": None, "xp": floats(2, 2, 2, 3, 4)},
            HEADS,
            "has keys of earlier calls; supported: attention over the rows of one call",
        ),
        ("MultiHeadAttention", {**MULTI, "b": floats(7)}, HEADS, "has a bias of [7] for 20"),
        ("MultiHeadAttention", {**MULTI, "xk": floats(2, 2, 5, 4)}, HEADS, "[batch, rows, width]"),
    ],
)
def test_other_forms_are_refused(
    op: str, operands: Operands, attrs: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(model_of(op, operands, attrs))
    with pytest.raises(MicrogenError) as caught:
        frontends.load(tmp_path / "m.onnx")
    assert sentence in str(caught.value)
