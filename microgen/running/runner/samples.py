"""Samples: conversion of arrays to the firmware's raw bytes and back."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from microgen.base.errors import InputError
from microgen.base.files import whole
from microgen.base.manifest import Manifest, ModuleRecord, PortRecord
from microgen.graph.ir.graph import Array, DType

# A firmware has no code to print floats, so main prints these dtypes as words.
_WORDS = ("float32", "uint32", "int64", "uint64")
_LINE = re.compile(r"^(microgen: output [^\n]* =)((?: 0x[0-9a-f]{8})+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Batch:
    """``count`` samples in ``data``, one after the other: the raw bytes of every input in order.

    ``stacked``: the arrays had a leading axis of ``count``.
    """

    count: int
    stacked: bool
    data: bytes


def save(path: Path, outputs: Mapping[str, Array]) -> None:
    """Write arrays as an ``.npz`` file, in their order, completely or not at all. Raises InputError
    if that fails."""
    try:
        # numpy.savez takes names as keywords, which may clash with its own parameters.
        with whole(path) as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in outputs.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from error


def inputs(manifest: Manifest) -> list[PortRecord]:
    """The inputs of all models in order; if there are several, with names ``<module>.<tensor>``."""
    return [p for m in manifest.modules for p in _named_ports(manifest, m, "inputs")]


def outputs(manifest: Manifest) -> list[PortRecord]:
    """The outputs, named as in ``inputs``."""
    return [p for m in manifest.modules for p in _named_ports(manifest, m, "outputs")]


def _named_ports(manifest: Manifest, module: ModuleRecord, kind: str) -> list[PortRecord]:
    ports: Sequence[PortRecord] = getattr(module, kind)
    # With one model the names are the tensors' own, so a project of one model needs no prefix.
    if not manifest.more:
        return list(ports)
    return [replace(port, tensor=f"{module.module}.{port.tensor}") for port in ports]


def named(manifest: Manifest, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays by the names of ``inputs``. A tensor's own name is enough if only one of several
    models has it. Raises InputError if several have it."""
    known = {port.tensor for port in inputs(manifest)}
    return {_full(name, known, manifest): array for name, array in arrays.items()}


def by_tensor(manifest: Manifest, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays that ``pack`` takes, all by the names of ``inputs``."""
    full, ports = named(manifest, arrays), inputs(manifest)
    return {
        port.tensor: next(full[name] for name in names if name in full)
        for port, names in zip(ports, accepted(ports), strict=True)
    }


def accepted(ports: Sequence[PortRecord]) -> list[tuple[str, ...]]:
    """The names that each input's array may have: the tensor's name, and ``input<k>`` unless a
    tensor has that name."""
    own = {port.tensor for port in ports}
    return [
        (port.tensor,) if f"input{k}" in own else (port.tensor, f"input{k}")
        for k, port in enumerate(ports)
    ]


def zeros(manifest: Manifest) -> dict[str, Array]:
    """One sample of zeros, which the firmware runs without samples; a fixed input has its value."""
    return {
        # Only its own value makes sense for a fixed input, because the model's shapes determine it.
        port.tensor: port_array(port, port.fixed or [0] * math.prod(port.shape))
        for port in inputs(manifest)
    }


def port_array(port: PortRecord, values: Sequence[int]) -> Array:
    """The values as an array of a port's type and shape."""
    return np.array(values, DType(port.dtype).numpy).reshape(port.shape)


def _full(name: str, known: Container[str], manifest: Manifest) -> str:
    if name in known:
        return name
    owners = [
        f"{m.module}.{name}" for m in manifest.modules if name in {p.tensor for p in m.inputs}
    ]
    # The name could mean either tensor, and a guess would feed the wrong model.
    if len(owners) > 1:
        raise InputError(
            f"{len(owners)} models have an input {name!r}", hint=f"name it {' or '.join(owners)}"
        )
    return owners[0] if owners else name


def of_module(
    manifest: Manifest, module: ModuleRecord, kind: str, arrays: Mapping[str, Array]
) -> dict[str, Array]:
    """The arrays of one module, by its tensors' names. ``kind`` is "inputs" or "outputs".
    An array may be missing."""
    ports: Sequence[PortRecord] = getattr(module, kind)
    pairs = zip(ports, _named_ports(manifest, module, kind), strict=True)
    return {port.tensor: arrays[full.tensor] for port, full in pairs if full.tensor in arrays}


def batch(manifest: Manifest, arrays: Mapping[str, Array]) -> Batch:
    """Check one array per input of every model and pack them, each sample model by model. Raises
    InputError as ``named`` and ``pack`` do."""
    return pack(inputs(manifest), named(manifest, arrays))


def pack(ports: Sequence[PortRecord], arrays: Mapping[str, Array]) -> Batch:
    """Check one array per input and pack them.

    An array has the name of the model's tensor, or one of ``accepted``. It has the tensor's
    dtype, and its shape or one more leading axis of N samples. Raises InputError otherwise.
    """
    names = accepted(ports)
    pairs = [(port, _array(port, own, arrays)) for port, own in zip(ports, names, strict=True)]
    _check_no_others(ports, arrays, {name for own in names for name in own})
    for port, array in pairs:
        _check_type(port, array)
    counts = [_count(port, array) for port, array in pairs]
    for port, array in pairs:
        _check_fixed(port, array)
    # The firmware reads one sample of every input at a time.
    if len(set(counts)) > 1:
        each = ", ".join(
            f"{p.tensor!r} has {'one sample' if n is None else f'{n} samples'}"
            for p, n in zip(ports, counts, strict=True)
        )
        raise InputError(f"inputs have different numbers of samples: {each}")
    count = counts[0] if counts else None
    rows = [_rows(port, array) for port, array in pairs]
    # The firmware reads its file from start to end: for each sample, every input in order.
    data = np.concatenate(rows, axis=1).tobytes() if rows else b""
    return Batch(1 if count is None else count, count is not None, data)


def _array(port: PortRecord, names: Sequence[str], arrays: Mapping[str, Array]) -> Array:
    present = [name for name in names if name in arrays]
    # Two names of one input are accepted, so both may be there, with different arrays.
    if len(present) != 1:
        what = f"there are two arrays ({' and '.join(present)})" if present else "there is no array"
        raise InputError(
            f"{what} for the input {port.tensor!r}, {port.dtype}[{','.join(map(str, port.shape))}]",
            hint=f"found: {', '.join(map(repr, arrays)) or 'no arrays'}; name it "
            f"{' or '.join(map(repr, names))}",
        )
    return np.asarray(arrays[present[0]])


def _check_no_others(
    ports: Sequence[PortRecord], arrays: Mapping[str, Array], known: Container[str]
) -> None:
    others = [name for name in arrays if name not in known]
    if others:
        raise InputError(
            f"the model has no input {others[0]!r}",
            hint=f"its inputs: {', '.join(repr(port.tensor) for port in ports)}",
        )


def _check_type(port: PortRecord, array: Array) -> None:
    # Big-endian arrays are converted when they are packed.
    if array.dtype.newbyteorder("=") == np.dtype(port.dtype):
        return
    hint = f"convert it with .astype(numpy.{port.dtype})"
    if array.dtype.kind == "f" and port.scale:
        hint = f"quantize it: round(x / {port.scale:g}) + ({port.zero_point}), as {port.dtype}"
    raise InputError(
        f"the input {port.tensor!r} has dtype {array.dtype}, expected {port.dtype}", hint=hint
    )


def _check_fixed(port: PortRecord, array: Array) -> None:
    if not port.fixed or np.all(array == np.array(port.fixed).reshape(port.shape)):
        return
    raise InputError(
        f"the input {port.tensor!r} has values that the model's shapes do not allow",
        hint=f"give it {list(port.fixed)}",
    )


def _count(port: PortRecord, array: Array) -> int | None:
    """The number of samples; None for an array without a leading axis."""
    if array.shape == port.shape:
        return None
    if array.shape[1:] != port.shape or array.ndim == 0:
        several = ", ".join(map(str, ("N", *port.shape)))
        raise InputError(
            f"the input {port.tensor!r} has shape {list(array.shape)}, expected "
            f"{list(port.shape)}, or [{several}] for N samples"
        )
    if array.shape[0] == 0:
        raise InputError(f"the input {port.tensor!r} has no samples (N is 0)")
    return int(array.shape[0])


def _rows(port: PortRecord, array: Array) -> Array:
    """uint8 [N, bytes of one sample], little-endian."""
    dtype = DType(port.dtype).numpy
    flat = np.ascontiguousarray(array, dtype=dtype).reshape(-1, math.prod(port.shape))
    return flat.view(np.uint8)


def unpack(ports: Sequence[PortRecord], data: bytes, *, stacked: bool) -> dict[str, Array]:
    """The outputs from the bytes that the firmware wrote, by the model's tensor name.

    ``data`` is N samples of every output. With ``stacked`` the leading axis of N is kept.
    """
    rows = np.frombuffer(data, np.uint8).reshape(-1, sum(port.nbytes for port in ports))
    outputs, at = {}, 0
    for port in ports:
        own = np.ascontiguousarray(rows[:, at : at + port.nbytes])
        at += port.nbytes
        array = own.view(DType(port.dtype).numpy).reshape(-1, *port.shape)
        outputs[port.tensor] = array if stacked else array[0]
    return outputs


def readable(console: str, manifest: Manifest) -> str:
    """The console's text with the elements of outputs as numbers. ``main.c`` prints one output per
    line, in order; lines in another form are unchanged."""
    ports = [port for port in outputs(manifest) if port.dtype in _WORDS]
    if len(_LINE.findall(console)) != len(ports):
        return console
    left = iter(ports)
    return _LINE.sub(lambda line: f"{line[1]}{_numbers(line[2], next(left))}", console)


def _numbers(words: str, port: PortRecord) -> str:
    """The elements of an output, each after a space. Floats are the shortest that read the same."""
    data = np.array([int(word, 16) for word in words.split()], "<u4").tobytes()
    if len(data) != port.nbytes:
        return words
    elements = np.frombuffer(data, np.dtype(port.dtype).newbyteorder("<"))
    return "".join(f" {element!s}" for element in elements)
