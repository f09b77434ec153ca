"""A TFLite file as plain frozen records. Every index is checked, but nothing is interpreted yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tflite.BuiltinOperator import BuiltinOperator
from tflite.BuiltinOptions2 import BuiltinOptions2
from tflite.CallOnceOptions import CallOnceOptions
from tflite.IfOptions import IfOptions
from tflite.Model import Model
from tflite.StableHLOCompositeOptions import StableHLOCompositeOptions
from tflite.StablehloReduceWindowOptions import StablehloReduceWindowOptions
from tflite.TensorType import TensorType as TensorTypeCode
from tflite.WhileOptions import WhileOptions

from microgen.base.errors import UnsupportedError, few, short
from microgen.frontends.tflite import named_ports, sparsity
from microgen.frontends.tflite.named_ports import NamedPorts
from microgen.frontends.tflite.reader import Reader
from microgen.frontends.tflite.sparsity import SparsityRecord
from microgen.graph.ir.graph import Array

COMPOSITE = "STABLEHLO_COMPOSITE"
CIRCULAR_BUFFER = "CIRCULAR_BUFFER"  # the custom operator of TensorFlow Lite Micro
LIST_WRITE = "LIST_WRITE"  # not an operator of files: ``loops/list_writes.py`` makes it
ABSENT = -1  # an optional input that an operator does not have

# Operator -> its options, the fields that are numbers of subgraphs, and the defaults of these
# fields.
_CALLING: Mapping[str, tuple[Any, tuple[str, ...], tuple[int, ...]]] = {
    "CALL_ONCE": (CallOnceOptions, ("InitSubgraphIndex",), (0,)),
    "IF": (IfOptions, ("ThenSubgraphIndex", "ElseSubgraphIndex"), ()),
    "WHILE": (WhileOptions, ("CondSubgraphIndex", "BodySubgraphIndex"), ()),
}
# The same of operators whose options are in the second union, with one subgraph and no default.
_CALLING_2: Mapping[str, tuple[Any, str]] = {
    COMPOSITE: (StableHLOCompositeOptions, "DecompositionSubgraphIndex"),
    "STABLEHLO_REDUCE_WINDOW": (StablehloReduceWindowOptions, "BodySubgraphIndex"),
}
CONTROLLED = ("IF", "WHILE")  # operators that run graphs of their own
_TENSOR_NAME = 3  # field numbers in schema.fbs
_CUSTOM_CODE = 1
_BUILTIN_CODE = 3
_SIGNATURE_KEY = 2

_OPERATORS = {v: k for k, v in vars(BuiltinOperator).items() if isinstance(v, int)}
_DTYPES = {v: k.lower() for k, v in vars(TensorTypeCode).items() if isinstance(v, int)}
_DTYPES |= {18: "bfloat16", 19: "int2", 20: "uint4"}  # of newer schemas than the package's
_BLOCKWISE = 2  # QuantizationDetails of schema.fbs


@dataclass(frozen=True, slots=True)
class QuantizationRecord:
    """The arrays in the file: float32 scales, int64 zero points."""

    scale: Array
    zero_point: Array
    axis: int
    details: str  # "custom" or "blockwise" if it has such details, else ""


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """One tensor of the file."""

    name: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]  # empty, or the shape with -1 for each dimension that may change
    dtype: str
    quantization: QuantizationRecord | None
    data: Array  # its buffer as uint8, empty unless the tensor is a constant
    is_variable: bool
    sparsity: SparsityRecord | None
    is_empty: bool = False  # a constant without elements, such as the shape [] of a RESHAPE

    @property
    def is_constant(self) -> bool:
        """Whether the file has the tensor's values."""
        return self.data.size > 0 or self.is_empty


@dataclass(frozen=True, slots=True)
class OperatorRecord:
    """One operator."""

    name: str  # the schema's
    custom: str  # a custom operator's own name, or empty
    inputs: tuple[int, ...]  # may be ABSENT
    outputs: tuple[int, ...]
    options_type: int
    table: Any
    intermediates: tuple[int, ...]  # tensors without data, which only have a quantization

    @property
    def key(self) -> str:
        """The key of the operator's importer: ``name``, with the operator's own name after it if it
        is custom."""
        return f"{self.name}:{self.custom}" if self.custom else self.name


@dataclass(frozen=True, slots=True)
class SubgraphRecord:
    """One subgraph: its tensors, its operators in execution order, and the numbers of its inputs
    and outputs among the tensors."""

    tensors: tuple[TensorRecord, ...]
    operators: tuple[OperatorRecord, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FileRecord(SubgraphRecord):
    """The subgraph of the chosen signature. Its inputs and outputs are in the signature's order,
    which may differ from the subgraph's."""

    reader: Reader
    main: int  # the number of that subgraph
    signature: str  # empty if the model has none
    # Other subgraphs that operators run and that composites stand for, by number.
    called: Mapping[int, SubgraphRecord]
    # The next three are set for a network, not for a subgraph that an operator runs: inputs and
    # outputs with their names, and both in the subgraph's order.
    given: NamedPorts = named_ports.UNNAMED
    made: NamedPorts = named_ports.UNNAMED
    listed: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @property
    def labels(self) -> dict[int, str]:
        """The names that tensors get from the signature, by their numbers."""
        return named_ports.labels(self.given, self.made)


def read(data: bytes, file: str, signature: str = "") -> FileRecord:
    """The records of a file whose identifier is right. ``signature`` names one of the model's, by
    default the first. ModelError if the file is malformed, UnsupportedError if it has no such
    signature. Subgraphs that the signature does not reach are not read."""
    reader = Reader(data, file)
    model = reader.root(Model)
    subgraphs = reader.tables(model, "Subgraphs")
    if not subgraphs:
        raise reader.invalid("has no subgraph")
    name, number, table = _chosen(reader, model, signature, len(subgraphs))
    buffers = [_buffer(reader, table) for table in reader.tables(model, "Buffers")]
    codes = [_operator_code(reader, table) for table in reader.tables(model, "OperatorCodes")]
    main = _subgraph(reader, subgraphs[number], buffers, codes)
    # Each subgraph is read once, so subgraphs that run one another do not lead to an endless loop.
    graphs, waiting = {number: main}, [main]
    while waiting:
        for index in (i for each in waiting.pop().operators for i in called_by(reader, each)):
            if 0 <= index < len(subgraphs) and index not in graphs:
                graphs[index] = _subgraph(reader, subgraphs[index], buffers, codes)
                waiting.append(graphs[index])
    given = named_ports.inputs(reader, table, main.inputs)
    made = named_ports.outputs(reader, table, main.outputs)
    return FileRecord(
        *(main.tensors, main.operators, given.tensors, made.tensors, reader, number, name),
        {index: graph for index, graph in graphs.items() if index != number},
        *(given, made, (main.inputs, main.outputs)),
    )


def _chosen(reader: Reader, model: Any, signature: str, subgraphs: int) -> tuple[str, int, Any]:
    """The signature's name, the number of its subgraph, and its table; None without one."""
    signatures = [
        (reader.text(table, _SIGNATURE_KEY), int(reader.get(table, "SubgraphIndex")), table)
        for table in reader.tables(model, "SignatureDefs")
    ]
    if not signatures and not signature:
        return "", 0, None
    names = [f'"{short(name)}"' for name, *_ in signatures]
    chosen = next((own for own in signatures if signature in ("", own[0])), None)
    if chosen is None:
        has = f"its signatures are {few(names)}" if names else "it has no signatures"
        raise UnsupportedError(
            f'has no signature "{short(signature)}"; {has}',
            where=reader.file,
            hint="give one of them with --signature, or leave it out" if names else "leave it out",
            details=names,
        )
    if chosen[1] >= subgraphs:
        raise reader.invalid(f"has a signature for subgraph {chosen[1]}, but there are {subgraphs}")
    return chosen


def called_by(reader: Reader, operator: OperatorRecord) -> tuple[int, ...]:
    """The numbers of the subgraphs that an operator runs, or that a composite stands for; none for
    other operators, and for one of StableHLO without options."""
    if operator.name in _CALLING:
        schema, fields, default = _CALLING[operator.name]
        options = reader.union(operator.table, "BuiltinOptions", schema)
        if options is None:
            return default
        return tuple(int(reader.get(options, field)) for field in fields)
    if operator.name not in _CALLING_2:
        return ()
    schema, field = _CALLING_2[operator.name]
    kind = reader.get(operator.table, "BuiltinOptions2Type")
    if kind != getattr(BuiltinOptions2, schema.__name__):
        return ()
    options = reader.union(operator.table, "BuiltinOptions2", schema)
    return () if options is None else (int(reader.get(options, field)),)


def _subgraph(
    reader: Reader, graph: Any, buffers: list[Array], codes: Sequence[tuple[str, str]]
) -> SubgraphRecord:
    tensors = [_tensor(reader, table, buffers) for table in reader.tables(graph, "Tensors")]
    operators = [
        _operator(reader, index, table, codes, len(tensors))
        for index, table in enumerate(reader.tables(graph, "Operators"))
    ]
    # The outputs of CIRCULAR_BUFFER, variables in the file because it keeps them in place,
    # are tensors like others here.
    kept = {i for each in operators if each.custom == CIRCULAR_BUFFER for i in each.outputs}
    for i in kept:
        tensors[i] = dataclasses.replace(tensors[i], is_variable=False)
    inputs = _tensor_indices(reader, graph, "Inputs", len(tensors), "the graph")
    made = {*inputs, *(i for each in operators for i in each.outputs)}
    for i, tensor in enumerate(tensors):
        # Its buffer has no bytes, so nothing but its shape tells that it is a constant.
        if tensor.shape == (0,) and i not in made and not tensor.is_variable:
            tensors[i] = dataclasses.replace(tensor, is_empty=True)
    return SubgraphRecord(
        tuple(tensors),
        tuple(operators),
        inputs,
        _tensor_indices(reader, graph, "Outputs", len(tensors), "the graph"),
    )


def _buffer(reader: Reader, table: Any) -> Array:
    # Offsets 0 and 1 mean "inside the flatbuffer" (schema.fbs, table Buffer).
    if reader.get(table, "Offset") > 1 or reader.get(table, "Size") > 1:
        raise UnsupportedError(
            "keeps a buffer outside the flatbuffer, as models over 2 GiB do",
            where=reader.file,
            hint="convert the model with its buffers inside",
        )
    return reader.array(table, "Data")


def _tensor(reader: Reader, table: Any, buffers: list[Array]) -> TensorRecord:
    name = reader.text(table, _TENSOR_NAME)
    buffer = reader.get(table, "Buffer")
    if buffer >= len(buffers):
        raise reader.invalid(
            f'tensor "{short(name)}" refers to buffer {buffer}, but there are {len(buffers)}'
        )
    code = reader.get(table, "Type")
    return TensorRecord(
        name,
        reader.integers(table, "Shape"),
        reader.integers(table, "ShapeSignature"),
        _DTYPES.get(code, f"of unknown type {code}"),
        reader.child(table, "Quantization", _quantization),
        buffers[buffer],
        bool(reader.get(table, "IsVariable")),
        reader.child(table, "Sparsity", sparsity.read),
    )


def _quantization(reader: Reader, table: Any) -> QuantizationRecord:
    return QuantizationRecord(
        reader.numbers(table, "Scale"),
        reader.numbers(table, "ZeroPoint"),
        reader.get(table, "QuantizedDimension"),
        _details(reader.get(table, "DetailsType")),
    )


def _details(kind: int) -> str:
    if kind == 0:
        return ""
    return "blockwise" if kind == _BLOCKWISE else "custom"


def _operator_code(reader: Reader, table: Any) -> tuple[str, str]:
    """The operator's name in the schema, and the custom operator's own name."""
    # The greater of both fields is the code. Codes over 127 are in the newer one only, and old
    # files have the older one only. The newer one's accessor ignores values below 127.
    newer = reader.int32(table, _BUILTIN_CODE)
    code = max(newer, reader.get(table, "DeprecatedBuiltinCode"))
    name, custom = _OPERATORS.get(code, f"BUILTIN_{code}"), reader.text(table, _CUSTOM_CODE)
    # LiteRT goes by the code, and some tools give builtin operators a name of their own, too. If
    # the writer of a custom operator left its code out, the code is 0, which means ADD.
    if custom and (name == "CUSTOM" or (code == BuiltinOperator.ADD and custom != name)):
        return "CUSTOM", custom
    return name, ""


def _operator(
    reader: Reader, index: int, table: Any, codes: Sequence[tuple[str, str]], tensors: int
) -> OperatorRecord:
    code = reader.get(table, "OpcodeIndex")
    if code >= len(codes):
        raise reader.invalid(
            f"operator {index} refers to operator code {code}, but there are {len(codes)}"
        )
    name, custom = codes[code]
    owner = f"operator {index} ({name})"
    return OperatorRecord(
        name,
        custom,
        _tensor_indices(reader, table, "Inputs", tensors, owner, lowest=ABSENT),
        _tensor_indices(reader, table, "Outputs", tensors, owner),
        reader.get(table, "BuiltinOptionsType"),
        table,
        _tensor_indices(reader, table, "Intermediates", tensors, owner),
    )


def _tensor_indices(
    reader: Reader, table: Any, name: str, tensors: int, owner: str, *, lowest: int = 0
) -> tuple[int, ...]:
    indices = reader.integers(table, name)
    for index in indices:
        if not lowest <= index < tensors:
            raise reader.invalid(
                f"{owner} has tensor {index} among its {name.lower()}, but there are {tensors}"
            )
    return indices
