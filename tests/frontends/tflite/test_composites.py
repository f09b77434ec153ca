"""STABLEHLO_COMPOSITE: its decomposition's operators take its place."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.tweaked import LONGEST_REFUSAL, activation, int8_constant, integers
from tests.graph.ops.detection.test_suppression_reference import flexbuffer
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.tflite_builder import OperatorSpec, Ref, SubgraphSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_NINJA

SHAPE = (1, 4, 4, 2)
SECONDS = 4.0


def _composite(inputs: Sequence[Ref], outputs: Sequence[Ref], number: int) -> OperatorSpec:
    return OperatorSpec(
        "STABLEHLO_COMPOSITE",
        inputs,
        outputs,
        "StableHLOCompositeOptions",
        {
            "name": "test.part",
            "decompositionSubgraphIndex": number,
            "compositeAttributes": flexbuffer({}),
        },
    )


def _add(a: str, b: str, output: str) -> OperatorSpec:
    return OperatorSpec("ADD", (a, b), (output,), "AddOptions")


def _tensors(*names: str, scale: float = 0.5) -> list[TensorSpec]:
    return [activation(name, *SHAPE, scale=scale) for name in names]


@dataclass
class Model:
    """A model whose main graph has one composite by default, and its further subgraphs."""

    more: Sequence[SubgraphSpec]
    tensors: Sequence[TensorSpec] = field(default_factory=lambda: _tensors("x", "y"))
    operators: Sequence[OperatorSpec] = (_composite("x", "y", 1),)
    inputs: Sequence[str] = ("x",)
    outputs: Sequence[str] = ("y",)

    def to_bytes(self) -> bytes:
        return build_model(
            *(self.tensors, self.operators, self.inputs, self.outputs), more=self.more
        )

    def load(self) -> Graph:
        return frontend.load(self.to_bytes(), file="m.tflite", numerics=profile("litert"))


def _doubled(scale: float = 0.5) -> SubgraphSpec:
    """2 a + 3."""
    three = replace(activation("k", 1, scale=0.5), data=np.array([9], np.int8))
    operators = [_add("a", "a", "t"), _add("t", "k", "b")]
    return SubgraphSpec([*_tensors("a", "t", "b", scale=scale), three], operators, "a", "b")


def _conv() -> SubgraphSpec:
    """A convolution whose weights and biases are inputs."""
    shapes = [("w", (2, 1, 1, 2), (0.25, 0.5)), ("bias", (2,), (0.125, 0.25))]
    tensors = _tensors("a", "b")
    for (name, shape, scale), dtype in zip(shapes, ("int8", "int32"), strict=True):
        tensors.append(TensorSpec(name, shape, dtype, None, scale, (0, 0)))
    options = {"padding": 1, "strideH": 1, "strideW": 1}
    options |= {"dilationHFactor": 1, "dilationWFactor": 1}
    operator = OperatorSpec("CONV_2D", ("a", "w", "bias"), "b", "Conv2DOptions", options)
    return SubgraphSpec(tensors, [operator], ("a", "w", "bias"), "b")


def _with_weights() -> Model:
    weight = int8_constant("w", 2, 1, 1, 2, scale=(0.25, 0.5))
    bias = replace(integers("bias", [7, -9]), scale=(0.125, 0.25), zero_point=(0, 0))
    operators = [_composite(("x", "w", "bias"), "y", 1)]
    return Model([_conv()], [*_tensors("x", "y"), weight, bias], operators)


def _nested() -> Model:
    """Composites in composites, one of them twice, and layers before and after."""
    inner = SubgraphSpec(
        _tensors("a", "b", "c", "d"),
        [_composite("a", "b", 1), _add("a", "b", "c"), _composite("c", "d", 1)],
        "a",
        "d",
    )
    operators = [_add("x", "x", "p"), _composite("p", "q", 2), _add("q", "x", "y")]
    return Model([_doubled(), inner], _tensors("x", "p", "q", "y"), operators)


def _crossed() -> Model:
    """Inputs that are outputs, and a constant output."""
    constant = replace(activation("k", *SHAPE), data=np.arange(32, dtype=np.int8).reshape(SHAPE))
    part = SubgraphSpec(
        [*_tensors("a", "b", "s"), constant],
        [_add("a", "b", "s")],
        "ab",
        ("b", "a", "s", "k"),
    )
    tensors = _tensors("x", "z", *"pqrt", "y0", "y1")
    operators = [_composite("xz", "pqrt", 1), _add("p", "t", "y0"), _add("q", "t", "y1")]
    return Model([part], tensors, operators, ("x", "z"), ("y0", "y1", "r"))


def _unsigned() -> Model:
    def both(*names: str) -> list[TensorSpec]:
        return [replace(tensor, dtype="uint8") for tensor in _tensors(*names)]

    part = SubgraphSpec(both("a", "t", "b"), [_add("a", "a", "t"), _add("t", "a", "b")], "a", "b")
    return Model([part], both("x", "y"))


def _of_other_scales() -> Model:
    """The stored values are those of the caller, the scales those of the decomposition."""
    return Model([_doubled(0.125)], _tensors("x", "y", scale=0.5))


MODELS = {
    "plain": lambda: Model([_doubled()]),
    "weights": _with_weights,
    "nested": _nested,
    "crossed": _crossed,
    "uint8": _unsigned,
    "other scales": _of_other_scales,
}


def _samples(model: Model) -> list[Array]:
    rng = np.random.default_rng(1)
    kinds = {tensor.name: np.dtype(tensor.dtype) for tensor in model.tensors}
    return [rng.integers(0, 256, SHAPE).astype(np.uint8).view(kinds[n]) for n in model.inputs]


@needs_litert
@pytest.mark.parametrize("kind", MODELS)
def test_equals_litert(kind: str) -> None:
    model = MODELS[kind]()
    samples = _samples(model)
    interpreter = interpreter_of(model.to_bytes())
    for details, sample in zip(interpreter.get_input_details(), samples, strict=True):
        interpreter.set_tensor(details["index"], sample)
    interpreter.invoke()
    graph = model.load()
    values = evaluate(graph, dict(zip(graph.inputs, samples, strict=True)), registry())
    for name, details in zip(graph.outputs, interpreter.get_output_details(), strict=True):
        np.testing.assert_array_equal(values[name], interpreter.get_tensor(details["index"]))


@needs_litert
@NEEDS_NINJA
@pytest.mark.parametrize("kind", ["nested", "crossed", "uint8"])
def test_firmware_equals_litert(kind: str, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(MODELS[kind]().to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    microgen.build(tmp_path / "p")
    result = microgen.run(tmp_path / "p", compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert [verdict.is_skipped for verdict in result.verdicts] == [False, False]


def test_the_graph_is_that_of_the_operators_themselves() -> None:
    """Same nodes and tensors as if the decomposition had been written in place."""
    graph = Model([_doubled()]).load()
    part = _doubled()
    names = {"a": "x", "b": "y"}
    tensors = [replace(t, name=names.get(t.name, t.name)) for t in part.tensors]
    operators = [
        replace(
            o,
            inputs=[names.get(str(i), i) for i in o.inputs],
            outputs=[names.get(str(i), i) for i in o.outputs],
        )
        for o in part.operators
    ]
    plain = Model([], tensors, operators).load()
    assert [(n.op, n.inputs, n.outputs) for n in graph.nodes] == [
        (n.op, n.inputs, n.outputs) for n in plain.nodes
    ]
    assert graph.types == plain.types


def test_an_output_may_be_there_twice() -> None:
    """LiteRT gives the first of them no value."""
    part = replace(_doubled(), outputs="bb")
    model = Model([part], _tensors("x", "y", "z"), [_composite("x", "yz", 1)], outputs=("y", "z"))
    (sample,), graph = _samples(model), model.load()
    values = evaluate(graph, {"x": sample}, registry())
    expected = evaluate(Model([_doubled()]).load(), {"x": sample}, registry())["y"]
    for name in graph.outputs:
        np.testing.assert_array_equal(values[name], expected)


# Refusals


def _part(*operators: OperatorSpec) -> SubgraphSpec:
    return SubgraphSpec(_tensors("a", "b"), operators, "a", "b")


def _chain(length: int) -> list[SubgraphSpec]:
    return [*(_part(_composite("a", "b", i + 2)) for i in range(length)), _doubled()]


def _bomb(levels: int) -> list[SubgraphSpec]:
    """Each composite has two of the next one."""
    tensors = _tensors("a", "m", "b")
    return [
        *(
            SubgraphSpec(
                tensors, [_composite("a", "m", i + 2), _composite("m", "b", i + 2)], "a", "b"
            )
            for i in range(levels)
        ),
        _doubled(),
    ]


def test_many_composites_of_many_operands_are_refused_in_time() -> None:
    """A small file whose composites share a subgraph with one very long operator."""
    wide = OperatorSpec("CONCATENATION", ["a"] * 20_000, "b", "ConcatenationOptions")
    tensors = _tensors("x", *(f"y{i}" for i in range(500)))
    operators = [_composite("x", [f"y{i}"], 1) for i in range(500)]
    model = Model([_part(wide)], tensors, operators, outputs=("y0",))
    data, start = model.to_bytes(), time.perf_counter()
    with pytest.raises(UnsupportedError, match="composites with more than 20000 tensors"):
        frontend.load(data, file="m.tflite", numerics=profile("litert"))
    assert time.perf_counter() - start < SECONDS


def test_as_deep_as_it_may_be() -> None:
    assert len(Model(_chain(31)).load().nodes) == 2
    assert len(Model(_bomb(6)).load().nodes) == 128


BARE = replace(_composite("x", "y", 1), options_type="", options={})


@pytest.mark.parametrize(
    ("model", "kind", "said"),
    [
        (Model([_part(_composite("a", "b", 1))]), ModelError, "own decomposition, subgraph 1"),
        (Model([_part(_composite("a", "b", 0))]), ModelError, "own decomposition, subgraph 0"),
        (
            Model([_part(_composite("a", "b", 2)), _part(_composite("a", "b", 1))]),
            ModelError,
            "own decomposition, subgraph 1",
        ),
        (Model([]), ModelError, "stands for subgraph 1, which the file does not have"),
        (Model([], operators=[_composite("x", "y", -1)]), ModelError, "stands for subgraph -1"),
        (Model([_doubled()], operators=[BARE]), ModelError, "has no StableHLOCompositeOptions"),
        (
            Model([_doubled()], operators=[_composite("xx", "y", 1)]),
            ModelError,
            "has 2 inputs and 1 outputs, but subgraph 1 has 1 and 1",
        ),
        (Model([_doubled()], operators=[_composite("x", "", 1)]), ModelError, "0 outputs"),
        (Model(_chain(40)), ModelError, "more than 32 composites deep"),
        (Model(_bomb(25)), UnsupportedError, "composites with more than 20000 tensors"),
        (
            Model([_part(OperatorSpec("HASHTABLE_FIND", "a", "b"))]),
            UnsupportedError,
            'HASHTABLE_FIND in "y"',
        ),
        (
            Model([SubgraphSpec(_tensors("a", "b"), [_add("b", "b", "a")], "a", "b")]),
            ModelError,
            "before anything makes it",
        ),
        (
            Model([SubgraphSpec(_tensors("a"), [_add("a", "a", "a")], "a", "a")]),
            ModelError,
            "is an output of ADD, but it already exists",
        ),
        (Model([SubgraphSpec(_tensors("a", "b"), [], "a", "b")]), ModelError, "y"),
        (
            Model([_doubled()], operators=[_composite([-1], "y", 1)]),
            ModelError,
            "lacks its input 0",
        ),
        (
            Model(
                [SubgraphSpec(_tensors("a", "b"), [_add("b", "b", "a")], "a", "b")],
                operators=[_composite([-1], "y", 1)],
            ),
            ModelError,
            "lacks an input that an operator inside makes",
        ),
    ],
)
def test_impossible_composites(model: Model, kind: type[MicrogenError], said: str) -> None:
    start = time.perf_counter()
    with pytest.raises(kind) as caught:
        model.load()
    assert time.perf_counter() - start < SECONDS
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert len(str(caught.value)) <= LONGEST_REFUSAL


def test_mutated_files_are_refused_or_read() -> None:
    rng, data, outcomes = np.random.default_rng(3), _nested().to_bytes(), set()
    for _ in range(400):
        spoiled = bytearray(data)
        for place in rng.integers(8, len(data), int(rng.integers(1, 4))):
            spoiled[place] = int(rng.integers(256))
        try:
            frontend.load(bytes(spoiled), file="m.tflite", numerics=profile("litert"))
            outcomes.add("read")
        except MicrogenError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
