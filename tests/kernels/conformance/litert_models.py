"""Models of one operator, computed by the frontend and our references, and by LiteRT.

They are for operators of several inputs or outputs, and for those of which the frontend makes
several nodes. ``litert_oracle`` is for operators that are one node.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, DType, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, random_array, random_type
from tests.kernels.conformance.litert_oracle import interpreter_of
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

Shape = tuple[int, ...]

# Operators that only move values, with dtypes for which LiteRT lacks a kernel. microgen takes them.
NOT_IN_LITERT = {
    *((code, DType.BOOL) for code in ("PACK", "SPLIT", "SPLIT_V")),
    *(
        (code, d)
        for code in ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
        for d in (DType.INT16, DType.BOOL)
    ),
    ("UNPACK", DType.INT64),
    ("RESIZE_NEAREST_NEIGHBOR", DType.INT64),
}


@dataclass(frozen=True)
class Model:
    """One operator whose tensors all have the same dtype and quantization.

    Its inputs are fed tensors of ``shapes``, then ``constants``. With ``constants_first`` these
    come first, as in SPLIT.
    """

    code: str
    shapes: Sequence[Shape]
    outputs: Sequence[Shape]
    constants: Sequence[TensorSpec] = ()
    options_type: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    constants_first: bool = False
    version: int = 1
    seed: int = 0
    dtype: DType = DType.INT8

    def to_bytes(self) -> bytes:
        """The bytes of the .tflite file."""
        fed = [self._tensor(f"x{i}", shape) for i, shape in enumerate(self.shapes)]
        made = [self._tensor(f"y{i}", shape) for i, shape in enumerate(self.outputs)]
        parts = (self.constants, fed) if self.constants_first else (fed, self.constants)
        names = [tensor.name for part in parts for tensor in part]
        ins, outs = [t.name for t in fed], [t.name for t in made]
        operator = OperatorSpec(
            self.code, names, outs, self.options_type, self.options, self.version
        )
        return build_model([*fed, *self.constants, *made], [operator], ins, outs)

    def _tensor(self, name: str, shape: Shape) -> TensorSpec:
        kind = random_type(np.random.default_rng(self.seed), shape, self.dtype)
        scale, zero_point = (kind.quant.scale, kind.quant.zero_point) if kind.quant else ((), ())
        return TensorSpec(name, shape, self.dtype.value, None, scale, zero_point)

    def inputs(self) -> list[Array]:
        """Random values for the fed tensors."""
        rng = np.random.default_rng(self.seed)
        return [random_array(rng, shape, self.dtype) for shape in self.shapes]

    def load(self) -> Graph:
        """The graph that the frontend reads from it, checked."""
        chosen = numerics.profile("litert")
        graph = frontend.load(self.to_bytes(), file="m.tflite", numerics=chosen)
        verify.check(graph, registry())
        return graph


def by_reference(model: Model) -> list[Array]:
    """The outputs, computed by the frontend's nodes and their references."""
    graph = model.load()
    values = evaluate(graph, dict(zip(graph.inputs, model.inputs(), strict=True)), registry())
    return [values[name] for name in graph.outputs]


def in_every_dtype(random_model: Callable[[int], Model], count: int) -> Iterator[Model]:
    """``count`` random models of each dtype."""
    for seed in range(count * len(DTYPES)):
        yield dataclasses.replace(random_model(seed), dtype=dtype_of(seed))


def by_litert(model: Model) -> list[Array]:
    """The outputs, computed by LiteRT's reference kernel."""
    interpreter = interpreter_of(model.to_bytes())
    for details, value in zip(interpreter.get_input_details(), model.inputs(), strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def assert_equal(model: Model) -> None:
    """Checks that both outputs are equal in shape and bytes, or that LiteRT refuses the model."""
    if (model.code, model.dtype) in NOT_IN_LITERT:
        assert by_reference(model)
        with pytest.raises((RuntimeError, ValueError), match=f"{model.code}"):
            by_litert(model)
        return
    for ours, theirs in zip(by_reference(model), by_litert(model), strict=True):
        assert_same(ours, theirs, model)
        assert ours.shape == theirs.shape, model
