"""The tensors that names denote while the nodes of a graph, a function or a branch are imported,
and the names of a model's outputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from onnx import AttributeProto, NodeProto

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.graph.builder import BuiltTensor, GraphBuilder, checked
from microgen.graph.ir.graph import Node, Origin
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
        """A tensor that must be there. Raises as ``operand`` does."""
        found = self.operand(name)
        if found is None:
            raise ModelError(f'the tensor "{short(name)}" is left out', where=self.file)
        return found

    def renamed(self, proto: NodeProto) -> NodeProto:
        """The node with its outputs under their names in the graph, with the attributes of the
        function's call to which the node refers, and without inputs that the call leaves out.
        """
        if not self.depth and not any(each.ref_attr_name for each in proto.attribute):
            return proto  # it may have large constants
        found = NodeProto(op_type=proto.op_type, domain=proto.domain, overload=proto.overload)
        outputs = [self.public.get(n, self.prefix + n) if n else "" for n in proto.output]
        inputs = ["" if self.values.get(name) is None else name for name in proto.input]
        found.input.extend(inputs)
        found.output.extend(outputs)
        found.attribute.extend(self._attributes(proto))
        return found

    def _attributes(self, proto: NodeProto) -> Iterator[AttributeProto]:
        for each in proto.attribute:
            if not each.ref_attr_name:
                yield each
            elif each.ref_attr_name in self.attributes:
                found = AttributeProto()
                found.CopyFrom(self.attributes[each.ref_attr_name])
                found.name = each.name
                yield found


# The names of a model's outputs.


def named(
    builder: GraphBuilder, found: Sequence[BuiltTensor], wanted: Sequence[str], file: str
) -> list[BuiltTensor]:
    """The outputs under their names in the model. A node's result that has another name is renamed,
    if it is no other output. Inputs, constants and other outputs are copied. UnsupportedError for
    an output without elements."""
    free = {name for node in builder.nodes for name in node.outputs}.difference(wanted)
    results: list[BuiltTensor] = []
    names: dict[str, str] = {}
    for tensor, name in zip(found, wanted, strict=True):
        checked(tensor.type, f'{file}: the output "{short(name)}"')
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
