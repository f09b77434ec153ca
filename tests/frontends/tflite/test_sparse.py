"""Constants that the file keeps sparse, or as float16, or two to a byte."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Array
from microgen.graph.ops import budget, registry
from tests.frontends.tweaked import Network, conv2d, dense, depthwise, refusal
from tests.support.tflite_builder import LevelSpec, OperatorSpec, SparsitySpec, TensorSpec, packed

ROWS = SparsitySpec((0, 1), (LevelSpec(2), LevelSpec(0, (0, 1, 3), (2, 0, 3))))
# The matrix [[0, 0, 1, 0], [2, 0, 0, 3]], compressed in rows.


def densified(sparse: TensorSpec) -> Network:
    """X + the dense form of a sparse constant."""
    half = sparse.dtype == "float16"
    shape = sparse.shape
    tensors = [
        dataclasses.replace(sparse, name="s"),
        TensorSpec("x", shape, "float32"),
        TensorSpec("d", shape, sparse.dtype, None, sparse.scale, sparse.zero_point),
        TensorSpec("w", shape, "float32"),
        TensorSpec("y", shape, "float32"),
    ]
    again = half or sparse.dtype == "int8"
    operators = [OperatorSpec("DENSIFY", ("s",), ("d",), "DensifyOptions")]
    operators += [OperatorSpec("DEQUANTIZE", ("d",), ("w",))] if again else []
    addend = "w" if again else "d"
    operators.append(OperatorSpec("ADD", ("x", addend), ("y",), "AddOptions"))
    return Network(tuple(tensors), tuple(operators))


def by_litert(network: Network, x: Array) -> Array:
    """The output of LiteRT's reference kernels."""
    (layers,) = LiteRT().layers({"m.tflite": network.to_bytes()}, [[x]])
    return layers["y"]


def constant_of(network: Network) -> Array:
    """The only constant of the network's graph."""
    (value,) = network.load().constants.values()
    return value


def sparsified(
    dense: Array, order: tuple[int, ...], blocks: dict[int, int], dtype: str
) -> TensorSpec:
    """A constant in that traversal order with those sizes of blocks (by axis), whose last level of
    whole axes is compressed."""
    rank = dense.ndim
    split = [(dense.shape[i] // blocks.get(i, 1), blocks.get(i, 1)) for i in range(rank)]
    cut = dense.reshape([size for pair in split for size in pair])
    outer, inner = [2 * i for i in order], [2 * i + 1 for i in sorted(blocks)]
    rest = [2 * i + 1 for i in range(rank) if i not in blocks]
    moved = cut.transpose(*outer, *inner, *rest).reshape(
        -1, split[order[-1]][0], int(np.prod([blocks[i] for i in sorted(blocks)], dtype=int))
    )
    used = (moved != 0).any(axis=-1)
    segments = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    levels = [LevelSpec(split[i][0]) for i in order[:-1]]
    levels.append(LevelSpec(0, segments.tolist(), np.nonzero(used)[1].tolist(), dtype))
    levels += [LevelSpec(blocks[i]) for i in sorted(blocks)]
    places = (*order, *range(rank, rank + len(blocks)))
    sparsity = SparsitySpec(places, levels, sorted(blocks))
    return TensorSpec(
        "s", dense.shape, dense.dtype.name, moved[used].reshape(-1), sparsity=sparsity
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("indices", ["uint8", "uint16", "int32"])
@pytest.mark.parametrize(
    ("shape", "order", "blocks"),
    [
        ((6, 8), (0, 1), {}),
        ((6, 8), (1, 0), {}),
        ((6, 8), (0, 1), {1: 4}),
        ((6, 8), (1, 0), {0: 3, 1: 2}),
        ((2, 3, 4, 5), (0, 3, 1, 2), {}),
        ((8, 3, 3, 4), (3, 0, 2, 1), {0: 4}),
        ((7,), (0,), {}),
    ],
)
def test_as_litert_densifies(
    dtype: str, indices: str, shape: tuple[int, ...], order: tuple[int, ...], blocks: dict[int, int]
) -> None:
    rng = np.random.default_rng([*shape, *order])
    dense = (rng.integers(-9, 9, shape) * (rng.random(shape) < 0.3)).astype(dtype)
    sparse = sparsified(dense, order, blocks, indices)
    if dtype == "int8":
        sparse = dataclasses.replace(sparse, scale=(1.0,), zero_point=(0,))
    network = densified(sparse)
    found = constant_of(network)
    np.testing.assert_array_equal(found, dense)
    x = rng.normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(by_litert(network, x), x + found)


def test_sparse_weights_are_read_without_densify() -> None:
    weights = TensorSpec("w", (2, 4), "float32", np.array([1.0, 2, 3]), sparsity=ROWS)
    tensors = (TensorSpec("x", (1, 4), "float32"), weights, TensorSpec("y", (1, 2), "float32"))
    operator = OperatorSpec("FULLY_CONNECTED", ("x", "w", -1), ("y",), "FullyConnectedOptions")
    graph = Network(tensors, (operator,)).load()
    assert graph.constants["w"].tolist() == [[0, 0, 1, 0], [2, 0, 0, 3]]


def test_a_float16_constant_is_read_without_dequantize() -> None:
    half = TensorSpec("h", (2,), "float16", np.array([0.1, -65504]))
    tensors = (TensorSpec("x", (2,), "float32"), half, TensorSpec("y", (2,), "float32"))
    graph = Network(tensors, (OperatorSpec("ADD", ("x", "h"), ("y",), "AddOptions"),)).load()
    assert graph.constants["h"].tolist() == [np.float32(np.float16(0.1)), -65504]


@pytest.mark.parametrize("data", ["int8", "int16", "float32"])
@pytest.mark.parametrize("network", [conv2d(), depthwise(depthMultiplier=0), dense(2, 4)])
def test_int4_weights_are_those_of_litert(network: Network, data: str) -> None:
    values = np.random.default_rng(3).integers(-8, 8, network.tensors[1].shape)
    network = network.with_tensor("w", dtype="int4", data=packed(values))
    for name, scale in (("x", 0.05), ("y", 1.0)):
        quant = {"scale": (scale,), "zero_point": (0 if data == "int16" else 2,)}
        quant = {"scale": (), "zero_point": ()} if data == "float32" else quant
        network = network.with_tensor(name, dtype=data, **quant)
    wide = {"int8": "int32", "int16": "int64", "float32": "float32"}[data]
    channels = network.tensors[-1].shape[-1]
    bias = TensorSpec("b", (channels,), wide, np.arange(channels))
    tensors = [*(tensor for tensor in network.tensors if tensor.name != "b"), bias]
    network = network.replace(tensors=tuple(tensors)).with_operator(inputs=("x", "w", "b"))
    if network.operators[0].code == "DEPTHWISE_CONV_2D" and data != "int8":
        assert "int4 weights of int8 data" in refusal(network, UnsupportedError)
        return
    graph = network.load()
    np.testing.assert_array_equal(graph.constants["w"], values)
    assert graph.int4 == {"w"}
    x = np.random.default_rng(4).normal(size=graph.types["x"].shape) * 40
    fed = {"x": x.astype(data)}
    found = interpreter.evaluate(graph, fed, registry())["y"]
    np.testing.assert_array_equal(by_litert(network, fed["x"]), found)


def test_int4_is_for_weights() -> None:
    table = TensorSpec("w", (2,), "int4", packed(np.array([1, 2])), (0.5,), (0,))
    port = TensorSpec("x", (2,), "int8", None, (0.5,), (0,))
    tensors = (port, table, dataclasses.replace(port, name="y"))
    network = Network(tensors, (OperatorSpec("ADD", ("x", "w"), ("y",), "AddOptions"),))
    assert 'int4 in "y" (ADD)' in refusal(network, UnsupportedError)


def test_an_int4_buffer_of_another_size_is_refused() -> None:
    network = dense(2, 4).with_tensor("w", dtype="int4", data=bytes(7))
    assert "has 7 bytes; 6 are expected for int4[3,4]" in refusal(network, ModelError)


def sparse(sparsity: SparsitySpec, *shape: int, data: Array | bytes | None = None) -> Network:
    """A network with a sparse constant of three values."""
    values = np.array([1.0, 2, 3]) if data is None else data
    return densified(TensorSpec("s", shape or (2, 4), "float32", values, sparsity=sparsity))


def rows(first: int, *segments: int, indices: tuple[int, ...] = (2, 0, 3)) -> SparsitySpec:
    """``ROWS`` with other numbers."""
    return SparsitySpec((0, 1), (LevelSpec(first), LevelSpec(0, segments, indices)))


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (sparse(rows(2, 0, 1, 2)), "has 3 indices, but segments of 2"),
        (sparse(rows(2, 0, 1, 4)), "has 3 indices, but segments of 4"),
        (sparse(rows(2, 0, 3)), "has segments that do not suit the level before them"),
        (sparse(rows(2, 1, 1, 3)), "has segments that do not suit the level before them"),
        (sparse(rows(2, 0, 5, 3)), "has segments that do not suit the level before them"),
        (sparse(rows(2, 0, -1, 3)), "has segments that do not suit the level before them"),
        (sparse(rows(2**30, 0, 1, 3)), "has a level of 1073741824 indices where its shape has 2"),
        (sparse(rows(-2, 0, 1, 3)), "has a level of -2 indices where its shape has 2"),
        (sparse(rows(2, 0, 1, 3, indices=(2, 0, 4))), "has an index outside of 0 to 3"),
        (sparse(rows(2, 0, 1, 3, indices=(2, -1, 3))), "has an index outside of 0 to 3"),
        (sparse(rows(2, 0, 1, 3, indices=(2, 3, 3))), "stores two values for one place"),
        (sparse(ROWS, data=np.zeros(2)), "stores 2 values for 3 places"),
        (sparse(ROWS, data=np.zeros(8)), "stores 8 values for 3 places"),
        (sparse(ROWS, data=b"12345"), "has 5 bytes; 32 are expected"),
        (sparse(SparsitySpec((0, 0), ROWS.levels)), "has an impossible traversal order"),
        (sparse(SparsitySpec((0, 2), ROWS.levels)), "has an impossible traversal order"),
        (sparse(SparsitySpec((0, 1, 2), ROWS.levels)), "has 2 levels, 3 places in its traversal"),
        (sparse(ROWS, 2, 2, 2), "has an impossible traversal order"),
        (
            sparse(SparsitySpec((0, 1, 2), (*ROWS.levels, LevelSpec(2)), (2,))),
            "has an impossible block map",
        ),
        (
            sparse(SparsitySpec((0, 1, 2), (*ROWS.levels, LevelSpec(3)), (1,))),
            "has an axis of 4 in blocks of 3",
        ),
        (
            sparse(SparsitySpec((0, 1, 2), (*ROWS.levels, LevelSpec(0)), (1,))),
            "has an axis of 4 in blocks of 0",
        ),
    ],
)
def test_impossible_sparsity_is_refused(network: Network, said: str) -> None:
    assert said in refusal(network, ModelError)


def test_a_huge_sparse_tensor_is_refused_before_it_is_expanded() -> None:
    levels = (LevelSpec(0, (0, 1), (7,)),)
    network = sparse(SparsitySpec((0,), levels), 2**28, data=np.array([1.0]))
    said = refusal(network, UnsupportedError)
    assert "computes with constants while compiling" in said


def test_densify_needs_a_sparse_constant() -> None:
    assert "has a dense input; a sparse constant" in refusal(
        densified(TensorSpec("s", (3,), "float32", np.zeros(3))), ModelError
    )
    computed = densified(TensorSpec("s", (3,), "float32"))
    assert 'needs "x" to be a constant' in refusal(
        computed.replace(operators=(OperatorSpec("DENSIFY", ("x",), ("d",)),), outputs=("d",)),
        UnsupportedError,
    )


def test_the_small_dtypes_are_for_constants_only() -> None:
    half = TensorSpec("x", (2,), "float16")
    network = Network((half, dataclasses.replace(half, name="y")), (OperatorSpec("ABS", "x", "y"),))
    assert "has dtypes that are not supported: float16" in refusal(network, UnsupportedError)
    constant = TensorSpec("c", (2,), "float16", np.zeros(2))
    whole = densified(dataclasses.replace(constant, data=np.zeros(0), sparsity=None))
    assert refusal(whole, UnsupportedError)
    ports = Network(
        (TensorSpec("x", (2,), "float32"), TensorSpec("y", (2,), "float32"), constant),
        (OperatorSpec("ABS", ("x",), ("y",)),),
        outputs=("y", "c"),
    )
    assert '"c", an input or output of the graph, is float16' in refusal(ports, UnsupportedError)


def test_spoiled_sparse_files_are_refused_or_read() -> None:
    """Every byte of the sparsity's tables changed: an error of microgen's, or a graph."""
    dense = np.arange(24.0, dtype=np.float32).reshape(4, 6) * (np.arange(24).reshape(4, 6) % 3 == 0)
    data = densified(sparsified(dense, (1, 0), {1: 2}, "uint16")).to_bytes()
    rng = np.random.default_rng(0)
    outcomes = [_outcome(_spoiled(data, rng)) for _ in range(600)]
    assert set(outcomes) == {"refused", "read"}


def _spoiled(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(8, len(data), 1 + int(rng.integers(3))):
        changed[place] = int(rng.choice([0, 1, 2, 127, 128, 255, int(rng.integers(256))]))
    return bytes(changed)


def _outcome(data: bytes) -> str:
    try:
        with budget.of_model():
            frontend.load(data, file="m.tflite", numerics=numerics.profile("litert"))
    except MicrogenError as error:
        return "refused in several lines" if "\n" in str(error) else "refused"
    return "read"
