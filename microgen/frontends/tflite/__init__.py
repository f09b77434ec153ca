"""The TFLite frontend: records, then layers in the file's order, then the checked graph."""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

from microgen.arithmetic.int8 import unreachable_bound
from microgen.errors import ModelError, UnsupportedError, short
from microgen.frontends.numerics import Numerics
from microgen.frontends.tflite import importers, records, refusals, signature
from microgen.frontends.tflite.layers import Layer, Step
from microgen.frontends.tflite.records import ABSENT, ModelRecord
from microgen.frontends.tflite.tensors import Tensor, Tensors
from microgen.ir.graph import MAX_BYTES, DType, Graph, Node, Origin
from microgen.ops import budget, registry
from microgen.ops.base import Operands, StatusError

_NEVER_INT32 = frozenset(
    {
        *("nn.avg_pool2d", "nn.conv2d", "nn.conv2d_transpose", "nn.dense", "nn.depthwise_conv2d"),
        *("qnn.dequantize", "qnn.quantize"),
    }
)


def load(data: bytes, *, file: str, numerics: Numerics) -> Graph:
    """The graph of a model; ``file`` names it in messages and Origins.

    Raises ModelError where the bytes are malformed or contradict themselves, UnsupportedError
    where the model is sound but uses what microgen does not have.
    """
    signature.check(data, file)
    model = records.read(data, file)
    tensors = Tensors(model.tensors)
    refusals.check(model, tensors.names, numerics)
    _check_operators(model)
    _check_order(model, tensors)
    steps: list[tuple[Step, Origin]] = []
    for operator in model.operators:
        layer = Layer(operator, tensors, model.reader, numerics)
        outputs = [tensors.names[index] for index in operator.outputs]
        for step in importers.registry()[operator.name](layer):
            _check_step(step, layer)
            layer_name = step.output.name if step.output.name in outputs else outputs[0]
            origin = Origin(file, layer_name)
            steps += [(left, origin) for left in _folded(step, layer, tensors)]
    return _graph(model, tensors, steps, _fixed(model, tensors, steps))


def _folded(step: Step, layer: Layer, tensors: Tensors) -> tuple[Step, ...]:
    """The step; none if its inputs are constants: then its output is one, which layers behind may
    need to be (converters compute shapes so, and weights from narrower ones)."""
    inputs = tuple(map(tensors.with_value, step.inputs))
    values = tuple(tensor.value for tensor in inputs if tensor.value is not None)
    if len(values) < len(inputs):
        return (dataclasses.replace(step, inputs=inputs),)
    operands = Operands(values, tuple(t.type for t in inputs), (step.output.type,))
    try:
        (value,) = budget.evaluated(step.op, step.attrs, operands, layer.where)
    except StatusError as error:
        raise layer.invalid(f"is computed from constants, which fails: {error}") from None
    tensors.define(step.output.name, value)
    return ()


def _check_operators(model: ModelRecord) -> None:
    """Every operator computes something, and the graph has inputs and outputs."""
    file = model.reader.file
    for index, operator in enumerate(model.operators):
        if not operator.outputs:
            raise ModelError(f"operator {index} ({operator.name}) has no output", where=file)
    for kind, found in (
        ("operators", model.operators),
        ("inputs", model.inputs),
        ("outputs", model.outputs),
    ):
        if not found:
            raise ModelError(f"has no {kind}", where=file, hint="give a model that computes")


def _check_order(model: ModelRecord, tensors: Tensors) -> None:
    """Every tensor is known before it is read, and made once: so there is no cycle. Constants and
    variables are known from the start; a variable has one reader at most."""
    constants = {i for i, record in enumerate(model.tensors) if record.is_constant}
    known = constants | {i for i, record in enumerate(model.tensors) if record.is_variable}
    for index in model.inputs:
        if index in known:
            is_variable = model.tensors[index].is_variable
            kind = "a constant" if index in constants else "listed twice"
            kind = "a variable" if is_variable else kind
            raise _impossible(model, tensors, index, f"is an input of the graph, but {kind}")
        known.add(index)
    for operator in model.operators:
        for index in operator.inputs:
            if index != ABSENT and index not in known:
                raise _impossible(
                    model, tensors, index, f"is read by {operator.name} before anything makes it"
                )
        for index in operator.outputs:
            if index in known:
                kind = "a constant" if index in constants else "there already"
                raise _impossible(
                    model, tensors, index, f"is an output of {operator.name}, but {kind}"
                )
            known.add(index)
    _check_variables(model, tensors)
    for index in model.outputs:
        if index not in known:
            raise _impossible(model, tensors, index, "is an output, but nothing makes it")


def _check_variables(model: ModelRecord, tensors: Tensors) -> None:
    read = [i for operator in model.operators for i in operator.inputs if i != ABSENT]
    for index in dict.fromkeys(read):
        if model.tensors[index].is_variable and read.count(index) > 1:
            raise UnsupportedError(
                f'the variable "{short(tensors.names[index])}" has more than one reader',
                where=model.reader.file,
                hint="supported: variables that one operator reads and updates",
            )


def _impossible(model: ModelRecord, tensors: Tensors, index: int, what: str) -> ModelError:
    return ModelError(
        f'tensor "{short(tensors.names[index])}" {what}',
        where=model.reader.file,
        hint="operators must stand in the order in which they run, without cycles",
    )


def _check_step(step: Step, layer: Layer) -> None:
    """What the op computes must be what the file declares."""
    op = registry()[step.op]
    inputs = [tensor.type for tensor in step.inputs]
    output = step.output
    try:
        (shape,) = op.infer(step.attrs, inputs)
    except ValueError as error:
        raise layer.invalid(str(error)) from None
    if shape != output.type.shape:
        raise layer.invalid(
            f'computes the shape {list(shape)}, but its output "{short(output.name)}" is '
            f"declared {output.type}"
        )
    if output.type.nbytes > MAX_BYTES:
        raise layer.invalid(
            f"computes {output.type}, {output.type.nbytes} bytes; at most {MAX_BYTES} are accepted"
        )
    sentence = _in_relay_only(step) or op.check(step.attrs, inputs, [output.type])
    sentence = sentence or _unreachable(step)
    if sentence is not None:
        raise layer.invalid(sentence)


def _unreachable(step: Step) -> str | None:
    """A sentence if a bound of the activation is beyond what TFLite computes with."""
    activation, quant = getattr(step.attrs, "activation", None), step.output.type.quant
    bound = unreachable_bound(activation, quant) if activation and quant else None
    if bound is None or quant is None:
        return None
    return (
        f"the activation's bound {bound:g} is beyond int32 on the output's scale "
        f"{quant.scale[0]:g}, where TFLite does not define it; no value of "
        f"{step.output.type.dtype.value} gets there: leave the bound out"
    )


def _in_relay_only(step: Step) -> str | None:
    """A sentence if the op has int32 there for Relay's sake: LiteRT refuses it."""
    for role, tensor in (("input", step.inputs[0].type), ("output", step.output.type)):
        if step.op in _NEVER_INT32 and tensor.dtype is DType.INT32:
            known = "int8 or int16" if step.op.startswith("qnn.") else "int8 or int16 or float32"
            return f"the {role} is {tensor}; it must be {known}"
    return None


def _fixed(
    model: ModelRecord, tensors: Tensors, steps: list[tuple[Step, Origin]]
) -> dict[str, tuple[int, ...]]:
    """Inputs of the graph that operators read only as parameters, with their only value."""
    fed = {tensors.names[index] for index in model.inputs}
    found: dict[str, tuple[int, ...]] = {}
    for step, origin in steps:
        for tensor, value in step.fixes:
            if tensor.name not in fed:
                raise UnsupportedError(
                    f'needs "{short(tensor.name)}" to be a constant or fed, but it is computed',
                    where=str(origin),
                    hint="convert the model with fixed shapes",
                )
            if found.setdefault(tensor.name, value) != value:
                raise ModelError(
                    f'needs "{short(tensor.name)}" to be {list(value)}, another layer '
                    f"{list(found[tensor.name])}",
                    where=str(origin),
                )
    return found


def _graph(
    model: ModelRecord,
    tensors: Tensors,
    steps: list[tuple[Step, Origin]],
    fixed: dict[str, tuple[int, ...]],
) -> Graph:
    file = model.reader.file
    ports = [_port(tensors, index, file) for index in model.inputs]
    ports += [_port(tensors, index, file) for index in model.outputs]
    used = {
        tensor.name: tensor
        for tensor in (*ports, *(t for step, _ in steps for t in (*step.inputs, step.output)))
    }
    return Graph(
        name=PurePath(file).stem,
        inputs=tuple(tensors.names[index] for index in model.inputs),
        outputs=tuple(tensors.names[index] for index in model.outputs),
        nodes=tuple(
            Node(
                step.op,
                tuple(tensor.name for tensor in step.inputs),
                (step.output.name,),
                step.attrs,
                origin,
            )
            for step, origin in steps
        ),
        types={name: tensor.type for name, tensor in used.items()},
        constants={name: t.value for name, t in used.items() if t.value is not None},
        variables=tuple(name for name, t in used.items() if t.is_variable),
        fixed=fixed,
    )


def _port(tensors: Tensors, index: int, file: str) -> Tensor:
    """An input or output of the graph, which has one scale or none."""
    tensor = tensors.get(index, file)
    quant = tensor.type.quant
    if quant is not None and not quant.is_per_tensor:
        raise UnsupportedError(
            f'"{short(tensor.name)}", an input or output of the graph, has a scale per channel',
            where=file,
            hint="convert the model with one scale for each input and output",
        )
    return tensor


def tensor_names(data: bytes, *, file: str) -> tuple[str, ...]:
    """The graph's name of every tensor, in the file's order."""
    signature.check(data, file)
    return tuple(Tensors(records.read(data, file).tensors).names)


def supported() -> tuple[str, ...]:
    """Names of the operators that have an importer, sorted."""
    return tuple(importers.registry())
