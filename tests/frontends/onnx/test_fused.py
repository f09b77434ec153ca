"""Operators of ONNX Runtime's optimizations and quantizers, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.compiler import passes
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry

pytestmark = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())

MICROSOFT = "com.microsoft"
RNG = np.random.default_rng(39)


def floats(*shape: int) -> Array:
    return RNG.normal(0, 0.5, shape).astype(np.float32)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int8) -> Array:
    return RNG.integers(low, high, shape).astype(dtype)


def one(
    op: str,
    inputs: tuple[Array | None, ...],
    attrs: dict[str, Any],
    n_data: int = 1,
    n_out: int = 1,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one operator, and the values of its inputs: the first ``n_data`` operands."""
    names = ["" if a is None else f"x{i}" for i, a in enumerate(inputs)]
    arrays = {name: a for name, a in zip(names, inputs, strict=True) if a is not None}
    given = {name: arrays[name] for name in names[:n_data]}
    outputs = ["y", "", "", "total"][: 4 if n_out == 2 else 1]
    node = helper.make_node(op, names, outputs, domain=MICROSOFT, **attrs)
    kinds = {n: helper.np_dtype_to_tensor_dtype(a.dtype) for n, a in given.items()}
    last = onnx.TensorProto.UINT8 if op.startswith("QLinear") else onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, kinds[n], a.shape) for n, a in given.items()],
        [helper.make_tensor_value_info(n, last, None) for n in outputs if n],
        [numpy_helper.from_array(a, n) for n, a in arrays.items() if n not in given],
    )
    imports = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9), given


def both(
    model: onnx.ModelProto, given: dict[str, Array], folder: Path
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The outputs by the graph and by ONNX Runtime."""
    import onnxruntime

    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    graph = frontends.load(path)
    values = evaluate(graph, given, registry())
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [each.name for each in session.get_outputs()]
    return {n: values[n] for n in names}, dict(zip(names, session.run(names, given), strict=True))


CONV = (floats(1, 3, 6, 6), floats(4, 3, 3, 3), floats(4))
GEMM = (floats(2, 8), floats(8, 5), floats(5))
SKIP = (floats(2, 3, 8), floats(2, 3, 8), floats(8))
PACKED = integers(0, 256, 6, 3, 8, dtype=np.uint8)  # 6 columns of 3 blocks of 16 numbers
BITS = {"K": 40, "N": 6, "bits": 4, "block_size": 16}


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "n_data"),
    [
        ("FusedConv", CONV, {"activation": "Relu", "pads": [1, 1, 1, 1]}, 1),
        ("FusedConv", CONV, {"activation": "LeakyRelu", "activation_params": [0.2]}, 1),
        ("FusedConv", CONV, {"activation": "Clip", "activation_params": [-0.5, 1.0]}, 1),
        ("FusedConv", CONV, {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}, 1),
        ("FusedConv", (*CONV, floats(1, 4, 4, 4)), {"activation": "Relu"}, 1),
        ("FusedGemm", GEMM, {"activation": "Relu", "alpha": 0.5, "beta": 2.0}, 1),
        ("FusedGemm", GEMM, {"activation": "LeakyRelu", "activation_alpha": 0.1}, 1),
        ("FusedMatMul", (floats(2, 3, 4), floats(2, 5, 4)), {"transB": 1, "alpha": 0.3}, 2),
        ("FusedMatMul", (floats(2, 4, 3), floats(4, 5)), {"transA": 1}, 1),
        (
            "FusedMatMul",
            (floats(3, 2, 4), floats(5, 2, 4)),
            {"transBatchA": 1, "transBatchB": 1, "transB": 1},
            2,
        ),
        ("Gelu", (floats(3, 8),), {}, 1),
        ("BiasGelu", (floats(3, 8), floats(8)), {}, 1),
        ("FastGelu", (floats(3, 8), floats(8)), {}, 1),
        ("FastGelu", (floats(3, 8),), {}, 1),
        ("QuickGelu", (floats(3, 8),), {"alpha": 1.702}, 1),
        ("SkipLayerNormalization", (*SKIP, floats(8), floats(8)), {"epsilon": 1e-3}, 2),
        ("SkipSimplifiedLayerNormalization", (*SKIP, floats(8)), {"epsilon": 1e-3}, 2),
        ("MatMulNBits", (floats(3, 40), PACKED, floats(18)), BITS, 1),
        (
            "MatMulNBits",
            (floats(3, 40), PACKED, floats(18), integers(0, 256, 12, dtype=np.uint8)),
            BITS,
            1,
        ),
        (
            "MatMulNBits",
            (floats(3, 40), PACKED.repeat(2, 2), floats(18), None, None, floats(6)),
            {**BITS, "bits": 8},
            1,
        ),
        (
            "MatMulIntegerToFloat",
            (
                integers(0, 256, 3, 8, dtype=np.uint8),
                integers(0, 128, 8, 5, dtype=np.uint8),
                np.float32(0.02),
                np.float32(0.01),
                np.uint8(120),
                np.uint8(64),
                floats(5),
            ),
            {},
            1,
        ),
        (
            "DynamicQuantizeMatMul",
            (floats(3, 8), integers(0, 128, 8, 5, dtype=np.uint8), np.float32(0.01), np.uint8(60)),
            {},
            1,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_operator(
    op: str, inputs: tuple[Array | None, ...], attrs: dict[str, Any], n_data: int, tmp_path: Path
) -> None:
    model, given = one(op, inputs, attrs, n_data)
    found, expected = both(model, given, tmp_path)
    np.testing.assert_allclose(found["y"], expected["y"], rtol=1e-4, atol=2e-5)


_IMAGE = integers(0, 256, 1, 6, 6, 4, dtype=np.uint8)
_SCALES = (np.float32(0.02), np.uint8(120))
_KERNEL = {"kernel_shape": [2, 2], "strides": [2, 2]}


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        (
            "QLinearConv",
            (
                *(_IMAGE, *_SCALES, integers(-60, 60, 5, 4, 3, 3), np.float32(0.01), np.int8(0)),
                *(np.float32(0.1), np.uint8(128), integers(-99, 99, 5, dtype=np.int32)),
            ),
            {"channels_last": 1, "pads": [1, 1, 1, 1]},
        ),
        (
            "QLinearAveragePool",
            (_IMAGE, *_SCALES, np.float32(0.03), np.uint8(100)),
            {"channels_last": 1, **_KERNEL},
        ),
        (
            "QLinearGlobalAveragePool",
            (_IMAGE, *_SCALES, np.float32(0.03), np.uint8(100)),
            {"channels_last": 1},
        ),
        ("NhwcMaxPool", (_IMAGE,), _KERNEL),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_channels_may_be_last(
    op: str, inputs: tuple[Array, ...], attrs: dict[str, Any], tmp_path: Path
) -> None:
    model, given = one(op, inputs, attrs)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.UINT8
    found, expected = both(model, given, tmp_path)
    assert found["y"].shape == expected["y"].shape
    assert np.abs(found["y"].astype(int) - expected["y"]).max() <= 1


def test_the_sum_before_a_normalization_is_an_output(tmp_path: Path) -> None:
    model, given = one("SkipLayerNormalization", (*SKIP, floats(8)), {}, n_data=2, n_out=2)
    found, expected = both(model, given, tmp_path)
    for name in ("y", "total"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("data", [np.zeros((2, 3), np.float32), floats(2, 3), floats(2, 3) + 5])
def test_data_is_quantized_by_its_range(data: Array, tmp_path: Path) -> None:
    ports = {"y": onnx.TensorProto.UINT8, "s": onnx.TensorProto.FLOAT, "z": onnx.TensorProto.UINT8}
    node = helper.make_node("DynamicQuantizeLinear", ["x"], list(ports))
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, data.shape)],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in ports.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    found, expected = both(made, {"x": data}, tmp_path)
    for name in ports:
        np.testing.assert_array_equal(found[name], expected[name])


def test_layouts_of_a_processor_are_refused(tmp_path: Path) -> None:
    model, _ = one("FusedConv", CONV, {})
    model.graph.node[0].domain = "com.microsoft.nchwc"
    model.opset_import.append(helper.make_opsetid("com.microsoft.nchwc", 1))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(MicrogenError, match="ORT_ENABLE_EXTENDED"):
        frontends.load(path)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "sentence"),
    [
        ("FusedConv", CONV, {"activation": "Odd"}, "has the activation 'Odd'; supported: Clip"),
        ("MatMulNBits", (floats(3, 40), PACKED, floats(7)), BITS, "and 7 scales for K 40, N 6"),
        ("MatMulNBits", (floats(3, 40), PACKED, floats(18)), {**BITS, "bits": 3}, "has 3 bits"),
        ("MatMulNBits", (floats(3, 40), floats(6, 3, 8), floats(18)), BITS, "supported: uint8"),
        ("MatMulNBits", (floats(3, 40), PACKED, floats(18), PACKED), BITS, "144 zero points"),
        (
            "MatMulNBits",
            (floats(3, 40), PACKED, floats(18)),
            {**BITS, "block_size": 0},
            "blocks of 0",
        ),
    ],
)
def test_what_is_wrong_is_said(
    op: str, inputs: tuple[Array, ...], attrs: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(one(op, inputs, attrs)[0].SerializeToString())
    with pytest.raises(MicrogenError, match=sentence):
        frontends.load(path)


@pytest.mark.parametrize(
    ("operands", "attrs", "op", "nbytes"),
    [
        ((), BITS, "nn.dense_weight_only", 240),
        ((PACKED[:, :, 0],), BITS, "nn.dense_weight_only", 240),
        ((), {**BITS, "K": 80, "bits": 2, "block_size": 32}, "nn.dense_weight_only", 480),
        ((floats(18) + 8,), BITS, "nn.dense", 960),
    ],
)
def test_weights_of_a_few_bits_remain_integers(
    operands: tuple[Array, ...], attrs: dict[str, Any], op: str, nbytes: int, tmp_path: Path
) -> None:
    zeros = (np.ascontiguousarray(each[:, :2]) if each.ndim > 1 else each for each in operands)
    scales = np.abs(floats(18)) + np.float32(0.01)
    model, given = one("MatMulNBits", (floats(3, attrs["K"]), PACKED, scales, *zeros), attrs)
    found, wanted = both(model, given, tmp_path)
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-5, atol=1e-5)
    graph = passes.run(frontends.load(tmp_path / "m.onnx"))
    read = {name for node in graph.nodes for name in node.inputs if node.op == op}
    assert sum(graph.constants[name].nbytes for name in read if name in graph.constants) == nbytes


def test_weights_of_many_blocks_remain_integers(tmp_path: Path) -> None:
    attrs = {"K": 16 * 130, "N": 3, "bits": 4, "block_size": 16}
    scales = np.abs(floats(3 * 130)) + np.float32(0.01)
    packed = integers(0, 256, 3, 130, 8, dtype=np.uint8)
    model, given = one("MatMulNBits", (floats(1, attrs["K"]), packed, scales), attrs)
    found, wanted = both(model, given, tmp_path)
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-4, atol=1e-4)
    graph = passes.run(frontends.load(tmp_path / "m.onnx"))
    assert sum(node.op == "nn.dense_weight_only" for node in graph.nodes) == 130
    assert max(array.nbytes for array in graph.constants.values()) < 100
