"""Reasons to refuse a network as a whole. Each is reported once for all its layers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from microgen.base.errors import UnsupportedError, few, short
from microgen.frontends.numerics import Numerics
from microgen.frontends.tflite import importers, quantization
from microgen.frontends.tflite import lacking as reasons
from microgen.frontends.tflite.constants import SMALL
from microgen.frontends.tflite.records import FileRecord, OperatorRecord
from microgen.frontends.tflite.tensors import CASTS, CONVERT, NODE_DTYPES, conversion
from microgen.frontends.tflite.variables import RESOURCE, WITH_HANDLES

# Custom operators that only an NPU runs, by the begins of their names: the NPU, and the compiler
# that wrote them.
_NPUS = {
    "DISPATCH_OP": ("an NPU", "LiteRT's ahead-of-time compiler"),  # in its metadata: which NPU
    "MTKEXT_": ("a MediaTek NPU", "the NeuroPilot converter"),
    "edgetpu-custom-op": ("an Edge TPU", "edgetpu_compiler"),
    "ethos-u": ("an Ethos-U NPU", "vela"),
    "NeutronGraph": ("an eIQ Neutron NPU", "the Neutron converter"),
}
_INT4_READERS = (
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "DEQUANTIZE",
    "EMBEDDING_LOOKUP",
    "FULLY_CONNECTED",
)
_ADVICE = ("convert", "use")
_OTHERS = "build the model from other operators; `microgen ops` lists them"
_FLEX = "convert the model without SELECT_TF_OPS"
_LISTS = 'CUSTOM "FlexTensorList'  # of recurrent layers, for each time step
_UNROLL = (
    "fix the batch (Input(batch_shape=(1, ...))), then make the recurrent layers with unroll=True"
)


def check(model: FileRecord, names: Sequence[str], numerics: Numerics) -> None:
    """Raise UnsupportedError for operators without an importer, dtypes that no operator here
    supports, uint8 in operators that lack it, and int16 operators that the profile lacks. ``names``
    are the names of the tensors."""
    layers = _Layers(model, names)
    # A network is refused for one reason at a time, so a reason that explains others comes first.
    # Commands of an NPU are custom operators, which would be reported as missing ones otherwise.
    _check_npu(layers)
    _check_operators(layers)
    _check_dtypes(layers)
    _check_unsigned(layers, numerics)
    _check_profile(layers, numerics)


class _Layers:
    """The operators of a model in order, each with its layer in quotes. The layer is the operator's
    first output, or its number if it has no output."""

    def __init__(self, model: FileRecord, names: Sequence[str]) -> None:
        self.model = model
        self.pairs = [
            (f'"{short(names[each.outputs[0]])}"' if each.outputs else f"operator {index}", each)
            for index, each in enumerate(model.operators)
        ]

    def lacking(self, parts: Callable[[OperatorRecord], Iterable[str]]) -> dict[str, list[str]]:
        """Unsupported part -> the layers that have it. ``parts`` gives the parts of an operator."""
        by_part: dict[str, list[str]] = {}
        for layer, operator in self.pairs:
            for part in parts(operator):
                by_part.setdefault(part, []).append(layer)
        return by_part

    def refusal(
        self, what: str, lacking: Mapping[str, Sequence[str]], hint: str, supported: Iterable[str]
    ) -> UnsupportedError:
        """The error for unsupported parts, with all their layers as details."""
        parts = [f"{part} in {_count(layers)}" for part, layers in lacking.items()]
        details = [f"{part}: {layer}" for part, layers in lacking.items() for layer in layers]
        known = ", ".join(supported)
        return UnsupportedError(
            f"{what}: {few(parts)}",
            where=self.model.reader.file,
            hint=hint,
            details=[*details, f"supported: {known}"] if known else details,
        )


def _called(operator: OperatorRecord) -> str:
    """An operator's name, followed by the own name of a custom operator."""
    return f'CUSTOM "{short(operator.custom)}"' if operator.name == "CUSTOM" else operator.name


def _check_npu(layers: _Layers) -> None:
    for layer, operator in layers.pairs:
        prefix = next((each for each in _NPUS if operator.custom.startswith(each)), None)
        if prefix is not None:
            npu, compiler = _NPUS[prefix]
            raise UnsupportedError(
                f"was compiled for {npu}: layer {layer} is {_called(operator)}, which only that "
                "NPU runs",
                where=layers.model.reader.file,
                hint=f"give the file that was the input of the NPU's compiler ({compiler})",
            )


def _check_operators(layers: _Layers) -> None:
    known = importers.registry()
    lacking = layers.lacking(lambda each: [] if each.key in known else [_called(each)])
    if lacking:
        what, hint = "has operators that are not supported", _instead(lacking)
        raise layers.refusal(what, lacking, hint, importers.supported())


def _instead(lacking: Iterable[str]) -> str:
    """The advice for the first operator that has its own advice."""
    lacking = list(lacking)
    # Lists of tensors come first, because the loops around them go with them.
    if any(name.startswith(_LISTS) for name in lacking):
        return _UNROLL
    for name in lacking:
        if name.startswith('CUSTOM "Flex'):
            return _FLEX
        if reasons.reason(name).startswith(_ADVICE):
            return reasons.reason(name)
    # One line has no room for several reasons.
    reason = reasons.reason(lacking[0]) if len(lacking) == 1 else ""
    return f"{reason}; {_OTHERS}" if reason else _OTHERS


def _check_dtypes(layers: _Layers) -> None:
    model, by_dtype = layers.model, dict[str, list[str]]()
    densified = {i for each in model.operators if each.name == "DENSIFY" for i in each.outputs}
    for layer, operator in layers.pairs:
        for dtype in _odd_dtypes(model, operator, densified):
            by_dtype.setdefault(dtype, []).append(f"{layer} ({operator.name})")
    if by_dtype:
        what = "has dtypes that are not supported"
        raise layers.refusal(what, by_dtype, conversion(by_dtype), NODE_DTYPES)


def _check_unsigned(layers: _Layers, numerics: Numerics) -> None:
    exact = quantization.EXACT if numerics.computes_uint8 else quantization.CONVERSIONS
    lacking = layers.lacking(lambda each: quantization.lacks(each, layers.model.tensors, exact))
    if lacking:
        what = "computes in uint8, which these operators lack"
        hint = CONVERT if numerics.computes_uint8 else "generate with --numerics litert"
        raise layers.refusal(what, lacking, hint, sorted(exact))


def _check_profile(layers: _Layers, numerics: Numerics) -> None:
    tensors = layers.model.tensors

    def lacks(operator: OperatorRecord) -> list[str]:
        used = {tensors[index].dtype for index in operator.inputs if index >= 0}
        return [operator.name] if operator.name in numerics.lacks_int16 and "int16" in used else []

    lacking = layers.lacking(lacks)
    if lacking:
        what = f"has int16 operators that --numerics {numerics.name} cannot compute exactly"
        raise layers.refusal(what, lacking, "generate with --numerics litert", ())


def _odd_dtypes(
    model: FileRecord, operator: OperatorRecord, densified: Container[int]
) -> list[str]:
    """The unsupported dtypes among an operator's tensors."""
    # Constants may have further dtypes, and so may the tensors that DENSIFY makes of constants.
    used = [i for i in (*operator.inputs, *operator.outputs) if i >= 0]
    small = {i for i in used if model.tensors[i].is_constant or i in densified}
    dtypes = (
        model.tensors[i].dtype
        for i in used
        if i not in small or not _is_known(operator, model.tensors[i].dtype)
    )
    # Handles of variables are not tensors of the graph.
    handles = (RESOURCE,) if operator.name in WITH_HANDLES else ()
    own = (*handles, *(CASTS if operator.name == "CAST" else ()))
    return [d for d in dict.fromkeys(dtypes) if d not in NODE_DTYPES and d not in own]


def _is_known(operator: OperatorRecord, dtype: str) -> bool:
    """Whether the operator's constants may have a dtype that other tensors may not have."""
    return dtype in SMALL and (dtype != "int4" or operator.name in _INT4_READERS)


def _count(layers: Sequence[str]) -> str:
    return layers[0] if len(layers) == 1 else f"{len(layers)} layers, first {layers[0]}"
