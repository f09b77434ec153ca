"""The oracles of ``.tflite`` files, and the signatures that they run. LiteRT gives every layer's
output from its reference kernels; ``micro`` has the other oracle.
"""

from __future__ import annotations

import abc
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from microgen.frontends.model_format import OracleError
from microgen.frontends.tflite import reader, records, signature
from microgen.frontends.tflite.quantization import DETECTION
from microgen.frontends.tflite.records import (
    ABSENT,
    CONTROLLED,
    FileRecord,
    OperatorRecord,
    TensorRecord,
)
from microgen.frontends.tflite.tensors import FileTensors
from microgen.frontends.tflite.variables import RESOURCE
from microgen.graph.ir.beside import Leeway, Slack
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.balls import Ball, spacing
from microgen.graph.ops.base import Inexact
from microgen.graph.ops.quantization.conversions import QuantizeAttrs
from microgen.graph.ops.recurrent import recurrent_hybrid
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs, farther
from microgen.graph.ops.recurrent.recurrent_hybrid import RecurrentHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import ActivationFormula


@dataclass(frozen=True, slots=True)
class UnwrittenRows:
    """The rows that LiteRT leaves unwritten in an output [1, n, ...] of
    TFLite_Detection_PostProcess. They keep old contents of the memory."""

    number: int  # the tensor with the number of detections
    each: int  # rows of a detection
    written: int  # of these, the first ones have values

    def settled(self, value: Array, count: int) -> Array:
        """The output of ``count`` detections, with zeros for unwritten elements."""
        # microgen's firmware writes zeros there, so both are equal.
        row = np.arange(value.shape[1])
        has_value = (row // self.each < count) & (row % self.each < self.written)
        return np.where(has_value.reshape(1, -1, *[1] * (value.ndim - 2)), value, 0)


def _unwritten(model: FileRecord) -> Mapping[int, UnwrittenRows]:
    """The outputs that have such rows, by the numbers of their tensors."""
    unwritten: dict[int, UnwrittenRows] = {}
    for operator in model.operators:
        if operator.key == DETECTION and len(operator.outputs) == 4:
            unwritten |= dict.fromkeys(operator.outputs[:3], _rows(model, operator))
    return unwritten


def _rows(model: FileRecord, operator: OperatorRecord) -> UnwrittenRows:
    """The unwritten rows of a detection's outputs. Raises CORRUPT if its options are corrupt, which
    its importer has refused."""
    options = reader.flexbuffer(model.reader.array(operator.table, "CustomOptions").tobytes())
    number = operator.outputs[3]
    if reader.optional(options, "use_regular_nms", "AsBool", 0):
        return UnwrittenRows(number, 1, 1)
    each, classes = (
        int(options[name].AsInt) for name in ("max_classes_per_detection", "num_classes")
    )
    return UnwrittenRows(number, each, min(each, classes))


@dataclass(frozen=True, slots=True)
class FileSignature:
    """A signature of a model, and the tensors of its subgraph that an oracle can read."""

    name: str  # empty if the model has no signatures
    subgraph: int  # its number
    inputs: tuple[int, ...]  # their numbers among the subgraph's tensors, in the graph's order
    places: tuple[int, ...]  # the place of each among the subgraph's inputs
    # Numbers of computed tensors that have values; handles of variables have no values.
    tensors: frozenset[int]
    # (number of a tensor, its value) -> the values of the graph's tensors that represent it, by
    # name.
    in_graph: Callable[[int, Array], dict[str, Array]]
    unwritten: Mapping[int, UnwrittenRows]
    # The variables of loops' bodies: numbers of a subgraph and a tensor, and the value.
    inner: tuple[tuple[int, int, int], ...]

    def values(self, tensor: Callable[[int], Array | None]) -> Iterator[tuple[str, Array]]:
        """The graph's tensors. ``tensor`` gives the value of a tensor of the file, or None."""
        for index in sorted(self.tensors):
            value, rows = tensor(index), self.unwritten.get(index)
            if value is not None and rows is not None:
                count = tensor(rows.number)
                assert count is not None, "the operator that writes the rows writes their number"
                value = rows.settled(value, int(count[0]))
            if value is not None:
                yield from self.in_graph(index, value).items()


def _signature(data: bytes, name: str) -> FileSignature:
    """The signature called ``name``, by default the first. Raises the errors of ``load``."""
    file = "the model"
    signature.check(data, file)
    model = records.read(data, file, name)
    tensors = FileTensors(model.tensors, model.inputs, model.outputs, model.labels)
    made = {index for operator in model.operators for index in operator.outputs}
    made |= {*model.inputs, *model.outputs}
    made |= {index for index, record in enumerate(model.tensors) if record.is_variable}
    # LiteRT does not write outputs of loops and branches that nothing reads.
    read = {index for operator in model.operators for index in operator.inputs}
    inner = {i for each in model.operators if each.name in CONTROLLED for i in each.outputs}
    made -= inner - read - {*model.outputs}
    valued = frozenset(i for i in made - {ABSENT} if model.tensors[i].dtype != RESOURCE)
    place = {index: place for place, index in enumerate(model.listed[0])}
    places = tuple(place[index] for index in model.inputs)
    return FileSignature(
        *(model.signature, model.main, model.inputs, places),
        *(valued, tensors.in_graph, _unwritten(model), _inner_variables(model)),
    )


def _inner_variables(model: FileRecord) -> tuple[tuple[int, int, int], ...]:
    found = [
        (number, index, tensor)
        for number, graph in model.called.items()
        for index, tensor in enumerate(graph.tensors)
        if tensor.is_variable
    ]
    return tuple((number, index, _zero(tensor)) for number, index, tensor in found)


def _zero(tensor: TensorRecord) -> int:
    stored = tensor.quantization
    return int(stored.zero_point[0]) if stored is not None and stored.zero_point.size else 0


@dataclass(frozen=True)
class Interpreter(abc.ABC):
    """An oracle that interprets flatbuffers. ``signature`` names a signature of the model, by
    default the first."""

    signature: str = ""
    name: ClassVar[str]
    kernels: ClassVar[str]
    profile: ClassVar[str]
    is_apart: ClassVar[bool]
    package: ClassVar[str]
    refusals: ClassVar[tuple[type[Exception], ...]] = (RuntimeError, ValueError)

    def lacking(self) -> str:
        """A sentence if the package is not installed; otherwise empty."""
        if importlib.util.find_spec(self.package.replace("-", "_")) is None:
            return f"{self.package} is not installed (pip install {self.package})"
        return ""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """Every tensor that something uses, for each sample. OracleError if the runtime refuses the
        model."""
        (model,) = files.values()
        record = _signature(model, self.signature)
        try:
            for tensor in self._runs(model, record, samples):
                yield dict(record.values(tensor))
        # LiteRT, for example, has no reference ELU, and refuses square roots of negative values.
        except self.refusals as error:
            raise OracleError(f"{self.name} refuses: {self._reason(error)}") from error

    @abc.abstractmethod
    def _runs(
        self, model: bytes, record: FileSignature, samples: Sequence[Sequence[Array]]
    ) -> Iterator[Callable[[int], Array | None]]:
        """Runs the samples. Yields after each sample a function from a tensor's number to its
        value."""

    def _reason(self, error: Exception) -> str:
        return " ".join(str(error).split())[:200]

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The error that the kernels may have in addition to the op's bound."""
        # Only the kernels of the float logistic have such an error, the same in both runtimes.
        del files, graph
        return slack


def slack(node: Node, inexact: Inexact) -> Leeway:
    """The slack of a node."""
    if isinstance(node.attrs, RecurrentHybridAttrs):
        return Leeway(recurrent_hybrid.farther(node.attrs, inexact, _off))
    if isinstance(node.attrs, RecurrentAttrs):
        return Leeway(farther(node.attrs, inexact, _off))
    if isinstance(node.attrs, QuantizeAttrs):
        return _beyond_int32(inexact)
    # TFLite reference/logistic.h gives exp(x) below -9, and 1 above 16.6.
    (data, *_) = inexact.operands.inputs
    if node.op != "sigmoid" or data.dtype.kind != "f":
        return Leeway()
    wide = data.astype(np.float64)
    with np.errstate(over="ignore"):
        # exp(x) less the logistic function is below exp(2 x), and the function is within 2**-23 of
        # 1 above 16.
        low = np.exp(np.minimum(2 * wide, 0))
    return Leeway(np.where(wide < -9, low, np.where(wide > 16, 2.0**-23, 0)))


# The quotient of a number that LiteRT quantizes is less, so that the sum with a zero point is an
# int32, too.
_MOST = 2.0**31 - 2.0**16


def _beyond_int32(inexact: Inexact) -> Leeway:
    """The leeway of the floats for which AffineQuantize of TFLite reference/quantize.h is
    undefined. On x86 each becomes the least int32, to which the zero point is added with
    overflow; ARM saturates."""
    output = inexact.operands.output_types[0]
    with np.errstate(over="ignore"):
        quotients = np.abs(inexact.operands.inputs[0] / np.float32(output.scale))
    departs = ~(quotients < _MOST)  # NaN is not less
    if not departs.any():
        return Leeway()
    return Leeway(departs=departs, why="C leaves NaN and numbers beyond int32 undefined")


def _off(function: ActivationFormula, result: Ball) -> Array | float:
    """The error of a function of a recurrent layer."""
    # Measured with ai-edge-litert 2.3.0: tanh of RNN operators is Eigen's, which is up to 5.5 ulps
    # off at 2 million points from -10 to 10. The op's bound already allows TANH_ULPS.
    return 4 * spacing(np.abs(result.value)) if function.name == "tanh" else 0.0


class LiteRT(Interpreter):
    """ai-edge-litert, on one thread."""

    name = "LiteRT"
    kernels = "BUILTIN_REF"
    profile = "litert"
    is_apart = False
    package = "ai-edge-litert"

    def _runs(
        self, model: bytes, record: FileSignature, samples: Sequence[Sequence[Array]]
    ) -> Iterator[Callable[[int], Array | None]]:
        # A new interpreter, because nothing else resets resource variables. The samples are one
        # sequence.
        interpreter = _interpreter(model)

        def tensor(index: int) -> Array | None:
            try:
                value: Array = interpreter.get_tensor(index, record.subgraph)
            except ValueError:  # it has no data, because nothing uses it
                return None
            return value

        for sample in samples:
            _reset(interpreter, record)
            _invoke(interpreter, record, sample)
            yield tensor


def _interpreter(model: bytes) -> Any:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    make: Any = Interpreter  # the package has no annotations
    interpreter = make(
        model_content=model,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    return interpreter


def _reset(interpreter: Any, record: FileSignature) -> None:
    """Set the variables of loops' bodies to zero, as LiteRT does by itself before it runs a loop
    unless it preserves all tensors."""
    for subgraph, index, zero in record.inner:
        try:
            value = np.full_like(interpreter.get_tensor(index, subgraph), zero)
        except ValueError:  # nothing runs its subgraph
            continue
        # The method of the package that takes a subgraph is not public.
        interpreter._interpreter.SetTensor(index, value, subgraph)


def _invoke(interpreter: Any, record: FileSignature, sample: Sequence[Array]) -> None:
    # The interpreter invokes subgraph 0; the others can be run by their signatures only.
    if record.subgraph == 0:
        for index, array in zip(record.inputs, sample, strict=True):
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        return
    runner = interpreter.get_signature_runner(record.name)
    arrays = dict(zip(record.inputs, sample, strict=True))
    details = runner.get_input_details().items()
    if not {detail["index"] for _, detail in details} <= arrays.keys():
        raise ValueError("its signature has other inputs than its network")
    runner(**{name: arrays[detail["index"]] for name, detail in details})
