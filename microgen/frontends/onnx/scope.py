"""The tensors that names denote while the nodes of a graph, a function or a branch are imported,
the names of a model's outputs, and the types that it declares."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

import onnx
from onnx import AttributeProto, NodeProto

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends.onnx import types
from microgen.graph.builder import BuiltTensor, GraphBuilder, checked
from microgen.graph.ir.graph import DType, Node, Origin
from microgen.graph.ops.moves.views import CopyAttrs


@dataclass(slots=True)
class OnnxScope:
    """The meaning of names in a graph, a function or a branch."""

    file: str
    versions: Mapping[str, int]  # of each domain
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)  # of the function's call
    prefix: str = ""  # the names of tensors begin with it in the model's graph
    # names there that do not follow from the prefix
    public: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0  # functions or branches around it
    # The tensors by their names there; None for an input of a function that its call leaves out.
    values: MutableMapping[str, BuiltTensor | None] = field(default_factory=dict)
    # The errors for outputs that a node should have, but that its importer lacks.
    lacking: dict[str, UnsupportedError] = field(default_factory=dict)

    def inner(
        self, caller: str, versions: Mapping[str, int], attributes: Mapping[str, AttributeProto]
    ) -> OnnxScope:
        """The scope, without tensors, of the nodes that replace a node."""
        return OnnxScope(self.file, versions, attributes, f"{caller}/", depth=self.depth + 1)

    def add(self, name: str, tensor: BuiltTensor | None) -> None:
        """A new name. ModelError if there is one already."""
        # Each name is assigned once in ONNX's graphs, and branches may not reuse outer names.
        if not name or name in self.values or name in self.lacking:
            what = f'two tensors have the name "{short(name)}"' if name else "a tensor has no name"
            raise ModelError(what, where=self.file, hint="onnx.checker finds such errors")
        self.values[name] = tensor

    def operand(self, name: str) -> BuiltTensor | None:
        """A tensor that a node reads; None if it is left out. ModelError if nothing has made it."""
        if not name:
            return None
        if name in self.lacking:
            raise self.lacking[name]
        if name not in self.values:
            raise ModelError(
                f'reads the tensor "{short(name)}", which nothing makes',
                where=self.file,
                hint="onnx.checker finds such errors",
            )
        return self.values[name]

    def tensor(self, name: str) -> BuiltTensor:
        """A tensor that a node reads and that may not be left out. Raises as ``operand`` does."""
        result = self.operand(name)
        if result is None:
            raise ModelError(f'the tensor "{short(name)}" is left out', where=self.file)
        return result

    def renamed(self, proto: NodeProto) -> NodeProto:
        """The node with its outputs under their names in the graph, with the attributes of the
        function's call to which the node refers, and without inputs that the call leaves out.
        """
        if not self.depth and not any(each.ref_attr_name for each in proto.attribute):
            return proto  # it may have large constants
        node = NodeProto(op_type=proto.op_type, domain=proto.domain, overload=proto.overload)
        outputs = [self.public.get(n, self.prefix + n) if n else "" for n in proto.output]
        inputs = ["" if self.values.get(name) is None else name for name in proto.input]
        node.input.extend(inputs)
        node.output.extend(outputs)
        node.attribute.extend(self._attributes(proto))
        return node

    def _attributes(self, proto: NodeProto) -> Iterator[AttributeProto]:
        for each in proto.attribute:
            if not each.ref_attr_name:
                yield each
            elif each.ref_attr_name in self.attributes:
                attribute = AttributeProto()
                attribute.CopyFrom(self.attributes[each.ref_attr_name])
                attribute.name = each.name
                yield attribute


# The names of a model's outputs.


def named(
    builder: GraphBuilder, tensors: Sequence[BuiltTensor], wanted: Sequence[str], file: str
) -> list[BuiltTensor]:
    """The outputs under their names in the model. A node's result with another name is renamed,
    unless it is also another output. Inputs, constants and other outputs are copied.
    UnsupportedError for an output without elements."""
    # Only results of nodes can be renamed: inputs and constants keep their own names.
    free = {name for node in builder.nodes for name in node.outputs}.difference(wanted)
    results: list[BuiltTensor] = []
    names: dict[str, str] = {}
    for tensor, name in zip(tensors, wanted, strict=True):
        checked(tensor.type, f'{file}: the output "{short(name)}"')
        # The same tensor may be several outputs, and be renamed for an earlier one.
        own = dataclasses.replace(tensor, name=names.get(tensor.name, tensor.name))
        if own.name == name:
            results.append(own)
        elif own.name in free:
            names[own.name] = builder.fresh(name)
            results.append(dataclasses.replace(own, name=names[own.name]))
        else:
            results.append(_copied(builder, own, name, file))
    builder.rename(names, 0)
    return results


def _copied(builder: GraphBuilder, tensor: BuiltTensor, name: str, file: str) -> BuiltTensor:
    copy = builder.declare(name, tensor.type)
    node = Node("copy", (tensor.name,), (copy.name,), CopyAttrs(), Origin(file, name))
    builder.add(node, (tensor, copy))
    return copy


# The types that a model declares, with which the computed types must agree.


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
        """The shape that the model declares for the tensor ``name``; None if it declares none, or
        a size is symbolic."""
        declared = self._types.get(name)
        if declared is None or not declared.HasField("shape"):
            return None
        sizes = tuple(int(dim.dim_value) for dim in declared.shape.dim)
        # A symbolic dimension has the dim_value 0.
        return sizes if all(size > 0 for size in sizes) else None

    def check(self, name: str, tensor: BuiltTensor, *, is_loose: bool = False) -> None:
        """Raise ModelError if the model declares another element type or shape for the tensor that
        it calls ``name``. A symbolic size agrees with any. A tensor of one element may have any
        number of axes, as in ONNX Runtime; for an output, a note reports it. If the tensor
        ``is_loose``, a note also reports any other shape, in place of the error."""
        type_ = self._types.get(name)
        if type_ is None:
            return
        wanted = types.element_name(type_.elem_type)
        is_half = types.is_half(type_.elem_type) and tensor.dtype is DType.FLOAT32
        own = types.code(tensor.dtype) if tensor.labels is None else onnx.TensorProto.STRING
        is_same = is_half or type_.elem_type in (0, own)
        fits = not type_.HasField("shape") or _fits(type_.shape, tensor.shape)
        if is_same and not fits and _is_one(type_.shape, tensor.shape):
            if name in self._outputs:
                self.notes.append(
                    f'the output "{short(name)}" is declared {_shown(type_)}, and its one element '
                    f"is computed as {tensor.type}"
                )
        elif is_same and not fits and is_loose:
            self.notes.append(
                f'"{short(name)}" is declared {_shown(type_)}, and computed as {tensor.type}'
            )
        elif not is_same or not fits:
            raise ModelError(
                f'the tensor "{short(name)}" is {tensor.type}, but the model declares '
                f"{wanted}{_shown(type_)}",
                where=self._file,
                hint="onnx.shape_inference computes what belongs there",
            )


def _is_one(declared: onnx.TensorShapeProto, shape: tuple[int, ...]) -> bool:
    """Whether both shapes have one element, but different numbers of axes."""
    sizes = [dim.dim_value for dim in declared.dim if dim.HasField("dim_value")]
    return {*shape} <= {1} and {*sizes} <= {1}


def _fits(declared: onnx.TensorShapeProto, shape: tuple[int, ...]) -> bool:
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.dim]
    pairs = zip(sizes, shape, strict=False)
    return len(sizes) == len(shape) and all(size in (None, own) for size, own in pairs)


def _shown(declared: onnx.TypeProto.Tensor) -> str:
    if not declared.HasField("shape"):
        return ""
    # A symbolic size is shown by its name.
    sizes = [short(dim.dim_param) or str(dim.dim_value) for dim in declared.shape.dim]
    return f"[{','.join(sizes)}]"
