"""Reasons to refuse a network as a whole. Each is reported once for all its layers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from microgen.base.errors import UnsupportedError, few, short
from microgen.frontends.numerics import Numerics
from microgen.frontends.tflite import importers, quantization
from microgen.frontends.tflite.constants import SMALL
from microgen.frontends.tflite.records import FileRecord, OperatorRecord
from microgen.frontends.tflite.tensors import CONVERT, NODE_DTYPES, conversion
from microgen.frontends.tflite.variables import RESOURCE, WITH_HANDLES

# Custom operators that are commands for an NPU: the NPU, and the compiler that wrote them.
_NPUS = {
    "edgetpu-custom-op": ("an Edge TPU", "edgetpu_compiler"),
    "ethos-u": ("an Ethos-U NPU", "vela"),
    "NeutronGraph": ("an eIQ Neutron NPU", "the Neutron converter"),
}
_INSTEAD = dict.fromkeys(("IF", "WHILE"), "convert the model with its branches and loops unrolled")
_INT4_READERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "DEQUANTIZE", "FULLY_CONNECTED")
_FLEX = "convert the model without SELECT_TF_OPS"
_LISTS = 'CUSTOM "FlexTensorList'  # of recurrent layers, for each time step
_UNROLL = (
    "fix the batch (Input(batch_shape=(1, ...))), then make the recurrent layers with unroll=True"
)


def check(model: FileRecord, names: Sequence[str], numerics: Numerics) -> None:
    """Raise UnsupportedError for operators without an importer, dtypes that no operator here
    supports, uint8 in operators that lack it, and int16 operators that the profile lacks. ``names``
    are the names of the tensors."""
    layers = [_layer(index, operator, names) for index, operator in enumerate(model.operators)]
    # Commands of an NPU are custom operators, which would be reported as missing ones otherwise.
    _check_npu(model, layers)
    _check_operators(model, layers)
    _check_dtypes(model, layers)
    _check_unsigned(model, layers, numerics)
    _check_profile(model, layers, numerics)


def _called(operator: OperatorRecord) -> str:
    """An operator's name, followed by the own name of a custom operator."""
    return f'CUSTOM "{short(operator.custom)}"' if operator.name == "CUSTOM" else operator.name


def _layer(index: int, operator: OperatorRecord, names: Sequence[str]) -> str:
    """A layer in quotes: its first output's name, or its number if it has no output."""
    return f'"{short(names[operator.outputs[0]])}"' if operator.outputs else f"operator {index}"


def _check_npu(model: FileRecord, layers: Sequence[str]) -> None:
    for layer, operator in zip(layers, model.operators, strict=True):
        if operator.custom in _NPUS:
            npu, compiler = _NPUS[operator.custom]
            raise UnsupportedError(
                f"was compiled for {npu}: layer {layer} is {_called(operator)}, which contains "
                "commands of that NPU",
                where=model.reader.file,
                hint=f"give the file that was the input of the NPU's compiler ({compiler})",
            )


def _check_operators(model: FileRecord, layers: Sequence[str]) -> None:
    known = importers.registry()
    lacking: dict[str, list[str]] = {}
    for layer, operator in zip(layers, model.operators, strict=True):
        if operator.key not in known:
            lacking.setdefault(_called(operator), []).append(layer)
    if lacking:
        raise UnsupportedError(
            f"has operators that are not supported: {_by_layers(lacking)}",
            where=model.reader.file,
            hint=_instead(lacking),
            details=[*_details(lacking), f"supported: {', '.join(known)}"],
        )


def _instead(lacking: Iterable[str]) -> str:
    """The advice for the first operator that has its own advice."""
    lacking = list(lacking)
    # Lists of tensors come first, because the loops around them go with them.
    if any(name.startswith(_LISTS) for name in lacking):
        return _UNROLL
    for name in lacking:
        if name in _INSTEAD:
            return _INSTEAD[name]
        if name.startswith('CUSTOM "Flex'):
            return _FLEX
    return "build the model from other operators; `microgen ops` lists them"


def _check_dtypes(model: FileRecord, layers: Sequence[str]) -> None:
    found: dict[str, list[str]] = {}
    densified = {i for each in model.operators if each.name == "DENSIFY" for i in each.outputs}
    for layer, operator in zip(layers, model.operators, strict=True):
        for dtype in _odd_dtypes(model, operator, densified):
            found.setdefault(dtype, []).append(f"{layer} ({operator.name})")
    if found:
        raise UnsupportedError(
            f"has dtypes that are not supported: {_by_layers(found)}",
            where=model.reader.file,
            hint=conversion(found),
            details=[*_details(found), f"supported: {', '.join(NODE_DTYPES)}"],
        )


def _check_unsigned(model: FileRecord, layers: Sequence[str], numerics: Numerics) -> None:
    exact = quantization.EXACT if numerics.computes_uint8 else quantization.CONVERSIONS
    found: dict[str, list[str]] = {}
    for layer, operator in zip(layers, model.operators, strict=True):
        what = quantization.lacks(operator, model.tensors, exact)
        if what:
            found.setdefault(what, []).append(layer)
    if found:
        raise UnsupportedError(
            f"computes in uint8, which these operators lack: {_by_layers(found)}",
            where=model.reader.file,
            hint=CONVERT if numerics.computes_uint8 else "generate with --numerics litert",
            details=[*_details(found), f"supported: {', '.join(sorted(exact))}"],
        )


def _check_profile(model: FileRecord, layers: Sequence[str], numerics: Numerics) -> None:
    found: dict[str, list[str]] = {}
    for layer, operator in zip(layers, model.operators, strict=True):
        used = {model.tensors[index].dtype for index in operator.inputs if index >= 0}
        if operator.name in numerics.lacks_int16 and "int16" in used:
            found.setdefault(operator.name, []).append(layer)
    if found:
        raise UnsupportedError(
            f"has int16 operators that --numerics {numerics.name} cannot compute exactly: "
            f"{_by_layers(found)}",
            where=model.reader.file,
            hint="generate with --numerics litert",
            details=_details(found),
        )


def _odd_dtypes(
    model: FileRecord, operator: OperatorRecord, densified: Container[int]
) -> list[str]:
    """The unsupported dtypes among an operator's tensors. Constants may have further ones, and so
    may ``densified``, the tensors that DENSIFY makes of constants, and handles of variables."""
    used = [i for i in (*operator.inputs, *operator.outputs) if i >= 0]
    small = {i for i in used if model.tensors[i].is_constant or i in densified}
    dtypes = (
        model.tensors[i].dtype
        for i in used
        if i not in small or not _is_known(operator, model.tensors[i].dtype)
    )
    handles = (RESOURCE,) if operator.name in WITH_HANDLES else ()
    return [d for d in dict.fromkeys(dtypes) if d not in NODE_DTYPES and d not in handles]


def _is_known(operator: OperatorRecord, dtype: str) -> bool:
    """Whether the operator's constants may have this dtype, which no other tensor has."""
    return dtype in SMALL and (dtype != "int4" or operator.name in _INT4_READERS)


def _by_layers(found: Mapping[str, Sequence[str]]) -> str:
    return few([f"{what} in {_count(layers)}" for what, layers in found.items()])


def _count(layers: Sequence[str]) -> str:
    return layers[0] if len(layers) == 1 else f"{len(layers)} layers, first {layers[0]}"


def _details(found: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{what}: {layer}" for what, layers in found.items() for layer in layers]
