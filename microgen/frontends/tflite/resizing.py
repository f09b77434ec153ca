"""Sizes that a file leaves open: -1 in the shape signature of an input.

A converter that does not know a size writes -1 into the signature and 1 into the shape. A firmware
needs the size 1 for the batch, dimension 0. Every other open size has to be given. A given size is
written into the file, so the project's copy of the model has it, and so do the runtimes that are
compared with the firmware.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tflite.Model import Model

from microgen.base.errors import ModelError, UnsupportedError, few, short
from microgen.frontends import open_sizes
from microgen.frontends.tflite import records, signature
from microgen.frontends.tflite.reader import Reader
from microgen.frontends.tflite.records import FileRecord
from microgen.graph.ir.graph import Array

BATCH = "batch"  # its name in ``--dim``, for all inputs together

Place = tuple[int, int]  # the number of a tensor, and an axis


def resized(data: bytes, file: str, dim: Sequence[str], network: str) -> bytes:
    """The file with the sizes ``dim`` (``batch=N`` or ``INPUT:AXIS=N``) of the signature called
    ``network``, by default the first. MicrogenError for a size that the file does not leave open;
    ModelError if the file is malformed, or one vector is the shape of several tensors."""
    signature.check(data, file)
    model = records.read(data, file, network)
    known = open_places(model)
    sizes = open_sizes.sizes(_by_name(model, dim, known), known, "open size", file)
    changes = {place: size for name, size in sizes.items() for place in known[name]}
    written = bytearray(data)
    for (tensor, axis), size in changes.items():
        for vector in _vectors(written, file, model.main, tensor):
            vector[axis] = size
    _check_others(model, records.read(bytes(written), file, network), changes)
    return bytes(written)


def open_places(model: FileRecord) -> dict[str, list[Place]]:
    """The open dimensions of the inputs by their names in ``--dim``."""
    places: dict[str, list[Place]] = {}
    labels = model.labels
    for index in model.inputs:
        record = model.tensors[index]
        for axis, size in enumerate(record.signature):
            if size < 0:
                name = f"{labels.get(index, record.name)}:{axis}" if axis else BATCH
                places.setdefault(name, []).append((index, axis))
    return places


def _by_name(model: FileRecord, dim: Sequence[str], known: Mapping[str, object]) -> list[str]:
    """``dim`` with the inputs' names in ``known`` instead of their tensors' names."""
    others = {
        f"{model.tensors[index].name}:{axis}": name
        for name, places in open_places(model).items()
        for index, axis in places
        if axis
    }
    found = []
    for text in dim:
        name, equals, size = text.rpartition("=")
        own = name if name in known else others.get(name, name)
        found.append(f"{own}{equals}{size}")
    return found


def check(model: FileRecord) -> None:
    """Raise UnsupportedError unless every open size but the batch is known."""
    # Somebody has chosen a size other than 1: LiteRT runs the file with it.
    missing = [
        name
        for name, places in open_places(model).items()
        if name != BATCH
        and any(model.tensors[i].shape[axis : axis + 1] == (1,) for i, axis in places)
    ]
    if missing:
        names = few([f'"{short(name)}"' for name in missing])
        raise UnsupportedError(
            f"its inputs leave the size{'s' * (len(missing) > 1)} {names} open",
            where=model.reader.file,
            hint=f"give sizes: {' '.join(f'--dim {short(name)}=N' for name in missing[:4])}",
        )


def _vectors(data: bytearray, file: str, subgraph: int, tensor: int) -> list[Array]:
    """The shape of a tensor and its signature, as views of the file."""
    # The accessors make views of the data, and views of a bytearray can be written.
    reader = Reader(data, file)
    graph = reader.tables(reader.root(Model), "Subgraphs")[subgraph]
    table = reader.table(reader.get(graph, "Tensors", tensor))
    return [reader.array(table, name) for name in ("Shape", "ShapeSignature")]


def _check_others(before: FileRecord, after: FileRecord, changes: dict[Place, int]) -> None:
    """Raise ModelError if the new sizes have changed the shape of another tensor."""
    # A file may store equal vectors once. Computed tensors get inferred shapes, so only the shapes
    # of inputs and constants matter.
    given = {
        i for i, tensor in enumerate(before.tensors) if tensor.is_constant or tensor.is_variable
    }
    for index in given.union(before.inputs):
        shape = list(before.tensors[index].shape)
        for (tensor, axis), size in changes.items():
            if tensor == index:
                shape[axis] = size
        if after.tensors[index].shape != tuple(shape):
            raise ModelError(
                f'stores the shape of "{short(before.tensors[index].name)}" together with an '
                "input's, so that --dim would change both",
                where=before.reader.file,
                hint="convert the model with the sizes that it shall have",
            )
