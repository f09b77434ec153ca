"""Samples: conversion of arrays to the firmware's raw bytes and back."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from microgen.base.errors import InputError, short
from microgen.base.files import whole
from microgen.base.manifest import Manifest, PortRecord
from microgen.graph.ir.graph import Array, DType
from microgen.running.runner import port_names, sample_axes
from microgen.running.runner.sample_axes import Form

# A firmware has no code to print floats, so main prints these dtypes as words.
_WORDS = ("float32", "uint32", "int64", "uint64")
_LONGEST_NAME = 2**16 - 1 - len(".npy")
_LINE = re.compile(r"^(microgen: output [^\n]* =)((?: 0x[0-9a-f]{8})+)$", re.MULTILINE)


Convert: TypeAlias = Callable[[PortRecord, str, Array], Array]


@dataclass(frozen=True, slots=True)
class Given:
    """``count`` samples that fit the ``ports``. ``arrays`` are by the ports' names: [count, *shape]
    in the port's dtype, little-endian. ``form`` is the form in which they were given."""

    ports: tuple[PortRecord, ...]
    arrays: Mapping[str, Array]
    count: int
    form: Form

    @property
    def data(self) -> bytes:
        """The samples one after the other: the raw bytes of every input in order."""
        # The firmware reads its file from start to end: for each sample, every input in order.
        rows = [self.arrays[p.tensor].reshape(self.count, -1).view(np.uint8) for p in self.ports]
        return np.concatenate(rows, axis=1).tobytes() if rows else b""


def save(path: Path, outputs: Mapping[str, Array]) -> None:
    """Write arrays as an ``.npz`` file, in their order, completely or not at all. Raises InputError
    if that fails."""
    for name in outputs:
        # A zip archive ends names at a zero character, and counts their bytes with 16 bits.
        if "\0" in name or len(name.encode()) > _LONGEST_NAME:
            raise InputError(
                f"cannot name an array {short(name)!r}",
                where=str(path),
                hint="give the output another name in the model, or use the result in Python",
            )
    try:
        # numpy.savez takes names as keywords, which may clash with its own parameters.
        with whole(path) as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in outputs.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from error


def zeros(manifest: Manifest) -> dict[str, Array]:
    """One sample of zeros, which the firmware runs without samples; a fixed input has its value."""
    return {
        # Only its own value makes sense for a fixed input, because the model's shapes determine it.
        port.tensor: port_array(port, port.fixed or [0] * math.prod(port.shape))
        for port in port_names.inputs(manifest)
    }


def port_array(port: PortRecord, values: Sequence[int]) -> Array:
    """The values as an array of a port's type and shape."""
    return np.array(values, DType(port.dtype).numpy).reshape(port.shape)


def given(manifest: Manifest, arrays: Mapping[str, Array], convert: Convert | None = None) -> Given:
    """The samples of every model's inputs. An array may have any of ``port_names.ranked``, the
    port's dtype, and one of the forms of ``sample_axes``. ``convert`` gives the array of a port
    under a numerics profile, before it is checked. Raises InputError for other arrays."""
    ports = port_names.inputs(manifest)
    found = port_names.resolved(ports, port_names.ranked(manifest), arrays)
    if convert is not None:
        profiles = [m.options["numerics"] for m in manifest.modules for _ in m.inputs]
        trios = zip(ports, profiles, found, strict=True)
        found = [convert(port, numerics, np.asarray(array)) for port, numerics, array in trios]
    return _given(ports, found, can_quantize=convert is None)


def pack(ports: Sequence[PortRecord], arrays: Mapping[str, Array]) -> Given:
    """``given`` for the inputs of one model."""
    found = port_names.resolved(ports, port_names.of_ports(ports), arrays)
    return _given(ports, found, can_quantize=True)


def _given(ports: Sequence[PortRecord], found: Sequence[Array], *, can_quantize: bool) -> Given:
    """``can_quantize``: the user may still ask for quantization."""
    arrays = [np.asarray(array) for array in found]
    for port, array in zip(ports, arrays, strict=True):
        _check_type(port, array, can_quantize=can_quantize)
    forms = [sample_axes.form(port, array) for port, array in zip(ports, arrays, strict=True)]
    for port, array in zip(ports, arrays, strict=True):
        _check_fixed(port, array)
    form, count = sample_axes.common(ports, forms)
    stacked = {
        port.tensor: np.ascontiguousarray(array, DType(port.dtype).numpy).reshape(
            count, *port.shape
        )
        for port, array in zip(ports, arrays, strict=True)
    }
    return Given(tuple(ports), stacked, count, form)


def is_quantized(port: PortRecord) -> bool:
    """Whether a port has integers that stand for real numbers by a scale and a zero point."""
    return bool(port.scale) and DType(port.dtype).numpy.kind in "iu"


def _check_type(port: PortRecord, array: Array, *, can_quantize: bool) -> None:
    # Big-endian arrays are converted when they are packed.
    if array.dtype.newbyteorder("=") == np.dtype(port.dtype):
        return
    hint = _conversion(port, array)
    if array.dtype.kind == "f" and is_quantized(port) and can_quantize:
        zero = f" + ({port.zero_point})" if port.zero_point else ""
        hint = (
            "add --quantize-inputs (in Python: quantize_inputs=True), which quantizes it, or "
            f"quantize it yourself: round(x / {port.scale:g}){zero}, as {port.dtype}"
        )
    raise InputError(
        f"the input {short(port.tensor)!r} has dtype {array.dtype}, expected {port.dtype}",
        hint=hint,
    )


def _conversion(port: PortRecord, array: Array) -> str:
    """How to convert an array of another dtype. ``astype`` wraps integers that do not fit, without
    a word, so it is advised only for those that do."""
    wanted = DType(port.dtype).numpy
    if array.dtype.kind not in "biuf":
        return f"give {port.dtype} numbers"
    if array.dtype.kind not in "iu" or wanted.kind not in "iu" or not array.size:
        return f"convert it with .astype(numpy.{port.dtype})"
    least, most, range_ = int(array.min()), int(array.max()), np.iinfo(wanted)
    if range_.min <= least and most <= range_.max:
        return f"convert it with .astype(numpy.{port.dtype})"
    found = f"it has numbers from {least} to {most}, and {port.dtype} those from "
    found += f"{range_.min} to {range_.max}"
    if not is_quantized(port):
        return found
    return f"{found}; give real numbers, such as pixels, as float32 with --quantize-inputs"


def _check_fixed(port: PortRecord, array: Array) -> None:
    if not port.fixed or np.all(array == np.array(port.fixed).reshape(port.shape)):
        return
    raise InputError(
        f"the input {short(port.tensor)!r} has values that the model's shapes do not allow",
        hint=f"give it {list(port.fixed)}",
    )


def unpack(ports: Sequence[PortRecord], data: bytes, form: Form = Form.ADDED) -> dict[str, Array]:
    """The outputs from the bytes that the firmware wrote, by the ports' names, in a form. ``data``
    is N samples of every output."""
    rows = np.frombuffer(data, np.uint8).reshape(-1, sum(port.nbytes for port in ports))
    outputs, at = {}, 0
    for port in ports:
        own = np.ascontiguousarray(rows[:, at : at + port.nbytes])
        at += port.nbytes
        array = own.view(DType(port.dtype).numpy).reshape(-1, *port.shape)
        outputs[port.tensor] = sample_axes.shaped(port, array, form)
    return outputs


def readable(console: str, manifest: Manifest) -> str:
    """The console's text with the elements of outputs as numbers. ``main.c`` prints one output per
    line, in order; lines in another form are unchanged."""
    ports = [port for port in port_names.outputs(manifest) if port.dtype in _WORDS]
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
