"""The types that a model declares for its tensors, with which the computed ones must agree."""

from __future__ import annotations

import itertools

import onnx

from microgen.base.errors import ModelError, short
from microgen.frontends.onnx import types
from microgen.graph.builder import BuiltTensor


class DeclaredTypes:
    """The types that a graph declares for its tensors. ``notes`` name the tensors whose declared
    shapes differ from their computed shapes, which is not an error.
    """

    def __init__(self, graph: onnx.GraphProto, file: str) -> None:
        self.notes: list[str] = []
        self._file = file
        self._outputs = {info.name for info in graph.output}
        self._types = {
            info.name: info.type.tensor_type
            for info in itertools.chain(graph.value_info, graph.output)
            if info.type.WhichOneof("value") == "tensor_type"
        }

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape that the model declares for the tensor that it calls ``name``, if it has one
        without symbolic sizes."""
        found = self._types.get(name)
        if found is None or not found.HasField("shape"):
            return None
        sizes = tuple(int(dim.dim_value) for dim in found.shape.dim)
        # A symbolic dimension has the dim_value 0.
        return sizes if all(size > 0 for size in sizes) else None

    def check(self, name: str, tensor: BuiltTensor) -> None:
        """Raise ModelError if the model declares another element type or shape for the tensor that
        it calls ``name``. A symbolic size agrees with any. A tensor of one element may have any
        number of axes, as in ONNX Runtime; of an output there is a note."""
        found = self._types.get(name)
        if found is None:
            return
        wanted = types.element_name(found.elem_type)
        is_same = found.elem_type in (0, types.code(tensor.dtype))
        fits = not found.HasField("shape") or _fits(found.shape, tensor.shape)
        if is_same and not fits and _is_one(found.shape, tensor.shape):
            self._note(name, found, tensor)
        elif not is_same or not fits:
            raise ModelError(
                f'the tensor "{short(name)}" is {tensor.type}, but the model declares '
                f"{wanted}{_shown(found)}",
                where=self._file,
                hint="onnx.shape_inference computes what belongs there",
            )

    def _note(self, name: str, declared: onnx.TypeProto.Tensor, tensor: BuiltTensor) -> None:
        if name in self._outputs:
            self.notes.append(
                f'the output "{short(name)}" is declared {_shown(declared)}, and its one element '
                f"is computed as {tensor.type}"
            )


def _is_one(declared: onnx.TensorShapeProto, shape: tuple[int, ...]) -> bool:
    """Whether both are shapes of one element, with different numbers of axes."""
    sizes = [dim.dim_value for dim in declared.dim if dim.HasField("dim_value")]
    return {*shape} <= {1} and {*sizes} <= {1}


def _fits(declared: onnx.TensorShapeProto, shape: tuple[int, ...]) -> bool:
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.dim]
    pairs = zip(sizes, shape, strict=False)
    return len(sizes) == len(shape) and all(size in (None, own) for size, own in pairs)


def _shown(declared: onnx.TypeProto.Tensor) -> str:
    if not declared.HasField("shape"):
        return ""
    sizes = [short(dim.dim_param) or str(dim.dim_value) for dim in declared.shape.dim]
    return f"[{','.join(sizes)}]"
