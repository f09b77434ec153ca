"""tree_ensemble against trees that are walked node by node."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from onnx import helper

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.trees.tree_ensemble import OP, TreeEnsembleAttrs, float_keys
from tests.frontends.onnx.ml import forests
from tests.kernels.conformance.conformance import Case
from tests.kernels.trees.tree_cases import case, node_of, random_case, random_trees

COMPARE: dict[str, Callable[[Array, Array], bool]] = {
    "LEQ": operator.le,
    "LT": operator.lt,
    "GTE": operator.ge,
    "GT": operator.gt,
    "EQ": operator.eq,
    "NEQ": operator.ne,
}


def operands_of(case: Case) -> Operands:
    arrays = tuple(each.array for each in case.inputs)
    return Operands(arrays, case.input_types, (case.output_type,))


def _leaf(tree: forests.RandomTree, row: Array) -> int:
    place = 0
    while tree.nodes[place][0]:
        mode, feature, limit, true, false, missing = tree.nodes[place]
        value = row[feature]
        is_true = COMPARE[mode](value, np.float32(limit)) or (missing and np.isnan(value))
        place = int(true if is_true else false)
    return place


@pytest.mark.parametrize("seed", range(30))
def test_equals_a_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees, data = random_trees(rng, 4), forests.data(rng, 20, 4)
    proto = node_of(rng, trees, "row", "SUM")
    attributes = {each.name: helper.get_attribute_value(each) for each in proto.attribute}
    names = ("treeids", "nodeids", "ids", "weights")
    columns = zip(*(attributes[f"target_{name}"] for name in names), strict=True)
    weights = {(t, leaf, target): np.float32(value) for t, leaf, target, value in columns}
    expected = np.zeros((20, 3), np.float32)
    for total, row in zip(expected, data, strict=True):
        for t, tree in enumerate(trees):
            leaf = _leaf(tree, row)
            total += [weights[t, leaf, target] for target in range(3)]
    np.testing.assert_array_equal(case(proto, data).expected, expected)


def test_keys_have_the_order_of_floats() -> None:
    numbers = np.array([-np.inf, -1e38, -1, -1e-45, -0.0, 0.0, 1e-45, 1, 1e38, np.inf], np.float32)
    nan = np.array([0x7F800001, 0x7FC00000, 0xFFC00000, 0xFFFFFFFF], np.uint32).view(np.float32)
    for above in (True, False):
        pair = (float_keys(each, nan_above=above) for each in (numbers, nan))
        keys, others = (each.astype(np.int64) for each in pair)
        assert (np.diff(keys) > 0).all()
        assert (others > keys.max()).all() if above else (others < keys.min()).all()


@pytest.mark.parametrize("seed", range(30))
def test_results_of_inexact_data_are_within_the_bound(seed: int) -> None:
    made = random_case(seed)
    rng = np.random.default_rng(seed)
    data = made.inputs[0].array
    errors = np.where(np.isfinite(data), rng.choice([0, 0.1, 1], data.shape), 0)
    nothing = [np.zeros(each.array.shape) for each in made.inputs[1:]]
    given = Inexact(operands_of(made), (errors, *nothing), (made.expected,), (None,))
    (bound,) = OP.bound.of(made.attrs, given)
    for _ in range(5):
        with np.errstate(invalid="ignore"):  # signalling NaN
            moved = (data + errors * rng.uniform(-1, 1, data.shape)).astype(np.float32)
        moved = np.where(np.isnan(data), data, moved)
        operands = replace(operands_of(made), inputs=(moved, *operands_of(made).inputs[1:]))
        (found,) = OP.reference(made.attrs, operands)
        with np.errstate(invalid="ignore"):
            apart = np.abs(found.astype(np.float64) - made.expected)
        assert (np.nan_to_num(apart) <= bound).all()


def test_the_bound_of_exact_data_is_zero() -> None:
    made = random_case(3)
    nothing = tuple(np.zeros(each.array.shape) for each in made.inputs)
    given = Inexact(operands_of(made), nothing, (made.expected,), (None,))
    (bound,) = OP.bound.of(made.attrs, given)
    assert not bound.any()


GOOD = ((2, 3), (2,), (5,), (5,), (5,), (1, 2))
PLAIN = TreeEnsembleAttrs(1, 1)


@pytest.mark.parametrize(
    ("shapes", "attrs", "sentence"),
    [
        (GOOD[:5], PLAIN, "has 5 inputs"),
        (((3,), *GOOD[1:]), PLAIN, "the data is"),
        ((*GOOD[:3], (4,), *GOOD[4:]), PLAIN, "tables of nodes"),
        ((*GOOD[:5], (2,)), PLAIN, "the trees"),
        (GOOD, TreeEnsembleAttrs(1, 3), "does not fit 2 features"),
        (GOOD, TreeEnsembleAttrs(2, 1), "the leaves of 2 targets are no table"),
        ((*GOOD, (2, 2)), TreeEnsembleAttrs(3, 1), "the leaves of 3 targets"),
        ((*GOOD, (1,), (4,)), TreeEnsembleAttrs(3, 1), "the leaves of 3 targets"),
    ],
)
def test_impossible_tables_are_refused(
    shapes: tuple[tuple[int, ...], ...], attrs: TreeEnsembleAttrs, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [ArrayType(shape, DType.FLOAT32) for shape in shapes])


def test_dtypes() -> None:
    made = random_case(2)
    types = [each.type for each in made.inputs]
    output = ArrayType((1, 3), DType.FLOAT32)
    assert OP.check(made.attrs, types, [output]) is None
    for position in range(len(types)):
        wrong = list(types)
        wrong[position] = ArrayType(types[position].shape, DType.BOOL)
        assert OP.check(made.attrs, wrong, [output])
    assert OP.check(made.attrs, types, [ArrayType((1, 3), DType.INT32)])
