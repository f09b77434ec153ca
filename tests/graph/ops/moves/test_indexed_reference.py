from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.moves.indexed import (
    AXIS_POSITIONS,
    GATHER_ND,
    ND_POSITIONS,
    AxisPositionsAttrs,
    GatherNdAttrs,
    NdPositionsAttrs,
)
from microgen.graph.ops.moves.scatter import ScatterAttrs
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
from tests.kernels.moves.movement_cases import REDUCTIONS, axis_positions, scatter
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

# GATHER_ND and EMBEDDING_LOOKUP, with computed and constant indices.

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
        [data, ArrayType(values.shape, DType.INT32)],
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


def test_gather_nd_the_first_index_outside_is_named() -> None:
    case = _case(0)
    kind, array = ArrayType((2, 3), DType.INT32), np.zeros((2, 3), np.int32)
    indices = np.array([[1, 2], [1, 3]], np.int32)
    case = dataclasses.replace(
        case,
        types=[kind, ArrayType((2, 2), DType.INT32)],
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
def test_gather_nd_impossible_depths_are_refused(
    data: tuple[int, ...], indices: tuple[int, ...]
) -> None:
    kinds = [ArrayType(shape, DType.INT32) for shape in (data, indices)]
    with pytest.raises(ValueError, match="the indices' last axis must have 1 to"):
        GATHER_ND.infer(ATTRS, kinds)


def test_indices_are_int32() -> None:
    data, indices = ArrayType((2,), DType.INT8), ArrayType((1,), DType.INT64)
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
    assert [node.op for node in graph.nodes] == ["nn.embedding"]
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


# axis_positions in plain Python.


@pytest.mark.parametrize("seed", range(20))
def test_axis_positions_positions_are_those_of_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5))))
    axis = int(rng.integers(len(shape)))
    own = tuple(int(rng.integers(1, n + 1)) for n in shape)
    case = axis_positions(seed, shape, own, axis)
    data = np.arange(np.prod(shape)).reshape(shape)
    indices = case.inputs[0].array
    for place in np.ndindex(*own):
        there = (*place[:axis], int(indices[place]), *place[axis + 1 :])
        assert case.expected[place] == data[there]


def test_an_index_outside_is_named() -> None:
    indices, kind = np.array([[-3], [3]], np.int32), ArrayType((2, 1), DType.INT32)
    with pytest.raises(StatusError) as caught:
        AXIS_POSITIONS.reference(
            AxisPositionsAttrs((2, 3), 1), Operands((indices,), (kind,), (kind,))
        )
    assert (caught.value.element, caught.value.allowed) == ((1, 0), "from -3 to 2")


@pytest.mark.parametrize(("axis", "own"), [(2, (1, 1)), (1, (3, 1)), (0, (1,))])
def test_axis_positions_impossible_shapes_are_refused(axis: int, own: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the axis is|must fit into"):
        AXIS_POSITIONS.infer(AxisPositionsAttrs((2, 3), axis), [ArrayType(own, DType.INT32)])


# nd_positions in plain Python.


def _found(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:  # type: ignore[type-arg]
    kind = ArrayType(values.shape, DType(values.dtype.name))
    attrs = NdPositionsAttrs(shape)
    output = ArrayType(ND_POSITIONS.infer(attrs, [kind])[0], DType.INT32)
    assert ND_POSITIONS.check(attrs, [kind], [output]) is None
    return ND_POSITIONS.reference(attrs, Operands((values,), (kind,), (output,)))[0]


@pytest.mark.parametrize("seed", range(20))
def test_nd_positions_positions_are_those_of_the_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    sizes = np.array(shape)
    values = rng.integers(-sizes, sizes, (5, len(shape))).astype((np.int32, np.int64)[seed % 2])
    data = np.arange(sizes.prod()).reshape(shape)
    expected = [data[tuple(index)] for index in values]
    np.testing.assert_array_equal(_found(values, shape), expected)


@pytest.mark.parametrize("wrong", [-4, 3, 2**40])
def test_nd_positions_the_first_index_outside_is_named(wrong: int) -> None:
    with pytest.raises(StatusError) as caught:
        _found(np.array([[0, -2], [wrong, 1]]), (3, 2))
    error = caught.value
    assert (error.status, error.element, error.value) == (0x0803, (1, 0), wrong)
    assert error.allowed == "from -3 to 2"


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_nd_positions_impossible_depths_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="their last axis must have 2 numbers"):
        ND_POSITIONS.infer(NdPositionsAttrs((4, 4)), [ArrayType(shape, DType.INT32)])


def test_dtypes() -> None:
    wide, narrow = ArrayType((1,), DType.INT64), ArrayType((1,), DType.INT8)
    assert "must be int32 or int64" in str(
        ND_POSITIONS.check(NdPositionsAttrs((1,)), [narrow], [wide])
    )
    assert "must be plain int32" in str(ND_POSITIONS.check(NdPositionsAttrs((1,)), [wide], [wide]))


# scatter in plain Python.

COMBINE = {
    "none": lambda _old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_combined_one_by_one(seed: int) -> None:
    rng, reduction = np.random.default_rng(seed), REDUCTIONS[seed % len(REDUCTIONS)]
    shape = (int(rng.integers(1, 5)), *(int(n) for n in rng.integers(1, 4, int(rng.integers(3)))))
    case = scatter(seed, DType.FLOAT32, shape, 12, reduction, bool(seed % 2))
    data, positions, updates = (tensor.array for tensor in case.inputs)
    expected = np.broadcast_to(data, shape).copy()
    for position, row in zip(positions, updates, strict=True):
        expected[position] = COMBINE[reduction](expected[position], row)
    np.testing.assert_array_equal(case.expected, expected)


def test_integers_wrap() -> None:
    case = scatter(0, DType.INT32, (1,), 2, "add", False)
    case.inputs[0].array[:], case.inputs[2].array[:] = 2**31 - 1, 1
    assert case.expected.tolist() == [-(2**31) + 1]


def test_a_position_outside_is_named() -> None:
    case = scatter(0, DType.INT32, (3,), 2, "none", False)
    kinds, arrays = case.input_types, [tensor.array for tensor in case.inputs]
    arrays[1] = np.array([2, 3], np.int32)
    with pytest.raises(StatusError) as caught:
        registry()["scatter"].reference(
            case.attrs, Operands(tuple(arrays), kinds, (case.output_type,))
        )
    assert (caught.value.element, caught.value.allowed) == ((1,), "from 0 to 2")


@pytest.mark.parametrize(
    ("shapes", "reduction", "sentence"),
    [
        (((3, 2), (1,)), "none", "there are 2 inputs"),
        (((3, 2), (1,), (1, 2)), "sub", "the reduction is 'sub'"),
        (((3, 1), (1,), (1, 2)), "none", "or one element is expected"),
        (((3, 2), (1,), (2, 2)), "none", "a position for each row"),
        (((3, 2), (1, 1), (1, 1, 2)), "none", "a position for each row"),
    ],
)
def test_scatter_impossible_shapes_are_refused(
    shapes: tuple[tuple[int, ...], ...], reduction: str, sentence: str
) -> None:
    kinds = [ArrayType(shape, DType.INT32) for shape in shapes]
    with pytest.raises(ValueError, match=sentence):
        registry()["scatter"].infer(ScatterAttrs((3, 2), reduction), kinds)


def test_positions_are_int32() -> None:
    kind, wide = ArrayType((3,), DType.INT32), ArrayType((3,), DType.INT64)
    assert "must be int32" in str(
        registry()["scatter"].check(ScatterAttrs((3,)), [kind, wide, kind], [kind])
    )
