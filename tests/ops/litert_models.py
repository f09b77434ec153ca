"""Models of one operator, as the frontend and our references compute them, and as LiteRT does.

For operators of several inputs or outputs, or of which the frontend makes several nodes;
``litert_oracle`` has those that are one node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen import numerics
from microgen.frontends import tflite as frontend
from microgen.ir import verify
from microgen.ir.graph import Array, Graph
from microgen.ir.interpreter import evaluate
from microgen.ops import registry
from tests.ops.litert_oracle import interpreter_of
from tests.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Model:
    """One operator on int8 tensors that all have one quantization.

    Its inputs are fed tensors of ``shapes``, then ``constants``; ``constants_first`` puts those
    in front, as SPLIT has it.
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

    def to_bytes(self) -> bytes:
        """The file."""
        zero_point = int(np.random.default_rng(self.seed).integers(-128, 128))
        fed = [self._int8(f"x{i}", shape, zero_point) for i, shape in enumerate(self.shapes)]
        made = [self._int8(f"y{i}", shape, zero_point) for i, shape in enumerate(self.outputs)]
        parts = (self.constants, fed) if self.constants_first else (fed, self.constants)
        names = [tensor.name for part in parts for tensor in part]
        ins, outs = [t.name for t in fed], [t.name for t in made]
        operator = OperatorSpec(
            self.code, names, outs, self.options_type, self.options, self.version
        )
        return build_model([*fed, *self.constants, *made], [operator], ins, outs)

    @staticmethod
    def _int8(name: str, shape: Shape, zero_point: int) -> TensorSpec:
        return TensorSpec(name, shape, "int8", scale=(0.25,), zero_point=(zero_point,))

    def inputs(self) -> list[Array]:
        """Random values for the fed tensors."""
        rng = np.random.default_rng(self.seed)
        return [rng.integers(-128, 128, shape).astype(np.int8) for shape in self.shapes]

    def load(self) -> Graph:
        """What the frontend makes of it, checked."""
        chosen = numerics.profile("litert")
        graph = frontend.load(self.to_bytes(), file="m.tflite", numerics=chosen)
        verify.check(graph, registry())
        return graph


def by_reference(model: Model) -> list[Array]:
    """The outputs by the frontend's nodes and their references."""
    graph = model.load()
    values = evaluate(graph, dict(zip(graph.inputs, model.inputs(), strict=True)), registry())
    return [values[name] for name in graph.outputs]


def by_litert(model: Model) -> list[Array]:
    """The outputs by LiteRT's reference kernel."""
    interpreter = interpreter_of(model.to_bytes())
    for details, value in zip(interpreter.get_input_details(), model.inputs(), strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def assert_equal(model: Model) -> None:
    """Both have the same shapes and the same bytes."""
    for ours, theirs in zip(by_reference(model), by_litert(model), strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=repr(model))
        assert ours.shape == theirs.shape, model
