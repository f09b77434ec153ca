"""Checks a node against the definition of its operator in the version that the model imports: the
numbers of inputs and outputs, the kinds of attributes, the types of operands."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, NodeProto
from onnx.defs import OpSchema

from microgen.frontends.onnx import types
from microgen.graph.builder import BuiltTensor

# onnx.defs.get_schema takes a C++ int.
_MOST = 2**31 - 1  # of a version
_OWN_DOMAINS = ("", "ai.onnx")  # two names of ONNX's own
_RUNTIMES = "com.microsoft"  # domains of ONNX Runtime begin like this
_OF_PROCESSOR = "com.microsoft.nchwc"  # the layout of a desktop's processor
_KIND_OF = {code: name for name, code in AttributeProto.AttributeType.items()}
_VARIADIC = OpSchema.FormalParameterOption.Variadic
_OPTIONAL = OpSchema.FormalParameterOption.Optional


def domain(name: str) -> str:
    """The name of a domain; "" for both names of ONNX's own."""
    return "" if name in _OWN_DOMAINS else name


def of_runtime(domain_: str) -> str:
    """Advice about an operator of a domain of ONNX Runtime; empty for other domains."""
    if not domain_.startswith(_RUNTIMES):
        return ""
    level = "ORT_ENABLE_EXTENDED" if domain_ == _OF_PROCESSOR else "ORT_DISABLE_ALL"
    return (
        "give the model as it was before ONNX Runtime optimized it: export it anew, or save it "
        f"with GraphOptimizationLevel.{level}"
    )


def versions(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """The version of each domain, of ONNX's own under ""."""
    return {domain(each.domain): min(max(int(each.version), 0), _MOST) for each in imports}


def find(proto: NodeProto, version: int) -> OpSchema | None:
    """The definition of an operator; None if that version of its domain has none."""
    return _find(domain(proto.domain), proto.op_type, version)


@functools.cache
def _find(domain_: str, op: str, version: int) -> OpSchema | None:
    try:
        schema = onnx.defs.get_schema(op, version, domain_)
    except onnx.defs.SchemaError:
        return None
    return None if schema.deprecated else schema


def violations(
    proto: NodeProto, schema: OpSchema, operands: Sequence[BuiltTensor | None]
) -> Iterator[str]:
    """The contradictions between a node and the definition of its operator."""
    yield from _counts(proto, schema)
    yield from _attributes(proto, schema)
    yield from _types(schema, operands)


def _counts(proto: NodeProto, schema: OpSchema) -> Iterator[str]:
    for kind, count, least, most in (
        ("inputs", len(proto.input), schema.min_input, schema.max_input),
        ("outputs", len(proto.output), schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            expected = f"{least}" if least == most else f"{least} to {most}"
            yield f"has {count} {kind}; {expected} are expected"
    # A repeated field of protobuf may have two entries of one name.
    if len({each.name for each in proto.attribute}) != len(proto.attribute):
        yield "has the same attribute twice"


def _attributes(proto: NodeProto, schema: OpSchema) -> Iterator[str]:
    known = _kinds(schema)
    for each in proto.attribute:
        actual = _KIND_OF.get(each.type, "of no kind")
        if each.name not in known:
            yield f"has the attribute {each.name!r}, which the operator does not have"
        elif actual != known[each.name]:
            expected = known[each.name].lower()
            yield f"has the attribute {each.name!r} of the kind {actual.lower()}, not {expected}"
    names = {each.name for each in proto.attribute}
    missing = sorted(n for n, a in schema.attributes.items() if a.required and n not in names)
    if missing:
        yield f"has no attribute {missing[0]!r}, which the operator needs"


def _kinds(schema: Any) -> dict[str, str]:
    return {name: str(each.type.name) for name, each in schema.attributes.items()}


def _types(schema: OpSchema, operands: Sequence[BuiltTensor | None]) -> Iterator[str]:
    """An operand of a type that the operator does not take, or that differs from another operand
    whose type has to be the same."""
    # type variable (T, T1) -> the type of the first operand that has it
    bound: dict[str, str] = {}
    for i, tensor in enumerate(operands):
        # A variadic input is the last formal one, and describes all further operands.
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        if tensor is None:
            if formal.option != _OPTIONAL and formal.option != _VARIADIC:
                yield f"has no input {i} ({formal.name}), which the operator needs"
            continue
        name = f"tensor({types.element_name(types.code(tensor.dtype))})"
        if name not in formal.types:
            yield f"has the input {i} ({formal.name}) of {tensor.type}, which it does not take"
        elif formal.is_homogeneous and bound.setdefault(formal.type_str, name) != name:
            yield f"has the input {i} ({formal.name}) of {tensor.type}; {formal.type_str} is " + (
                f"{bound[formal.type_str]} in another input"
            )
