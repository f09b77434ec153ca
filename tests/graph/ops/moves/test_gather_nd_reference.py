"""GATHER_ND and EMBEDDING_LOOKUP, with computed and constant indices."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert
from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.base import StatusError
from microgen.graph.ops.moves.indexed import GATHER_ND, GatherNdAttrs
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_models import (
    Model,
    assert_equal,
    by_reference,
    in_every_dtype,
)
from tests.kernels.conformance.litert_oracle import (
    Case,
    by_litert,
    int32_constant,
    interpreter_of,
    needs_litert,
)
from tests.kernels.conformance.litert_oracle import assert_equal as assert_case_equal
from tests.kernels.conformance.litert_oracle import by_reference as by_case_reference
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

ATTRS = GatherNdAttrs()


def _case(seed: int, over: int = 0) -> Case:
    rng, dtype = np.random.default_rng(seed), dtype_of(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    depth = int(rng.integers(1, len(shape) + 1))
    counts = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    values = rng.integers(-over, np.array(shape[:depth]), (*counts, depth)).astype(np.int32)
    data = random_type(rng, shape, dtype)
    return Case(
        GATHER_ND.name,
        ATTRS,
        [data, TensorType(values.shape, DType.INT32)],
        [random_array(rng, shape, dtype), values],
        data.quant,
        "GATHER_ND",
        "GatherNdOptions",
        output_dtype=dtype,
        version=3,
    )


@needs_litert
def test_computed_indices_equal_litert() -> None:
    for seed in range(90):
        assert_case_equal(_case(seed))


@needs_litert
def test_negative_indices_fail_as_in_litert() -> None:
    failed = 0
    for case in (_case(seed, over=1) for seed in range(30)):
        if case.arrays[1].min() >= 0:
            continue
        failed += 1
        with pytest.raises(StatusError) as caught:
            by_case_reference(case)
        assert caught.value.status == 0x0803
        with pytest.raises(RuntimeError, match="GATHER_ND"):
            by_litert(case)
    assert failed > 10


def test_the_first_index_outside_is_named() -> None:
    case = _case(0)
    kind, array = TensorType((2, 3), DType.INT32), np.zeros((2, 3), np.int32)
    indices = np.array([[1, 2], [1, 3]], np.int32)
    case = dataclasses.replace(
        case,
        types=[kind, TensorType((2, 2), DType.INT32)],
        arrays=[array, indices],
        output_quant=None,
        output_dtype=DType.INT32,
    )
    with pytest.raises(StatusError) as caught:
        by_case_reference(case)
    error = caught.value
    assert (error.element, error.value, error.allowed) == ((1, 1), 3, "from 0 to 2")


def constant_model(seed: int) -> Model:
    case = _case(seed)
    shape, values = case.types[0].shape, case.arrays[1]
    stated = values.astype(np.int64) if seed % 2 else values
    indices = TensorSpec("indices", stated.shape, stated.dtype.name, stated)
    final = (*values.shape[:-1], *shape[values.shape[-1] :])
    return Model("GATHER_ND", [shape], [final], [indices], "GatherNdOptions", version=3, seed=seed)


@needs_litert
def test_constant_indices_equal_litert() -> None:
    for model in in_every_dtype(constant_model, 12):
        assert_equal(model)
        assert GATHER_ND.name not in [node.op for node in model.load().nodes]


@pytest.mark.parametrize("wrong", [[[0, 3]], [[-1, 0]], [[2, 0]]])
def test_constant_indices_outside_are_refused(wrong: list[list[int]]) -> None:
    indices = [int32_constant("indices", np.array(wrong))]
    model = Model("GATHER_ND", [(2, 3)], [(1,)], indices, "GatherNdOptions")
    with pytest.raises(ModelError, match=r"\[0, 0\] to \[1, 2\] are expected"):
        model.load()


@pytest.mark.parametrize(("data", "indices"), [((2, 2), (2, 3)), ((), (3, 1)), ((2, 2), ())])
def test_impossible_depths_are_refused(data: tuple[int, ...], indices: tuple[int, ...]) -> None:
    kinds = [TensorType(shape, DType.INT32) for shape in (data, indices)]
    with pytest.raises(ValueError, match="the indices' last axis must have 1 to"):
        GATHER_ND.infer(ATTRS, kinds)


def test_indices_are_int32() -> None:
    data, indices = TensorType((2,), DType.INT8), TensorType((1,), DType.INT64)
    assert "must be int32" in str(GATHER_ND.check(ATTRS, [data, indices], [data]))


def embedding_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(2, 5))))
    ids = int32_constant("ids", rng.integers(0, shape[0], int(rng.integers(1, 6))))
    final = (ids.shape[0], *shape[1:])
    return Model("EMBEDDING_LOOKUP", [shape], [final], [ids], constants_first=True, seed=seed)


@needs_litert
def test_embeddings_equal_litert() -> None:
    for model in in_every_dtype(embedding_model, 10):
        assert_equal(model)


def hybrid(zero_point: int) -> tuple[bytes, Array]:
    """A model that looks up float32 rows in an int8 table, and the table."""
    table = np.random.default_rng(0).integers(-128, 128, (5, 7)).astype(np.int8)
    tensors = [
        TensorSpec("ids", (4,), "int32"),
        TensorSpec("table", table.shape, "int8", table, (0.3,), (zero_point,)),
        TensorSpec("y", (4, 7), "float32"),
    ]
    operator = OperatorSpec("EMBEDDING_LOOKUP", ["ids", "table"], ["y"], version=2)
    return build_model(tensors, [operator], ["ids"], ["y"]), table


@needs_litert
def test_rows_of_int8_become_float32_as_in_litert() -> None:
    model, table = hybrid(0)
    ids = np.array([4, 0, 4, 2], np.int32)
    graph = convert.load(model, file="m.tflite", numerics=numerics.profile("litert"))
    assert [node.op for node in graph.nodes] == ["take", "qnn.dequantize"]
    ours = evaluate(graph, {"ids": ids}, registry())["y"]
    interpreter = interpreter_of(model)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], ids)
    interpreter.invoke()
    theirs = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours, table[ids] * np.float32(0.3))


def test_rows_of_int8_with_a_zero_point_are_refused_as_in_litert() -> None:
    with pytest.raises(UnsupportedError, match="has rows with the zero point 3"):
        convert.load(hybrid(3)[0], file="m.tflite", numerics=numerics.profile("litert"))


def test_ids_outside_are_refused() -> None:
    ids = [int32_constant("ids", np.array([3]))]
    model = Model("EMBEDDING_LOOKUP", [(3, 2)], [(1, 2)], ids, constants_first=True)
    with pytest.raises((ModelError, StatusError), match="0 to 2"):
        by_reference(model)


def test_ids_are_int32() -> None:
    ids = [TensorSpec("ids", (1,), "int64", np.array([0]))]
    model = Model("EMBEDDING_LOOKUP", [(3, 2)], [(1, 2)], ids, constants_first=True)
    with pytest.raises(UnsupportedError, match="supported: int32"):
        model.load()
