"""Bodies of functions: of the model's own functions, and of the functions with which ONNX defines
operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto

from microgen.base.errors import ModelError, short
from microgen.frontends.onnx import schemas, types
from microgen.graph.builder import BuiltTensor

Operands = Sequence[BuiltTensor | None]
_Key = tuple[str, str, str]  # domain, operator, overload


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """The nodes that compute an operator."""

    inputs: Sequence[str]  # the operator's inputs by their names in the nodes
    outputs: Sequence[str]
    nodes: Sequence[NodeProto]
    versions: Mapping[str, int]  # of each domain
    # the attributes to which nodes refer
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)


class Functions:
    """The functions of a model. Raises ModelError (at creation) if it defines one twice."""

    def __init__(self, model: onnx.ModelProto, file: str) -> None:
        self._local: dict[_Key, FunctionProto] = {}
        for function in model.functions:
            # Functions of one name may differ in the overload, which ONNX has since IR version 10.
            key = (schemas.domain(function.domain), function.name, function.overload)
            if key in self._local:
                raise ModelError(f'defines the function "{short(function.name)}" twice', where=file)
            self._local[key] = function

    def local(self, call: NodeProto) -> FunctionBody | None:
        """The body of a function that the model defines; None if it has no such function."""
        function = self._local.get((schemas.domain(call.domain), call.op_type, call.overload))
        if function is None:
            return None
        defaults = {each.name: each for each in function.attribute_proto}
        return _body(function, call, defaults)


def of_schema(call: NodeProto, version: int, operands: Operands) -> FunctionBody | None:
    """The body with which ONNX defines an operator for operands of these types; None if the
    operator has no such body.
    """
    schema = schemas.find(call, version)
    if schema is None:
        return None
    content = _content(schema, call, version, operands)
    if not content:
        return None
    defaults = {
        name: each.default_value
        for name, each in schema.attributes.items()
        if each.default_value.name
    }
    return _body(FunctionProto.FromString(content), call, defaults)


def _content(schema: Any, call: NodeProto, version: int, operands: Operands) -> bytes:
    """The serialised function; empty if there is none."""
    # A body is either fixed, or built for the types of the operands of one call.
    fixed = schema.function_opset_versions
    if fixed:
        return bytes(schema.get_function_with_opset_version(_nearest(fixed, version)))
    built = schema.context_dependent_function_opset_versions
    if not built:
        return b""
    kinds = [types.proto(each).SerializeToString() for each in operands]
    build = schema.get_context_dependent_function_with_opset_version
    try:
        return bytes(build(_nearest(built, version), call.SerializeToString(), kinds))
    except RuntimeError:  # it writes names and attributes as text, and cannot parse all of them
        return b""


def _nearest(versions: Sequence[int], wanted: int) -> int:
    """The newest version up to the wanted version, or, if all are newer, the oldest."""
    return max((each for each in versions if each <= wanted), default=min(versions))


def _body(
    function: FunctionProto, call: NodeProto, defaults: Mapping[str, AttributeProto]
) -> FunctionBody:
    own = {each.name: each for each in call.attribute}
    # Functions of ONNX's previews do not import the domains that they use.
    versions = {"": onnx.defs.onnx_opset_version()} | schemas.versions(function.opset_import)
    return FunctionBody(
        function.input, function.output, function.node, versions, {**defaults, **own}
    )
