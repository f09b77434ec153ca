"""The user's values for a model: sizes of symbolic dimensions (``--dim``), and the values of inputs
that become constants, or of states before the first inference (``--bind``).
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, TensorShapeProto, ValueInfoProto, helper, numpy_helper

from microgen.base.errors import MicrogenError, few, short
from microgen.base.files import content
from microgen.frontends import open_sizes
from microgen.frontends.model_format import Request
from microgen.frontends.onnx import metadata, states, types
from microgen.graph.ir.graph import Array, DType

Dimension = TensorShapeProto.Dimension
_MOST = 2**31 - 1  # bytes of a file
_MOST_ROUNDS = "max_rounds"
_NUMBERS = "loops with their most rounds"
_SAVED = "numpy.save writes such a file"
_HINT = "give a number, a list such as [1,2], true or false, or a file that ends in .npy"


def apply(model: ModelProto, request: Request, file: str) -> bool:
    """Write the user's values into the model. Returns whether there are such values.

    ``dim``: ``NAME=N`` or ``INPUT:AXIS=N``. ``bind``: ``INPUT=FILE.npy`` or ``INPUT=NUMBERS``,
    which is the first value of an input that is a state. ``state``: ``OUT=IN``. ``max_rounds``:
    ``LAYER=N``. Raises MicrogenError for a name that the model does not have, and for a value that
    does not fit.
    """
    kept = states.apply(model, request.state, file)
    for name, text in open_sizes.pairs(request.bind, "--bind", "INPUT=FILE.npy or INPUT=NUMBERS"):
        _bind(model.graph, name, text, file, is_state=name in kept)
    _resize(model.graph, request.dim, file)
    if request.max_rounds:
        before = {**most_rounds(model, file), **open_sizes.rounds(request.max_rounds)}
        metadata.put(model, _MOST_ROUNDS, [f"{name}={n}" for name, n in sorted(before.items())])
    return any((request.dim, request.bind, request.state, request.max_rounds))


def most_rounds(model: ModelProto, file: str) -> Mapping[str, int]:
    """The most rounds of loops that ``--max-rounds`` has given, by the names of the loops. Raises
    ModelError if the model has malformed ones."""
    listed = metadata.of(model, _MOST_ROUNDS, str, _NUMBERS, file)
    try:
        return open_sizes.rounds(listed)
    except MicrogenError:
        raise metadata.malformed(_MOST_ROUNDS, _NUMBERS, file) from None


def symbolic(graph: GraphProto) -> dict[str, list[Dimension]]:
    """The dimensions of inputs that have no size, by the name that ``--dim`` takes."""
    dims: dict[str, list[Dimension]] = {}
    for info in inputs(graph):
        for axis, each in enumerate(info.type.tensor_type.shape.dim):
            if is_symbolic(each):
                dims.setdefault(dim_name(info.name, axis, each), []).append(each)
    return dims


def is_symbolic(dim: Dimension) -> bool:
    """Whether a dimension has no size. Some exporters write -1 for such a dimension."""
    return not dim.HasField("dim_value") or dim.dim_value < 0


def dim_name(tensor: str, axis: int, dim: Dimension) -> str:
    """The spelling of a symbolic dimension in ``--dim``: its name, or, without a name, its input
    and axis."""
    return str(dim.dim_param) or f"{tensor}:{axis}"


def default_sizes(graph: GraphProto) -> Mapping[str, int]:
    """The default sizes of symbolic dimensions. The first dimension of the first input is the
    batch. It has the default size 1, and so do other inputs' first dimensions that have the same
    name or no name.
    """
    firsts = [
        (info.name, dim) for info in inputs(graph) for dim in info.type.tensor_type.shape.dim[:1]
    ]
    names = [dim_name(name, 0, dim) for name, dim in firsts[:1]]
    return dict.fromkeys([*names, *(f"{name}:0" for name, _ in firsts)], 1)


def inputs(graph: GraphProto) -> list[ValueInfoProto]:
    """The inputs of a graph that are not initialisers, which old models list among the inputs."""
    initialised = {proto.name for proto in graph.initializer}
    return [info for info in graph.input if info.name not in initialised]


def _resize(graph: GraphProto, dim: Sequence[str], file: str) -> None:
    known = symbolic(graph)
    for name, size in open_sizes.sizes(dim, known, "symbolic dimension", file).items():
        # Otherwise the declared types of inner tensors would contradict the new sizes.
        for each in itertools.chain(known[name], _others(graph, name)):
            each.dim_value = size


def _others(graph: GraphProto, name: str) -> list[Dimension]:
    """The dimensions of the same name in other tensors."""
    infos = itertools.chain(graph.value_info, graph.output)
    dims = (dim for info in infos for dim in info.type.tensor_type.shape.dim)
    return [dim for dim in dims if dim.dim_param == name]


def _bind(graph: GraphProto, name: str, text: str, file: str, *, is_state: bool) -> None:
    """Make an input an initialiser. A state remains an input, which begins with the value."""
    where = f"{file}: --bind {short(name)}"
    infos = [info for info in graph.input if info.name == name]
    if not infos:
        names = few([f'"{short(info.name)}"' for info in graph.input])
        raise MicrogenError("the model has no such input", where=where, hint=f"it has {names}")
    tensor = infos[0].type.tensor_type
    code = tensor.elem_type
    value = literal(text, types.dtype(code, "the input", where), where)
    if tensor.HasField("shape"):
        _check_shape(tensor.shape, value, where)
    _drop(graph.initializer, name)
    if is_state:
        # Symbolic sizes are those of the value.
        for each, size in zip(tensor.shape.dim, value.shape, strict=False):
            each.dim_value = size
    else:
        _drop(graph.input, name)
    if types.is_half(code):
        with np.errstate(over="ignore"):
            value = value.astype(helper.tensor_dtype_to_np_dtype(code))
    proto = numpy_helper.from_array(value, name)
    graph.initializer.append(proto)


def _drop(entries: Any, name: str) -> None:
    """Remove the entries of a name from the inputs or the initialisers."""
    # From the end, because deleting an entry moves all later entries.
    for i in reversed([i for i, each in enumerate(entries) if each.name == name]):
        del entries[i]


def _check_shape(declared: TensorShapeProto, value: Array, where: str) -> None:
    sizes = [d.dim_value if d.HasField("dim_value") else -1 for d in declared.dim]
    pairs = zip(sizes, value.shape, strict=False)
    if len(sizes) != value.ndim or any(size not in (-1, own) for size, own in pairs):
        shown = [d.dim_param or d.dim_value for d in declared.dim]
        raise MicrogenError(
            f"the value has the shape {list(value.shape)}, and the input {shown}".replace("'", ""),
            where=where,
            hint="give as many numbers, in brackets for each axis: [[1,2],[3,4]]",
        )


# Values on the command line: numbers, nested lists of them, or a ``.npy`` file.


def literal(text: str, dtype: DType, where: str) -> Array:
    """The array that a text denotes. Raises MicrogenError if the text is not an array of that
    dtype.
    """
    return _of_file(text, dtype, where) if text.endswith(".npy") else _of_json(text, dtype, where)


def _of_file(text: str, dtype: DType, where: str) -> Array:
    try:
        data = content(Path(text), "a file that numpy.save wrote", _MOST)
        values: Array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except MicrogenError as error:
        raise MicrogenError(f"{text}: {error.what}", where=where, hint=_SAVED) from None
    except (OSError, ValueError, EOFError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(f"{text} cannot be read: {reason}", where=where, hint=_SAVED) from None
    # Files may be of either byte order; the graph's arrays are little-endian.
    if values.dtype.newbyteorder("<") != dtype.numpy:
        raise MicrogenError(
            f"{text} is of {values.dtype}, and the input of {dtype.value}",
            where=where,
            hint=f"save array.astype(numpy.{dtype.numpy.name})",
        )
    return values.astype(dtype.numpy)


def _of_json(text: str, dtype: DType, where: str) -> Array:
    try:
        parsed: Any = json.loads(text)
        kinds = np.asarray(parsed)
    except ValueError:
        raise MicrogenError(f"{short(text)!r} is not a value", where=where, hint=_HINT) from None
    if not _fits(kinds, dtype):
        raise MicrogenError(
            f"{short(text)!r} is not of the input's type {dtype.value}", where=where, hint=_HINT
        )
    return kinds.astype(dtype.numpy)


def _fits(array: Array, dtype: DType) -> bool:
    """Whether numbers may be converted to a dtype: integers to floats, but not the reverse."""
    if not array.size:
        return True
    if dtype is DType.BOOL or array.dtype.kind == "b":
        return dtype is DType.BOOL and array.dtype.kind == "b"
    if dtype is DType.FLOAT32:
        return array.dtype.kind in "iuf"
    info = np.iinfo(dtype.numpy)
    is_within = array.dtype.kind in "iu" and info.min <= array.min() and array.max() <= info.max
    return bool(is_within)
